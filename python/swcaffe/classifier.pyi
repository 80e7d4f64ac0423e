from caffe.classifier import *
