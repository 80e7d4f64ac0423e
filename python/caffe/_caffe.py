"""The functions of the module caffe, beside nets, solvers and layers: modes, seeds, the log, and those of Caffe that need a GPU."""

import time as _time
import warnings as _warnings

from ._blob import Blob, BlobVec
from ._layer import Layer
from ._library import call
from .pycaffe import (AdaDeltaSolver, AdaGradSolver, AdamSolver, NesterovSolver, Net, RMSPropSolver, SGDSolver, Solver, SolverParameter,
                      get_solver)

__version__ = '1.0.0'

_NO_GPU = ('%s has no effect: there is no GPU in swcaffe, which computes on CPUs. All cores are used; GOMAXPROCS=N in the environment '
           'limits them')
_warned = set()  # the functions that have warned


def _without_gpu(function, call):
    """Warn once in a process that a call for GPUs has no effect, as -gpu does on a command line."""
    if function not in _warned:
        _warned.add(function)
        _warnings.warn(_NO_GPU % call, RuntimeWarning, stacklevel=3)


def set_mode_cpu():
    """Compute on CPUs, as the engine always does."""


def set_mode_gpu():
    """Warn once that there is no GPU: nets and solvers run on CPUs."""
    _without_gpu('set_mode_gpu', 'set_mode_gpu()')


def set_device(device_id):
    """Warn once that there is no GPU: nets and solvers run on CPUs."""
    _without_gpu('set_device', 'set_device(%r)' % (device_id,))


def set_random_seed(seed):
    """Let the random numbers of nets and solvers that are opened from now on start from a seed, so that results repeat. A solver's
    random_seed has priority."""
    if isinstance(seed, bool) or not hasattr(seed, '__index__'):
        raise TypeError('set_random_seed needs an integer, not %r' % (seed,))
    call('seed', seed.__index__() & 0x7fffffffffffffff)


def set_precision(precision):
    """Let nets and solvers that are opened from now on compute products in a precision, as the flag -precision does: 'fp32'; 'bf16', where factors are rounded
    to bfloat16 if that is faster; 'int8', where layers of quantized nets compute in integers; or None: as nets say, as at first."""
    if precision is not None and not isinstance(precision, str):
        raise TypeError("set_precision needs 'fp32', 'bf16', 'int8' or None, not %r" % (precision,))
    if precision not in (None, 'fp32', 'bf16', 'int8'):
        raise ValueError("set_precision needs 'fp32', 'bf16', 'int8' or None, not %r" % (precision,))
    call('precision', precision or '')


def layer_type_list():
    """Return the names of all layer types, sorted."""
    return call('types')


def init_log(level=0, stderr=None):
    """Set the least severity of the log, 0 INFO to 3 FATAL. stderr says whether the log goes to stderr alone, or to glog's files as well
    (GLOG_log_dir); without it, that stays as the environment says."""
    flags = {'minloglevel': str(int(level))}
    if stderr is not None:
        flags['logtostderr'] = 'true' if stderr else 'false'
    call('init_log', flags)


def log(message):
    """Write a line to the log."""
    if not isinstance(message, str):
        raise TypeError('log needs a string, not %r' % (message,))
    call('log', message)


class Timer:
    """A stopwatch: start(), stop(), then ms."""

    def __init__(self):
        self._begun = None
        self._ms = 0.0

    def start(self):
        """Start, again from 0."""
        self._begun = _time.perf_counter()

    def stop(self):
        """Stop. ms has the time since start."""
        if self._begun is not None:
            self._ms = 1000 * (_time.perf_counter() - self._begun)
            self._begun = None

    @property
    def ms(self):
        """Milliseconds between start and stop, or since start while the watch runs. 0 before."""
        if self._begun is not None:
            return 1000 * (_time.perf_counter() - self._begun)
        return self._ms

    @property
    def us(self):
        """ms in microseconds."""
        return 1000 * self.ms


_NO_NCCL = 'there is no GPU, and so no NCCL, in swcaffe. To train with several workers: python -m caffe train -solver FILE -workers N'


def has_nccl():
    """Return False: there is no GPU."""
    return False


class NCCL:
    """Caffe's exchange between GPUs. Every use raises RuntimeError."""

    def __init__(self, *_, **__):
        raise RuntimeError('caffe.NCCL: ' + _NO_NCCL)

    @staticmethod
    def new_uid():
        """Raise RuntimeError: there is no GPU."""
        raise RuntimeError('caffe.NCCL.new_uid: ' + _NO_NCCL)


def solver_count():
    """Return 1: a process has one solver that trains."""
    return 1


def set_solver_count(count):
    """Accept 1. RuntimeError: another number."""
    if count != 1:
        raise RuntimeError('set_solver_count(%r): %s' % (count, _NO_NCCL))


def solver_rank():
    """Return 0."""
    return 0


def set_solver_rank(rank):
    """Accept 0. RuntimeError: another number."""
    if rank != 0:
        raise RuntimeError('set_solver_rank(%r): %s' % (rank, _NO_NCCL))


def set_multiprocess(multiprocess):
    """Accept False. RuntimeError: True."""
    if multiprocess:
        raise RuntimeError('set_multiprocess(%r): %s' % (multiprocess, _NO_NCCL))
