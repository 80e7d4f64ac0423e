"""Caffe's Python module over the engine swcaffe.

    import caffe
    net = caffe.Net('deploy.prototxt', 'weights.caffemodel', caffe.TEST)
    net.blobs['data'].data[...] = image
    probabilities = net.forward()['prob']

    solver = caffe.get_solver('solver.prototxt')
    solver.solve()

Names, arguments and defaults are Caffe's. The module needs numpy; caffe.proto.caffe_pb2, and what reads or writes its messages
(NetSpec, io, draw), needs protobuf as well. import swcaffe gives the same module.
"""

import importlib as _importlib

from ._caffe import (NCCL, Blob, Layer, Timer, __version__, get_solver, has_nccl, init_log, layer_type_list, log, set_device, set_mode_cpu,
                     set_mode_gpu, set_multiprocess, set_precision, set_random_seed, set_solver_count, set_solver_rank, solver_count, solver_rank)
from .pycaffe import TEST, TRAIN, AdaDeltaSolver, AdaGradSolver, AdamSolver, NesterovSolver, Net, RMSPropSolver, SGDSolver

# Modules, and names in modules, that are loaded at their first use.
_modules = ('classifier', 'coord_map', 'detector', 'dnn', 'draw', 'io', 'net_spec', 'proto')
_names = {'Classifier': 'classifier', 'Detector': 'detector', 'layers': 'net_spec', 'params': 'net_spec', 'NetSpec': 'net_spec', 'to_proto': 'net_spec'}


def __getattr__(name):
    if name in _modules:
        return _importlib.import_module('.' + name, __name__)
    if name in _names:
        value = getattr(_importlib.import_module('.' + _names[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


def __dir__():
    return sorted({*globals(), *_modules, *_names})
