"""Caffe's messages and enums: NetParameter, SolverParameter, BlobProto, Datum, TRAIN, TEST and all others of caffe.proto.

The engine holds the description of its messages. The classes are built from it at the first use of one, so that they work with every version
of Python's protobuf and always agree with the engine. They have a descriptor pool of their own: a program may import another
caffe_pb2 beside this one, which protoc has made of some caffe.proto and which registers its messages in protobuf's default pool.
"""

import threading as _threading

try:
    from google.protobuf import descriptor_pool as _pool
    from google.protobuf import message as _message
    from google.protobuf import reflection as _reflection
    from google.protobuf.internal import builder as _builder
    from google.protobuf.internal import enum_type_wrapper as _enums
except ImportError as e:
    raise ImportError("Caffe's messages need Python's protobuf, version 3.20 or newer: "
                      'install python3-protobuf (Debian) or protobuf (pip)') from e

from .._pictures import proto_descriptor as _descriptor

_lock = _threading.RLock()


def _class(descriptor):
    """Return the class of a message, with the classes of the messages inside it."""
    content = {'DESCRIPTOR': descriptor, '__module__': __name__}
    content.update((name, _class(inner)) for name, inner in descriptor.nested_types_by_name.items())
    return _reflection.GeneratedProtocolMessageType(descriptor.name, (_message.Message,), content)


def _make():
    """Build the classes and enums."""
    names = globals()
    with _lock:
        if 'DESCRIPTOR' in names:
            return
        pool = _pool.DescriptorPool()
        pool.AddSerializedFile(_descriptor())
        file = pool.FindFileContainingSymbol('caffe.NetParameter')
        made = {}
        _builder.BuildMessageAndEnumDescriptors(file, made)
        for name, enum in file.enum_types_by_name.items():
            made['_' + name.upper()] = enum
            made[name] = _enums.EnumTypeWrapper(enum)
            made.update((value.name, value.number) for value in enum.values)
        for name, message in file.message_types_by_name.items():
            made[name] = _class(message)
        made['__all__'] = [name for name in made if not name.startswith('_')]
        names.update(made, DESCRIPTOR=file)


def __getattr__(name):
    if name == '__all__' or not name.startswith('__'):
        _make()
        if name in globals():
            return globals()[name]
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


def __dir__():
    _make()
    return sorted(globals())
