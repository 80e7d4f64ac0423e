from caffe import *
from caffe import __version__ as __version__
