"""What the tests share: small nets, and files in a folder of their own."""

import os
import shutil
import tempfile
import unittest

os.environ.setdefault('GLOG_minloglevel', '2')

import numpy as np

import caffe

# Seconds for a program that a test starts. Emulators need more.
TIMEOUT = float(os.environ.get('SWCAFFE_PY_TIMEOUT', 60))

SMALL = '''name: "small" force_backward: true
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { num: 5 channels: 2 height: 3 width: 4 num: 5 channels: 1 height: 1 width: 1
    data_filler { type: "gaussian" std: 1 } data_filler { type: "constant" } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 11 kernel_size: 2 pad: 3 weight_filler { type: "gaussian" std: 0.1 } bias_filler { type: "constant" value: 2 } }
  param { decay_mult: 1 } param { decay_mult: 0 } }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 7 weight_filler { type: "gaussian" std: 0.05 } bias_filler { type: "constant" value: -3 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''

INPUT = '''name: "deploy" force_backward: true
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 6 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }
'''

IMAGE = '''name: "image" force_backward: true
input: "data" input_shape { dim: 1 dim: 3 dim: 12 dim: 16 }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "score" type: "Convolution" bottom: "pool1" top: "score" convolution_param { num_output: 5 kernel_size: 1 weight_filler { type: "xavier" } } }
'''


class Case(unittest.TestCase):
    """A test with a folder for its files."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='swcaffe-py-')
        self.addCleanup(shutil.rmtree, self.dir, True)

    def write(self, text, name='net.prototxt'):
        """Write a file to the test's folder and return its path."""
        path = os.path.join(self.dir, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def net(self, text=SMALL, phase=caffe.TRAIN, **kwargs):
        return caffe.Net(self.write(text), phase, **kwargs)

    def solver(self, net=SMALL, name='solver.prototxt', **fields):
        """Write a solver's file and return its path. A field that is None is left out."""
        self.write(net)
        given = dict(net=self.dir + '/net.prototxt', test_iter=10, test_interval=10, base_lr=0.01, momentum=0.9, weight_decay=0.0005, lr_policy='inv',
                     gamma=0.0001, power=0.75, display=100, max_iter=100, snapshot_after_train=False, snapshot_prefix=self.dir + '/model', random_seed=3)
        given.update(fields)
        text = {str: lambda v: '"%s"' % v, bool: lambda v: str(v).lower()}
        return self.write('\n'.join('%s: %s' % (k, text.get(type(v), repr)(v)) for k, v in given.items() if v is not None) + '\n', name)
