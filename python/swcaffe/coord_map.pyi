from caffe.coord_map import *
