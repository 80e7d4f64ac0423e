"""Pictures of nets."""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import google.protobuf  # noqa: F401
except ImportError:
    raise unittest.SkipTest('needs python3-protobuf')

from google.protobuf import text_format

from caffe import draw
from caffe.proto import caffe_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NET = '''
name: "n"
layer { name: "data" type: "Data" top: "data" top: "label" data_param { batch_size: 8 } include { phase: TRAIN } }
layer { name: "input" type: "Input" top: "data" include { phase: TEST } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" param { lr_mult: 2 } convolution_param { num_output: 6 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 5 } }
'''


def net(text=NET):
    return text_format.Parse(text, caffe_pb2.NetParameter())


def words(svg):
    """Return the text in a picture."""
    return ' '.join(xml.etree.ElementTree.fromstring(svg).itertext())


class TestDraw(unittest.TestCase):
    def test_every_model(self):
        """Every net in models/ has a picture. Two threads draw at a time."""
        def drawn(path):
            with open(path) as f:
                return draw.draw_net(net(f.read()), 'LR')

        paths = [os.path.join(folder, name) for folder, _, files in os.walk(os.path.join(ROOT, 'models')) for name in files
                 if name.endswith('.prototxt') and 'solver' not in name]
        self.assertGreater(len(paths), 30)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, picture in zip(paths, pool.map(drawn, paths)):
                self.assertEqual(picture[:8], b'\x89PNG\r\n\x1a\n', path)

    def test_formats(self):
        self.assertIn('conv', words(draw.draw_net(net(), 'TB', 'svg')))
        self.assertIn(b'digraph', draw.draw_net(net(), 'BT', 'dot'))
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, 'net.svg')
            draw.draw_net_to_file(net(), path)
            with open(path, 'rb') as f:
                self.assertEqual(f.read(), draw.draw_net(net(), 'LR', 'svg'))

    def test_phases(self):
        train, test = (words(draw.draw_net(net(), 'LR', 'svg', phase=p)).split() for p in (caffe_pb2.TRAIN, caffe_pb2.TEST))
        self.assertIn('Data', train)
        self.assertNotIn('Input', train)
        self.assertIn('Input', test)
        self.assertNotIn('Data', test)

    def test_rates(self):
        self.assertNotEqual(draw.draw_net(net(), 'LR', 'svg'), draw.draw_net(net(), 'LR', 'svg', display_lrm=True))

    def test_old_nets_are_upgraded(self):
        old = net('layers { name: "c" type: CONVOLUTION bottom: "x" top: "c" convolution_param { num_output: 3 kernel_size: 5 } } '
                  'input: "x" input_dim: 1 input_dim: 1 input_dim: 9 input_dim: 9')
        self.assertIn('Convolution', words(draw.draw_net(old, 'LR', 'svg')))

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, 'rankdir "XY": must be LR, TB, BT or RL'):
            draw.draw_net(net(), 'XY', 'svg')
        with self.assertRaisesRegex(RuntimeError, 'c'):
            draw.draw_net(net('layer { name: "c" type: "ReLU" include { phase: TEST } exclude { phase: TRAIN } }'), 'LR', 'svg')


class TestLabels(unittest.TestCase):
    def setUp(self):
        self.layers = {layer.name: layer for layer in net().layer}

    def test_layers(self):
        self.assertEqual(draw.get_layer_label(self.layers['conv'], 'TB'), '"conv (Convolution) kernel size: 3 stride: 1 pad: 0"')
        self.assertEqual(draw.get_layer_label(self.layers['pool'], 'LR'),
                         r'"pool\n(Pooling AVE)\nkernel size: 2\nstride: 2\npad: 0"')
        self.assertEqual(draw.get_layer_label(self.layers['ip'], 'BT'), '"ip (InnerProduct)"')
        self.assertIn('lr mult: 2.0, 1.0', draw.get_layer_label(self.layers['conv'], 'TB', display_lrm=True))

    def test_edges(self):
        self.assertEqual([draw.get_edge_label(self.layers[n]) for n in ('data', 'conv', 'ip', 'relu')], ['Batch 8', '6', '5', '""'])

    def test_rates(self):
        self.assertEqual(draw.get_layer_lr_mult(self.layers['ip']), (1.0, 1.0))
        with self.assertRaisesRegex(ValueError, 'ReLU layers do not have'):
            draw.get_layer_lr_mult(self.layers['relu'])

    def test_pooling_types(self):
        self.assertEqual(draw.get_pooling_types_dict()[1], 'AVE')

    def test_colours(self):
        self.assertEqual(draw.choose_color_by_layertype('Pooling'), '#FF9900')
        self.assertEqual(draw.choose_color_by_layertype('ReLU'), '#6495ED')


# A small pydot, so that the graph is tested where the real one is absent.
FAKE_PYDOT = '''
class Node:
    def __init__(self, name, **style):
        self.name, self.style = name, style
class Edge:
    def __init__(self, a, b, label):
        self.ends, self.label = (a.name, b.name), label
class Dot:
    def __init__(self, name, **how):
        self.name, self.how, self.nodes, self.edges = name, how, [], []
        self.add_node, self.add_edge = self.nodes.append, self.edges.append
    def create(self, format):
        return format.encode()
'''


class TestPydot(unittest.TestCase):
    def run_with(self, code):
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, 'pydotplus.py'), 'w') as f:
                f.write(FAKE_PYDOT)
            code = 'import sys; sys.path.insert(0, %r)\n%s' % (d, code)
            subprocess.run([sys.executable, '-c', 'NET = """%s"""\n%s' % (NET, code)], check=True)

    def test_graph(self):
        self.run_with('''
from caffe import draw
from caffe.proto import caffe_pb2
from google.protobuf import text_format
net = text_format.Parse(NET, caffe_pb2.NetParameter())
g = draw.get_pydot_graph(net, 'LR', phase=caffe_pb2.TEST)
assert (g.name, g.how) == ('n', {'graph_type': 'digraph', 'rankdir': 'LR'}), g.how
names = [n.name.split('\\\\n')[0] for n in g.nodes]
assert names == ['"input', '"data"', '"conv', '"conv"', '"relu', '"pool', '"pool"', '"ip', '"ip"'], names
assert [e.label for e in g.edges] == ['""', '""', '6', '""', '""', '""', '""', '""', '5'], [e.label for e in g.edges]
assert [n.style['fillcolor'] for n in g.nodes[:5]] == ['#6495ED', '#E0E0E0', '#FF5050', '#E0E0E0', '#90EE90']
assert draw.draw_net(net, 'LR', 'pdf') == b'pdf'
''')

    def test_absent(self):
        self.run_with('''
sys.modules['pydot'] = sys.modules['pydotplus'] = None
from caffe import draw
from caffe.proto import caffe_pb2
try:
    draw.draw_net(caffe_pb2.NetParameter(), 'LR', 'pdf')
except ImportError as e:
    assert 'python3-pydot' in str(e), e
else:
    raise SystemExit('no error')
''')


if __name__ == '__main__':
    unittest.main()
