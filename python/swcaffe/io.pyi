from caffe.io import *
