"""Caffe's messages and enums: NetParameter, SolverParameter, BlobProto, Datum, TRAIN, TEST and all others of caffe.proto.

The engine holds the description of its messages. The classes are built from it on import, so that they work with every version
of Python's protobuf and always agree with the engine.
"""

try:
    from google.protobuf import descriptor_pool as _pool
    from google.protobuf.internal import builder as _builder
except ImportError as e:
    raise ImportError("Caffe's messages need Python's protobuf, version 3.20 or newer: "
                      'install python3-protobuf (Debian) or protobuf (pip)') from e

from .._pictures import proto_descriptor as _descriptor

DESCRIPTOR = _pool.Default().AddSerializedFile(_descriptor())
_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, __name__, globals())
