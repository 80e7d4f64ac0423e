from caffe.detector import *
