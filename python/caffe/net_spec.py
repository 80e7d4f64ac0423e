"""Nets written in Python.

A Top is one blob that a layer makes, a Function the layer. layers (by custom imported as L) makes them:

    n = NetSpec()
    n.data = layers.Input(shape=dict(dim=[1, 3, 32, 32]))
    n.conv = layers.Convolution(n.data, num_output=16, kernel_size=3)
    n.relu = layers.ReLU(n.conv, in_place=True)
    n.pool = layers.Pooling(n.relu, kernel_size=2, stride=2, pool=params.Pooling.MAX)
    print(n.to_proto())

A NetSpec gives blobs and layers the names of its attributes. Tops that are in no NetSpec are numbered by type: Convolution1.
Arguments of layers are the fields of the layer's own parameter message or of LayerParameter.
"""

from collections import Counter, OrderedDict

import numpy as np

from . import proto as _proto


def __getattr__(name):
    if name == 'caffe_pb2':  # Caffe's module has this name of its import, and scripts use it
        return _proto.caffe_pb2
    raise AttributeError('module %r has no attribute %r' % (__name__, name))

_name_of_parameter = {}  # param_name_dict(), once it is known

# The types of layers whose message has the name of another type: type LSTM reads recurrent_param alone, SWCaffe's type Lstm reads lstm_param.
_type_of_message = {'LSTM': 'Lstm'}


def param_name_dict():
    """Return the parameter field of each layer type without its ending: {'Convolution': 'convolution', 'InnerProduct':
    'inner_product', ...}. Types without a message of their own are absent, such as LSTM and RNN, which share recurrent_param."""
    if not _name_of_parameter:
        for field in _proto.caffe_pb2.LayerParameter.DESCRIPTOR.fields:
            if field.name.endswith('_param'):
                kind = field.message_type.name[:-len('Parameter')]
                _name_of_parameter[_type_of_message.get(kind, kind)] = field.name[:-len('_param')]
    return dict(_name_of_parameter)


def to_proto(*tops):
    """Return a NetParameter with the layers that compute all tops. Blobs are numbered by their layers' types."""
    return _write(tops, {})


def assign_proto(proto, name, val):
    """Set the field of a message from a Python value.

    A dict or a message sets the fields of a message, a list the items of a repeated field. A single value becomes the one item of a
    repeated field, so kernel_size=3 means kernel_size=[3]. Tuples and numpy arrays count as lists. A message may be of another module
    caffe_pb2. The value of an enum may be a name.

    TypeError, ValueError, AttributeError: a value that the field does not take; the text has field and value.
    """
    _assign(proto, '', name, val)


def _assign(proto, place, name, val):
    """Set a field; place is what errors say before its name."""
    place += name
    field = proto.DESCRIPTOR.fields_by_name.get(name)
    try:
        if field is None:
            raise AttributeError('no field of %s has this name' % proto.DESCRIPTOR.name)
        target = getattr(proto, name)
        if hasattr(target, 'extend'):
            for item in _items(val):
                if field.message_type is None:
                    target.extend([_scalar(field, item)])
                else:
                    _fill(target.add(), place, item)
        elif field.message_type is not None:
            _fill(target, place, val)
            target.SetInParent()
        else:
            setattr(proto, name, _scalar(field, val))
    except (TypeError, ValueError, AttributeError) as error:
        if getattr(error, 'placed', False):
            raise
        raise _placed(type(error), '%s = %r: %s' % (place, val, error)) from None


def _placed(kind, text):
    """Return an exception whose text has the place."""
    error = kind(text)
    error.placed = True
    return error


def _items(val):
    if isinstance(val, np.ndarray):
        return val.ravel().tolist()
    return val if isinstance(val, (list, tuple)) else [val]


def _fill(message, place, val):
    """Set the fields of a message from a dict or from a message of the same name."""
    if isinstance(val, dict):
        for name, item in val.items():
            _assign(message, place + '.', name, item)
    elif hasattr(val, 'SerializePartialToString') and val.DESCRIPTOR.full_name == message.DESCRIPTOR.full_name:
        message.MergeFromString(val.SerializePartialToString())
    else:
        raise TypeError('it takes a dict or a %s' % message.DESCRIPTOR.name)


def _scalar(field, val):
    """Return a value as protobuf takes it for a field that is no message."""
    if isinstance(val, np.generic) or isinstance(val, np.ndarray) and val.ndim == 0:
        val = val.item()
    if field.enum_type is not None and isinstance(val, str):
        if val not in field.enum_type.values_by_name:
            raise ValueError('its values are ' + ', '.join(field.enum_type.values_by_name))
        return field.enum_type.values_by_name[val].number
    if field.cpp_type in _WHOLE and isinstance(val, float):
        raise TypeError('it takes an integer' + (', such as %d; // divides integers' % val if val.is_integer() else ''))
    return val


# The numbers of protobuf's types of integers (FieldDescriptor.CPPTYPE_INT32, INT64, UINT32 and UINT64).
_WHOLE = 1, 2, 3, 4


class Top(object):
    """One blob that a layer makes: blob n of Function fn."""

    def __init__(self, fn, n):
        self.fn = fn
        self.n = n

    def to_proto(self):
        """Return a NetParameter with the layers that compute this blob."""
        return to_proto(self)

    def _update(self, params):
        self.fn._update(params)


