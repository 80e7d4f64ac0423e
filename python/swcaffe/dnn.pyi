from caffe.dnn import *
