"""Caffe's messages and enums: NetParameter, SolverParameter, BlobProto, Datum, TRAIN, TEST and all others of caffe.proto.

The engine holds the description of its messages. The classes are built from it on import, so that they work with every version
of Python's protobuf and always agree with the engine. They have a descriptor pool of their own: a program may import another
caffe_pb2 beside this one, which protoc has made of some caffe.proto and which registers its messages in protobuf's default pool.
"""

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


def _class(descriptor):
    """Return the class of a message, with the classes of the messages inside it."""
    content = {'DESCRIPTOR': descriptor, '__module__': __name__}
    content.update((name, _class(inner)) for name, inner in descriptor.nested_types_by_name.items())
    return _reflection.GeneratedProtocolMessageType(descriptor.name, (_message.Message,), content)


_own_pool = _pool.DescriptorPool()
_own_pool.AddSerializedFile(_descriptor())
DESCRIPTOR = _own_pool.FindFileContainingSymbol('caffe.NetParameter')
_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
for _name, _enum in DESCRIPTOR.enum_types_by_name.items():
    globals()['_' + _name.upper()] = _enum
    globals()[_name] = _enums.EnumTypeWrapper(_enum)
    globals().update((value.name, value.number) for value in _enum.values)
for _name, _type in DESCRIPTOR.message_types_by_name.items():
    globals()[_name] = _class(_type)
