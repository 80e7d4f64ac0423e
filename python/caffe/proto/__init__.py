"""Caffe's protocol buffer messages, in the module caffe_pb2.

caffe_pb2 is imported when it is first used, because only it needs Python's protobuf.
"""

import importlib


def __getattr__(name):
    if name == 'caffe_pb2':
        return importlib.import_module('.caffe_pb2', __name__)
    raise AttributeError('module %r has no attribute %r' % (__name__, name))
