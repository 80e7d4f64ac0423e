from caffe.pycaffe import *
