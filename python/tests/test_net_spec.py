"""Nets written in Python: the messages of NetSpec, layers and params, and what they refuse."""

import copy
import tempfile
import unittest

try:
    import google.protobuf  # noqa: F401
except ImportError:
    raise unittest.SkipTest('needs python3-protobuf')

import numpy as np

import caffe
from caffe import layers as L
from caffe import params as P
from caffe.net_spec import assign_proto, param_name_dict
from caffe.proto import caffe_pb2


def small_net():
    n = caffe.NetSpec()
    n.data, n.label = L.DummyData(shape=[dict(dim=[4, 1, 12, 10]), dict(dim=[4])], ntop=2)
    n.conv = L.Convolution(n.data, kernel_size=3, num_output=6, weight_filler=dict(type='xavier'),
                           param=[dict(lr_mult=1), dict(lr_mult=2)])
    n.relu = L.ReLU(n.conv, in_place=True)
    n.pool = L.Pooling(n.relu, pool=P.Pooling.AVE, kernel_size=2, stride=2)
    n.ip = L.InnerProduct(n.pool, num_output=5, weight_filler=dict(type='xavier'))
    n.loss = L.SoftmaxWithLoss(n.ip, n.label, loss_weight=0.5)
    return n


def names(net):
    return [(l.name, l.type, list(l.bottom), list(l.top)) for l in net.layer]