class Function(object):
    """A layer: its type, the Tops that it reads, its parameters, and the Tops that it makes.

    Two parameters are not fields of messages: ntop is the number of tops (1), in_place gives the tops the names of the bottoms.
    """

    def __init__(self, type_name, inputs, params):
        self.type_name = type_name
        for i, bottom in enumerate(inputs):
            if not isinstance(bottom, Top):
                raise TypeError('%s input %d is not a Top (type is %s)' % (type_name, i, type(bottom)))
        self.inputs = inputs
        self.params = params
        self.ntop = self.params.pop('ntop', 1)
        if not hasattr(self.ntop, '__index__'):
            raise TypeError('%s: ntop must be an integer, it is %r' % (type_name, self.ntop))
        self.in_place = self.params.pop('in_place', False)
        self.tops = tuple(Top(self, n) for n in range(self.ntop))

    def _update(self, params):
        self.params.update(params)

    def _set(self, layer):
        """Set the fields of a LayerParameter: a name that ends in param belongs to it, any other first to the type's message."""
        own = param_name_dict().get(self.type_name)
        own = own and own + '_param'
        place = 'layer "%s" (%s): ' % (layer.name, self.type_name)
        for name, val in self.params.items():
            if not name.endswith('param') and own and _has_field(getattr(layer, own), name):
                _assign(getattr(layer, own), place + own + '.', name, val)
            elif _has_field(layer, name):
                _assign(layer, place, name, val)
            else:
                raise AttributeError('layer "%s": %s layers have no parameter %s: no field of %s has this name' % (
                    layer.name, self.type_name, name, 'LayerParameter or ' + own if own else 'LayerParameter'))


def _has_field(message, name):
    return name in message.DESCRIPTOR.fields_by_name


class _NoTop(KeyError, AttributeError):
    """An unknown name in a NetSpec. Caffe raises KeyError; hasattr and copy need AttributeError."""


class NetSpec(object):
    """A net as a set of named Tops, which are its attributes and items. to_proto writes the layers that compute them."""

    def __init__(self):
        super(NetSpec, self).__setattr__('tops', OrderedDict())

    def __setattr__(self, name, value):
        self.tops[name] = value

    def __getattr__(self, name):
        if name == 'tops' or name not in self.tops:  # copy asks for tops before __init__ has run
            raise _NoTop(name)
        return self.tops[name]

    def __delattr__(self, name):
        if name not in self.tops:
            raise _NoTop(name)
        del self.tops[name]

    __setitem__ = __setattr__
    __getitem__ = __getattr__
    __delitem__ = __delattr__

    def __contains__(self, name):
        return name in self.tops

    def keys(self):
        """Return the names in the order of their first assignment."""
        return list(self.tops.keys())

    def vals(self):
        """Return the Tops, and Functions without Tops, in that order."""
        return list(self.tops.values())

    def update(self, name, params):
        """Change or add parameters of the layer that makes the named Top."""
        self.tops[name]._update(params)

    def to_proto(self):
        """Return a NetParameter with the layers that compute all Tops, under the names of this NetSpec."""
        for name, top in self.tops.items():
            if not isinstance(top, (Top, Function)):
                several = isinstance(top, tuple) and all(isinstance(t, Top) for t in top)
                hint = '; a layer with ntop=%d gives as many: n.a, n.b = ...' % len(top) if several else ''
                raise TypeError('NetSpec: %r is no Top, it is %r%s' % (name, top, hint))
            if not isinstance(name, str):
                raise TypeError('NetSpec: the name %r of a Top is no string' % (name,))
        return _write(self.tops.values(), {top: name for name, top in self.tops.items()})


def _write(tops, names):
    """Return a NetParameter. names are the known names of Tops, and of Functions without Tops; others are numbered by type."""
    written = OrderedDict()  # a LayerParameter for each Function, after those that it reads
    counts = Counter()

    def name_of(named, type_name):
        if named not in names:
            counts[type_name] += 1
            names[named] = type_name + str(counts[type_name])
        return names[named]

    def write(fn):
        layer = written[fn] = _proto.caffe_pb2.LayerParameter()
        layer.type = fn.type_name
        layer.bottom.extend(written[bottom.fn].top[bottom.n] for bottom in fn.inputs)
        if fn.in_place:
            layer.top.extend(layer.bottom)
        else:
            layer.top.extend(name_of(top, fn.type_name) for top in fn.tops)
        layer.name = name_of(fn.tops[0] if fn.tops else fn, fn.type_name)
        fn._set(layer)

    for top in tops:
        pending = [getattr(top, 'fn', top)]
        while pending:
            missing = [b.fn for b in pending[-1].inputs if b.fn not in written]
            if missing:
                pending.append(missing[0])
            else:
                fn = pending.pop()
                if fn not in written:
                    write(fn)
    net = _proto.caffe_pb2.NetParameter()
    net.layer.extend(written.values())
    return net


class Layers(object):
    """Makes layers: Layers().Convolution(bottom, kernel_size=3) returns the Top of a convolution, a tuple of Tops if ntop is
    above 1, the Function itself if ntop is 0."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)

        def make(*bottoms, **parameters):
            fn = Function(name, bottoms, parameters)
            if fn.ntop == 0:
                return fn
            return fn.tops[0] if fn.ntop == 1 else fn.tops
        return make


class Parameters(object):
    """Names the constants of layers' parameters: Parameters().Pooling.MAX."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return getattr(_proto.caffe_pb2, name + 'Parameter')


layers = Layers()
params = Parameters()
