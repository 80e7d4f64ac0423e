"""Layers, and layers written in Python.

The net makes the object of a Python layer when it is opened, and holds it. The engine calls it by a number.
"""

import importlib
import json
import threading
import weakref

from . import _library
from ._blob import Blob, BlobVec


class _Phase(int):
    """A phase that is printed by its name, as some forks of Caffe print it."""

    def __str__(self):
        return ('TRAIN', 'TEST')[self]


class Layer:
    """A layer of a net; also the base of layers written in Python:

        class Double(caffe.Layer):
            def setup(self, bottom, top):                      # once
                self.factor = float(self.param_str or 2)
            def reshape(self, bottom, top):                    # before every forward
                top[0].reshape(*bottom[0].shape)
            def forward(self, bottom, top):
                top[0].data[...] = self.factor * bottom[0].data
            def backward(self, top, propagate_down, bottom):   # overwrites the diffs of bottoms, adds to those of self.blobs
                if propagate_down[0]:
                    bottom[0].diff[...] = self.factor * top[0].diff

    In a prototxt, with the class in doubles.py on Python's path:

        layer { name: "d" type: "Python" bottom: "x" top: "y" python_param { module: "doubles" layer: "Double" param_str: "3" } }

    bottom and top are lists of Blobs, propagate_down is a list of bools. An exception in a layer comes out of Net.forward, or whatever
    ran the net, with a note that names layer, file and line.
    """
    #: the type in the prototxt
    type = 'Python'
    #: the layer's weights; setup adds them: self.blobs.add_blob(10, 3)
    blobs = BlobVec()
    #: python_param's param_str
    param_str = ''
    #: caffe.TRAIN or caffe.TEST; str(phase) is its name
    phase = _Phase(0)
    #: python_param's share_in_parallel
    share_in_parallel = False
    #: the layer's name in the net
    name = ''

    def __init__(self, *args, **kwargs):
        pass

    def setup(self, bottom, top):
        """Read param_str, check the numbers of bottoms and tops, add weights to self.blobs."""

    def reshape(self, bottom, top):
        """Give the tops their shapes: top[0].reshape(*bottom[0].shape)."""
        self._missing('reshape')

    def forward(self, bottom, top):
        """Compute the tops' data."""
        self._missing('forward')

    def backward(self, top, propagate_down, bottom):
        """Compute the diffs of bottoms with propagate_down, and add to the diffs of self.blobs."""
        self._missing('backward')

    def _missing(self, method):
        if type(self) is Layer or isinstance(self, _EngineLayer):
            raise RuntimeError('layer %r of type %s runs in its net: use Net.forward(start=..., end=...)' % (self.name, self.type))
        raise NotImplementedError('class %s has no method %s' % (type(self).__name__, method))

    @property
    def param_str_(self):
        """param_str, by its name in Caffe up to 2015."""
        return self.param_str

    def __repr__(self):
        return '<caffe.Layer %r, type %s, %d blobs>' % (self.name, self.type, len(self.blobs))


class _EngineLayer(Layer):
    """A layer that the engine computes."""

    def __init__(self, name, kind, blobs):
        self.name, self.type, self.blobs = name, kind, blobs

    def setup(self, bottom, top):
        self._missing('setup')


class _Parameter:
    """What a layer's constructor gets: the fields that its prototxt has."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


class _Record:
    """A Python layer as the engine calls it."""

    def __init__(self, layer, bottoms, tops):
        self.layer = weakref.ref(layer)
        self.bottoms, self.tops = bottoms, tops


_records = {}  # by the engine's key
_kept = {}  # layers of nets that are not opened from Python: of python -m caffe train
_opening = threading.local()


class _Opening:
    """Collects the Python layers of the nets that a thread opens: with _Opening() as layers: ... Then layers has them by key."""

    def __enter__(self):
        self.before = getattr(_opening, 'layers', None)
        _opening.layers = {}
        return _opening.layers

    def __exit__(self, *_):
        _opening.layers = self.before


def _find(module, name):
    """Return the class of a Python layer."""
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + '.').startswith(error.name + '.'):
            raise  # the module exists, and imports one that does not
        raise _library.Misuse(ImportError, 'python_param: there is no module %r on Python\'s path (sys.path)' % module) from error
    if not hasattr(found, name):
        raise _library.Misuse(AttributeError, 'python_param: module %r (%s) has no class %r' % (module, getattr(found, '__file__', 'built in'), name))
    cls = getattr(found, name)
    if not (isinstance(cls, type) and issubclass(cls, Layer)):
        raise _library.Misuse(TypeError, 'python_param: %s.%s must be a class derived from caffe.Layer' % (module, name))
    return cls


def _set_up(key, text, flags):
    d = json.loads(text)
    cls = _find(d['module'], d['class'])
    layer = cls.__new__(cls)
    layer.name, layer.param_str, layer.phase, layer.share_in_parallel = d['name'], d['param_str'], _Phase(d['phase']), d['share_in_parallel']
    layer.blobs = BlobVec(layer=key)
    layer.__init__(_Parameter(name=d['name'], type='Python', phase=d['phase'], python_param=_Parameter(
        module=d['module'], layer=d['class'], param_str=d['param_str'], share_in_parallel=d['share_in_parallel'])))
    record = _Record(layer, [Blob._of(h) for h in d['bottoms']], [Blob._of(h) for h in d['tops']])
    _records[key] = record
    layers = getattr(_opening, 'layers', None)
    (_kept if layers is None else layers)[key] = layer
    layer.setup(record.bottoms, record.tops)


def _layer(key):
    record = _records[key]
    layer = record.layer()
    if layer is None:
        raise RuntimeError('the net of this Python layer was closed')
    return layer, record


def _reshape(key, text, flags):
    layer, record = _layer(key)
    layer.reshape(record.bottoms, record.tops)


def _forward(key, text, flags):
    layer, record = _layer(key)
    layer.forward(record.bottoms, record.tops)


def _backward(key, text, flags):
    layer, record = _layer(key)
    layer.backward(record.tops, [bool(f) for f in flags], record.bottoms)


def _close(key, text, flags):
    _records.pop(key, None)
    _kept.pop(key, None)


_library.handlers.update({
    _library.SET_UP: _set_up, _library.RESHAPE: _reshape, _library.FORWARD: _forward, _library.BACKWARD: _backward, _library.CLOSE: _close,
})