class TestNetSpec(unittest.TestCase):
    def test_names_are_the_attributes(self):
        self.assertEqual(names(small_net().to_proto()), [
            ('data', 'DummyData', [], ['data', 'label']),
            ('conv', 'Convolution', ['data'], ['conv']),
            ('relu', 'ReLU', ['conv'], ['conv']),
            ('pool', 'Pooling', ['conv'], ['pool']),
            ('ip', 'InnerProduct', ['pool'], ['ip']),
            ('loss', 'SoftmaxWithLoss', ['ip', 'label'], ['loss'])])

    def test_fields(self):
        net = small_net().to_proto()
        conv = net.layer[1]
        self.assertEqual(list(conv.convolution_param.kernel_size), [3])
        self.assertEqual(conv.convolution_param.num_output, 6)
        self.assertEqual(conv.convolution_param.weight_filler.type, 'xavier')
        self.assertEqual([p.lr_mult for p in conv.param], [1, 2])
        self.assertEqual(net.layer[3].pooling_param.pool, caffe_pb2.PoolingParameter.AVE)
        self.assertEqual(list(net.layer[5].loss_weight), [0.5])
        self.assertEqual([list(s.dim) for s in net.layer[0].dummy_data_param.shape], [[4, 1, 12, 10], [4]])

    def test_numbered_names(self):
        a, b = L.DummyData(shape=dict(dim=[2, 3]), ntop=2)
        sums = L.Eltwise(L.ReLU(L.Power(a, scale=2), in_place=True), L.Power(b), operation=P.Eltwise.SUM)
        expected = [
            ('DummyData1', 'DummyData', [], ['DummyData1', 'DummyData2']),
            ('Power1', 'Power', ['DummyData1'], ['Power1']),
            ('ReLU1', 'ReLU', ['Power1'], ['Power1']),
            ('Power2', 'Power', ['DummyData2'], ['Power2']),
            ('Eltwise1', 'Eltwise', ['Power1', 'Power2'], ['Eltwise1'])]
        self.assertEqual(names(sums.to_proto()), expected)
        self.assertEqual(names(caffe.to_proto(sums, a)), expected)

    def test_layers_between_named_tops_are_numbered(self):
        n = caffe.NetSpec()
        n.data = L.Input(shape=dict(dim=[1, 2]))
        n.out = L.Sigmoid(L.InnerProduct(n.data, num_output=3))
        self.assertEqual(names(n.to_proto())[1:], [
            ('InnerProduct1', 'InnerProduct', ['data'], ['InnerProduct1']),
            ('out', 'Sigmoid', ['InnerProduct1'], ['out'])])

    def test_engine_runs_the_net(self):
        for net in (small_net().to_proto(), small_net().loss.to_proto()):
            with tempfile.NamedTemporaryFile('w', suffix='.prototxt') as f:
                f.write(str(net))
                f.flush()
                loaded = caffe.Net(f.name, caffe.TEST)
            self.assertEqual(len(loaded.layers), 6)
            (loss,) = loaded.forward().values()
            self.assertAlmostEqual(float(loss), np.log(5), delta=0.5)

    def test_no_tops(self):
        n = caffe.NetSpec()
        n.a, n.b = L.DummyData(shape=dict(dim=3), ntop=2)
        n.quiet = L.Silence(n.a, ntop=0)
        L.Silence(n.b, ntop=0)  # in no net
        self.assertEqual(names(n.to_proto())[1:], [('quiet', 'Silence', ['a'], [])])
        self.assertEqual(names(caffe.to_proto(n.quiet))[1], ('Silence1', 'Silence', ['DummyData1'], []))

    def test_items_and_attributes(self):
        n = small_net()
        self.assertIs(n['conv'], n.conv)
        n['extra'] = L.ReLU(n.ip)
        self.assertEqual(n.keys()[-1], 'extra')
        self.assertIs(n.vals()[-1], n.extra)
        del n.extra
        self.assertFalse(hasattr(n, 'extra'))
        with self.assertRaises(KeyError):
            n['extra']
        with self.assertRaises(AttributeError):
            n.extra
        with self.assertRaises(KeyError):
            del n['extra']
        self.assertEqual(copy.copy(n).keys(), n.keys())
        n.update('ip', dict(num_output=7))
        self.assertEqual(n.to_proto().layer[4].inner_product_param.num_output, 7)

    def test_name_and_phase_are_fields_of_the_layer(self):
        layer = L.Input(shape=dict(dim=2), name='mine', include=dict(phase=caffe.TEST)).to_proto().layer[0]
        self.assertEqual((layer.name, list(layer.top), layer.include[0].phase), ('mine', ['Input1'], caffe.TEST))

    def test_python_layer(self):
        layer = L.Python(module='m', layer='C', param_str='{}', ntop=1).to_proto().layer[0]
        self.assertEqual((layer.python_param.module, layer.python_param.layer, layer.python_param.param_str), ('m', 'C', '{}'))

    def test_input_must_be_a_top(self):
        pair = L.DummyData(ntop=2)
        with self.assertRaisesRegex(TypeError, r"^Silence input 0 is not a Top \(type is <class 'tuple'>\)$"):
            L.Silence(pair, ntop=0)
        with self.assertRaisesRegex(TypeError, r'^Concat input 1 is not a Top'):
            L.Concat(pair[0], 'label')
        L.Silence(*pair, ntop=0)

    def test_unknown_parameters(self):
        with self.assertRaisesRegex(AttributeError, 'Convolution layers have no parameter kernal_size'):
            L.Convolution(kernal_size=3).to_proto()
        with self.assertRaisesRegex(AttributeError, 'Silence layers have no parameter axis'):
            L.Silence(axis=3, ntop=1).to_proto()
        with self.assertRaises(AttributeError):
            L.Convolution(weight_filler=dict(typ='xavier')).to_proto()
        with self.assertRaises(TypeError):
            L.Convolution(num_output='six').to_proto()
        with self.assertRaises(AttributeError):
            P.Pooling.MEDIAN
        with self.assertRaises(AttributeError):
            P.Pool

    def test_bad_values(self):
        """A value that a field does not take: the error names the layer, the field and the value, whatever the field's type."""
        filler, conv = dict(type='xavier'), 'layer "x" (Convolution): convolution_param.'
        for layer, kind, text in (
                (lambda: L.Convolution(num_output=16 / 2), TypeError, conv + 'num_output = 8.0: it takes an integer, such as 8; // divides integers'),
                (lambda: L.Convolution(num_output=2.5), TypeError, conv + 'num_output = 2.5: it takes an integer'),
                (lambda: L.Convolution(num_output=np.float64(8)), TypeError, conv + 'num_output = '),
                (lambda: L.Convolution(num_output='six'), TypeError, conv + "num_output = 'six': "),
                (lambda: L.Convolution(num_output=-1), ValueError, conv + 'num_output = -1: '),
                (lambda: L.Convolution(num_output=None), TypeError, conv + 'num_output = None: '),
                (lambda: L.Convolution(num_output=[1]), TypeError, conv + 'num_output = [1]: '),
                (lambda: L.Convolution(kernel_size=[3, 1.5]), TypeError, conv + 'kernel_size = [3, 1.5]: it takes an integer'),
                (lambda: L.Convolution(bias_term='no'), TypeError, conv + "bias_term = 'no': "),
                (lambda: L.Convolution(weight_filler=dict(typ='xavier')), AttributeError,
                 conv + "weight_filler.typ = 'xavier': no field of FillerParameter has this name"),
                (lambda: L.Convolution(weight_filler=dict(std='big')), TypeError, conv + "weight_filler.std = 'big': "),
                (lambda: L.Convolution(weight_filler='xavier'), TypeError, conv + "weight_filler = 'xavier': it takes a dict or a FillerParameter"),
                (lambda: L.Convolution(param=[dict(lr_mult=1), 2]), TypeError, 'layer "x" (Convolution): param = [{\'lr_mult\': 1}, 2]: it takes a dict'),
                (lambda: L.Convolution(param=dict(lr_mult='fast')), TypeError, 'layer "x" (Convolution): param.lr_mult = \'fast\': '),
                (lambda: L.Convolution(convolution_param=dict(num_output=8.0)), TypeError, conv + 'num_output = 8.0: '),
                (lambda: L.Convolution(num_output=dict(a=1)), TypeError, conv + "num_output = {'a': 1}: "),
                (lambda: L.Convolution(loss_weight='1'), TypeError, 'layer "x" (Convolution): loss_weight = \'1\': '),
                (lambda: L.Pooling(pool='MEDIAN'), ValueError, 'layer "x" (Pooling): pooling_param.pool = \'MEDIAN\': its values are MAX, AVE, STOCHASTIC'),
                (lambda: L.Convolution(weight_filler=filler, kernal_size=3), AttributeError, 'layer "x": Convolution layers have no parameter kernal_size')):
            n = caffe.NetSpec()
            n.x = layer()
            with self.assertRaises(kind) as raised:
                n.to_proto()
            self.assertTrue(str(raised.exception).startswith(text), '%s\nwant %s' % (raised.exception, text))
        with self.assertRaisesRegex(TypeError, r'^Data: ntop must be an integer, it is 2.0$'):
            L.Data(ntop=2.0)
        n = caffe.NetSpec()
        n.x = L.DummyData(ntop=2)
        with self.assertRaisesRegex(TypeError, r"^NetSpec: 'x' is no Top.*; a layer with ntop=2 gives as many: n.a, n.b = ...$"):
            n.to_proto()
        n.x = 5
        with self.assertRaisesRegex(TypeError, "^NetSpec: 'x' is no Top, it is 5$"):
            n.to_proto()

    def test_values_of_other_kinds(self):
        """numpy's scalars, names of enums, and messages instead of dicts."""
        filler = caffe_pb2.FillerParameter(type='xavier')
        layer = L.Convolution(num_output=np.int64(6), bias_term=np.bool_(False), weight_filler=filler, param=[caffe_pb2.ParamSpec(lr_mult=3)],
                              engine='CAFFE', kernel_size=np.array([3, 5])).to_proto().layer[0]
        c = layer.convolution_param
        self.assertEqual((c.num_output, c.bias_term, c.weight_filler, list(c.kernel_size)), (6, False, filler, [3, 5]))
        self.assertEqual((layer.param[0].lr_mult, c.engine), (3, caffe_pb2.ConvolutionParameter.CAFFE))

    def test_deep_nets(self):
        top = L.Input(shape=dict(dim=1))
        for _ in range(3000):
            top = L.ReLU(top)
        self.assertEqual(len(top.to_proto().layer), 3001)


