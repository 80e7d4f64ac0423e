"""caffe_pb2: the classes that are built from the engine's description of its messages."""

import pickle
import subprocess
import sys
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

    def test_attribute_of_caffe(self):
        self.assertIs(caffe.proto.caffe_pb2, caffe_pb2)
        with self.assertRaises(AttributeError):
            caffe.proto.caffe_pb3


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
