"""caffe_pb2: the classes that are built from the engine's description of its messages."""

import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import caffe

try:
    from caffe.proto import caffe_pb2
    from google.protobuf import text_format
except ImportError:
    caffe_pb2 = None


@unittest.skipUnless(caffe_pb2, 'needs python3-protobuf')
class TestMessages(unittest.TestCase):
    def test_names(self):
        for name in ('NetParameter', 'SolverParameter', 'SolverState', 'LayerParameter', 'BlobProto', 'BlobProtoVector', 'BlobShape',
                     'Datum', 'NetState', 'NetStateRule', 'ParamSpec', 'FillerParameter', 'V1LayerParameter', 'V0LayerParameter',
                     'PythonParameter', 'WindowDataParameter', 'Phase'):
            self.assertTrue(hasattr(caffe_pb2, name), name)
        self.assertEqual((caffe_pb2.TRAIN, caffe_pb2.TEST), (caffe.TRAIN, caffe.TEST))
        self.assertEqual(caffe_pb2.NetParameter.DESCRIPTOR.full_name, 'caffe.NetParameter')
        self.assertEqual(caffe_pb2.SolverParameter.GPU, 1)
        self.assertEqual(caffe_pb2.V1LayerParameter.LayerType.Value('CONVOLUTION'), 4)

    def test_defaults(self):
        self.assertEqual(caffe_pb2.ConvolutionParameter().axis, 1)
        self.assertEqual(caffe_pb2.LRNParameter().beta, 0.75)
        self.assertEqual(caffe_pb2.SolverParameter().type, 'SGD')

    def test_text_and_bytes(self):
        net = text_format.Parse('name: "n" layer { name: "a" type: "Input" input_param { shape { dim: 1 dim: 2 } } }',
                                caffe_pb2.NetParameter())
        self.assertEqual(caffe_pb2.NetParameter.FromString(net.SerializeToString()), net)
        self.assertEqual(pickle.loads(pickle.dumps(net)), net)
        with self.assertRaises(text_format.ParseError):
            text_format.Parse('nam: "n"', caffe_pb2.NetParameter())

    def test_import_star(self):
        """The names are there for import *, which comes before any other use."""
        code = 'from caffe.proto.caffe_pb2 import *\nprint(NetParameter().name == "", TRAIN, Phase.Name(TEST))'
        run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, 'True 0 TEST\n'), run.stderr)

    def test_attribute_of_caffe(self):
        self.assertIs(caffe.proto.caffe_pb2, caffe_pb2)
        with self.assertRaises(AttributeError):
            caffe.proto.caffe_pb3


# A program with a caffe_pb2 of its own. Protoc's module registers its messages in the default pool when it is imported. FIRST says who is first.
SECOND = '''
import sys
import numpy as np
import caffe
from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from google.protobuf.internal import builder
from caffe import _pictures, layers as L
mine = {'__name__': 'mine'}
def register():
    file = descriptor_pb2.FileDescriptorProto.FromString(_pictures.proto_descriptor())
    file.name = 'caffe.proto'
    one = descriptor_pool.Default().AddSerializedFile(file.SerializeToString()) or descriptor_pool.Default().FindFileByName('caffe.proto')
    builder.BuildMessageAndEnumDescriptors(one, mine)
    builder.BuildTopDescriptorsAndMessages(one, 'mine', mine)
if sys.argv[1] == 'mine':
    register()
from caffe.proto import caffe_pb2 as ours
if sys.argv[1] == 'ours':
    register()
assert mine['NetParameter'] is not ours.NetParameter
n = caffe.NetSpec()
n.data = L.Input(shape=mine['BlobShape'](dim=[1, 2, 8, 8]))
n.conv = L.Convolution(n.data, num_output=2, kernel_size=3, weight_filler=mine['FillerParameter'](type='xavier'),
                       param=[mine['ParamSpec'](lr_mult=3), ours.ParamSpec(lr_mult=4)])
net = n.to_proto()
assert [p.lr_mult for p in net.layer[1].param] == [3, 4], net
assert net.layer[1].convolution_param.weight_filler.type == 'xavier' and list(net.layer[0].input_param.shape[0].dim) == [1, 2, 8, 8]
other = mine['NetParameter'].FromString(net.SerializeToString())
assert text_format.MessageToString(other) == text_format.MessageToString(net) == str(net)
assert text_format.Parse(str(net), ours.NetParameter()) == net
filler = mine['FillerParameter']()
caffe.net_spec.assign_proto(filler, 'value', 2)
assert filler.value == 2
blob = mine['BlobProto'](data=range(6), shape=mine['BlobShape'](dim=[2, 3]))
assert (caffe.io.blobproto_to_array(blob) == np.arange(6).reshape(2, 3)).all()
datum = mine['Datum'].FromString(caffe.io.array_to_datum(np.ones((1, 2, 3), np.uint8), 4).SerializeToString())
assert caffe.io.datum_to_array(datum).shape == (1, 2, 3) and datum.label == 4
caffe.draw.draw_net_to_file(other, sys.argv[2])
print('right')
'''


@unittest.skipUnless(caffe_pb2, 'needs python3-protobuf')
class TestSecond(unittest.TestCase):
    def test_second_caffe_pb2(self):
        """A program's own caffe_pb2 works beside the module's, imported before or after it, with protobuf in C++ or C and in Python."""
        for implementation in None, 'python':
            for first in 'mine', 'ours':
                env = dict(os.environ, **({'PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION': implementation} if implementation else {}))
                with tempfile.TemporaryDirectory() as folder:
                    run = subprocess.run([sys.executable, '-c', SECOND, first, os.path.join(folder, 'net.svg')], capture_output=True, text=True, env=env)
                self.assertEqual((run.returncode, run.stdout), (0, 'right\n'), '%s, %s first:\n%s' % (implementation, first, run.stderr))


WITHOUT = '''
import sys
for name in ('google', 'scipy', 'skimage', 'pydot', 'pydotplus', 'matplotlib', 'PIL', 'pandas', 'h5py'):
    sys.modules[name] = None  # import raises ImportError
import numpy as np
import caffe
image = caffe.io.resize_image(np.arange(12.0).reshape(2, 2, 3), (4, 4))
assert image.shape == (4, 4, 3)
top = caffe.layers.Input(shape=dict(dim=1))
for use in (top.to_proto, lambda: caffe.params.Pooling.MAX, lambda: caffe.io.array_to_datum(image),
            lambda: __import__('caffe.proto.caffe_pb2')):
    try:
        use()
    except ImportError as e:
        assert 'python3-protobuf' in str(e), e
    else:
        raise SystemExit('no error')
import caffe.draw, caffe.coord_map
'''


class TestWithoutProtobuf(unittest.TestCase):
    def test_import(self):
        subprocess.run([sys.executable, '-c', WITHOUT], check=True)


if __name__ == '__main__':
    unittest.main()
