from caffe.net_spec import *
