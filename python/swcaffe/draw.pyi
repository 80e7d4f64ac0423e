from caffe.draw import *