class TestAssignProto(unittest.TestCase):
    def test_values(self):
        layer = caffe_pb2.LayerParameter()
        assign_proto(layer, 'name', 'n')
        assign_proto(layer, 'bottom', ['a', 'b'])
        assign_proto(layer, 'top', 'c')
        assign_proto(layer, 'convolution_param', dict(kernel_size=(3, 5), pad=np.array([1, 2]), bias_term=False))
        assign_proto(layer, 'include', [dict(phase=0, stage=['x']), dict(phase=1)])
        assign_proto(layer, 'relu_param', {})
        assign_proto(layer, 'loss_weight', [])
        self.assertEqual((layer.name, list(layer.bottom), list(layer.top)), ('n', ['a', 'b'], ['c']))
        self.assertEqual(list(layer.convolution_param.kernel_size), [3, 5])
        self.assertEqual(list(layer.convolution_param.pad), [1, 2])
        self.assertFalse(layer.convolution_param.bias_term)
        self.assertEqual([(r.phase, list(r.stage)) for r in layer.include], [(0, ['x']), (1, [])])
        self.assertTrue(layer.HasField('relu_param'))
        self.assertEqual(list(layer.loss_weight), [])

    def test_param_name_dict(self):
        table = param_name_dict()
        self.assertEqual((table['InnerProduct'], table['LRN'], table['HDF5Data'], table['Python'], table['Transformation']),
                         ('inner_product', 'lrn', 'hdf5_data', 'python', 'transform'))
        self.assertNotIn('Silence', table)

    def test_lstm_param_is_that_of_type_lstm(self):
        self.assertEqual(param_name_dict()['Lstm'], 'lstm')
        self.assertNotIn('LSTM', param_name_dict())
        n = caffe.NetSpec()
        n.x, n.cont = L.DummyData(shape=[dict(dim=[4, 2, 3]), dict(dim=[4, 2])], ntop=2)
        n.packed = L.Lstm(n.x, num_output=5, weight_filler=dict(type='uniform', min=.1, max=.2))
        filler = n.to_proto().layer[1].lstm_param.weight_filler
        self.assertEqual((n.to_proto().layer[1].lstm_param.num_output, filler.type), (5, 'uniform'))
        for kind in (L.LSTM, L.RNN):
            n.y = kind(n.x, n.cont, recurrent_param=dict(num_output=5), weight_filler=dict(type='uniform'))
            with self.assertRaisesRegex(AttributeError, 'layer "y": .* layers have no parameter weight_filler: no field of LayerParameter has'):
                n.to_proto()

    def test_param_name_dict_names_types(self):
        no_types = {'CTCDecoder', 'Loss', 'NoiseLayer', 'Python', 'Quantization', 'Recurrent', 'Transformation'}
        self.assertEqual(set(param_name_dict()) - set(caffe.layer_type_list()) - no_types, set())


if __name__ == '__main__':
    unittest.main()
