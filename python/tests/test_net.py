"""Nets: constructors, their parts, forward and backward, weights, hooks."""

import gc
import os
import pathlib
import pathlib
import random
import threading
import unittest
import xml.etree.ElementTree
from collections import OrderedDict

import numpy as np

import caffe
from common import IMAGE, INPUT, SMALL, Case

LEVELS = '''name: "levels"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 4 } } }
layer { name: "NoLevel" type: "InnerProduct" bottom: "data" top: "NoLevel" inner_product_param { num_output: 1 } }
layer { name: "Level1Only" type: "InnerProduct" bottom: "data" top: "Level1Only" include { min_level: 1 max_level: 1 } inner_product_param { num_output: 1 } }
layer { name: "StageA" type: "InnerProduct" bottom: "data" top: "StageA" include { stage: "A" } inner_product_param { num_output: 1 } }
layer { name: "TrainOnly" type: "InnerProduct" bottom: "data" top: "TrainOnly" include { phase: TRAIN } inner_product_param { num_output: 1 } }
'''


class Constructors(Case):
    def test_three_forms(self):
        net = self.net(INPUT, caffe.TEST)
        file, weights = os.path.join(self.dir, 'net.prototxt'), os.path.join(self.dir, 'w.caffemodel')
        net.params['ip'][0].data[...] = 3
        net.save(weights)
        for n in (caffe.Net(file, weights, caffe.TEST), caffe.Net(file, caffe.TEST, weights=weights), caffe.Net(file, caffe.TEST, 0, None, weights),
                  caffe.Net(file, weights, phase=caffe.TEST), caffe.Net(pathlib.Path(file), caffe.TEST, weights=pathlib.Path(weights)),
                  caffe.Net(network_file=file, phase=caffe.TEST, weights=weights)):
            np.testing.assert_array_equal(n.params['ip'][0].data, np.full((3, 6), 3, np.float32))

    def test_phase_level_stages(self):
        names = lambda *args, **kwargs: [n for n in caffe.Net(file, *args, **kwargs)._layer_names[2:] if n[0] in 'LST']
        file = self.write(LEVELS)
        self.assertEqual(names(caffe.TEST), [])
        self.assertEqual(names(caffe.TRAIN), ['TrainOnly'])
        self.assertEqual(names(caffe.TEST, level=1), ['Level1Only'])
        self.assertEqual(names(caffe.TEST, stages=['A']), ['StageA'])
        self.assertEqual(names(caffe.TEST, level=1, stages=['A', 'B']), ['Level1Only', 'StageA'])

    def test_wrong_arguments(self):
        file = self.write(INPUT)
        for wrong in ((), (file,), (file, 'w', caffe.TEST, 1), (file, 1.5), (file, None), (3, caffe.TEST), (file, caffe.TEST, 'x'),
                      (file, caffe.TEST, 0, 'A'), (file, caffe.TEST, 0, [1]), (file, np.True_), (file, caffe.TEST, 0, None, None, 1)):
            with self.assertRaises(TypeError, msg=wrong):
                caffe.Net(*wrong)
        with self.assertRaisesRegex(ValueError, 'phase 7'):
            caffe.Net(file, 7)
        for empty in (file, '', caffe.TEST), (file, caffe.TEST, 0, None, ''):
            self.assertRaisesRegex(RuntimeError, 'weights is empty', caffe.Net, *empty)

    def test_files_that_are_wrong(self):
        with self.assertRaisesRegex(RuntimeError, 'could not open file /nowhere.prototxt: no such file'):
            caffe.Net('/nowhere.prototxt', caffe.TEST)
        with self.assertRaisesRegex(RuntimeError, 'could not open file /nowhere.caffemodel|/nowhere.caffemodel: no such file'):
            caffe.Net(self.write(INPUT), '/nowhere.caffemodel', caffe.TEST)
        with self.assertRaisesRegex(RuntimeError, r'net.prototxt:3: layer "ip" \(InnerPoduct\).*did you mean "InnerProduct"'):
            self.net(INPUT.replace('InnerProduct"', 'InnerPoduct"'))
        with self.assertRaisesRegex(RuntimeError, r'net.prototxt:1:\d+: '):
            self.net('nmae: "x"')
        with self.assertRaisesRegex(RuntimeError, 'shape mismatch'):
            other = self.net(INPUT.replace('num_output: 3', 'num_output: 5'))
            other.save(os.path.join(self.dir, 'w'))
            caffe.Net(self.write(INPUT), os.path.join(self.dir, 'w'), caffe.TEST)


class Parts(Case):
    def test_names_and_wiring(self):
        net = self.net()
        self.assertEqual(list(net.blobs), ['data', 'label', 'conv', 'ip', 'loss'])
        self.assertEqual((net._layer_names, net._blob_names), (['data', 'conv', 'ip', 'loss'], list(net.blobs)))
        self.assertEqual((net.inputs, net.outputs, net._inputs, net._outputs), ([], ['loss'], [], [4]))
        self.assertEqual(net.top_names, OrderedDict([('data', ['data', 'label']), ('conv', ['conv']), ('ip', ['ip']), ('loss', ['loss'])]))
        self.assertEqual(net.bottom_names, OrderedDict([('data', []), ('conv', ['data']), ('ip', ['conv']), ('loss', ['ip', 'label'])]))
        self.assertEqual((net._top_ids(0), net._bottom_ids(3)), ([0, 1], [3, 1]))
        self.assertEqual(net.blob_loss_weights, OrderedDict([('data', 0), ('label', 0), ('conv', 0), ('ip', 0), ('loss', 1)]))
        self.assertEqual(repr(list(net._blob_loss_weights)), '[0.0, 0.0, 0.0, 0.0, 1.0]')
        self.assertEqual([l.type for l in net.layers], ['DummyData', 'Convolution', 'InnerProduct', 'SoftmaxWithLoss'])
        self.assertEqual(list(net.layer_dict), net._layer_names)
        self.assertIs(net.layer_dict['conv'], net.layers[1])
        self.assertIsInstance(net.layers[1], caffe.Layer)
        self.assertEqual(list(net.params), ['conv', 'ip'])
        self.assertEqual([b.shape for b in net.params['conv']], [(11, 2, 2, 2), (11,)])
        self.assertEqual(self.net(INPUT).inputs, ['data'])
        self.assertEqual(net.name, 'small')

    def test_splits(self):
        net = self.net('''layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 2 } } }
            layer { name: "a" type: "ReLU" bottom: "d" top: "a" } layer { name: "b" type: "ReLU" bottom: "d" top: "b" }''')
        self.assertEqual(net._layer_names, ['d', 'd_d_0_split', 'a', 'b'])
        self.assertEqual(net.outputs, ['a', 'b'])

    def test_layers_of_the_engine_do_not_run_alone(self):
        layer = self.net().layers[1]
        for call in (lambda: layer.setup([], []), lambda: layer.reshape([], []), lambda: layer.forward([], []), lambda: layer.backward([], [], []),
                     lambda: layer.blobs.add_blob(3)):
            self.assertRaises(RuntimeError, call)

    def test_repr(self):
        net = self.net()
        self.assertEqual(repr(net), "<caffe.Net 'small', TRAIN, 4 layers, 5 blobs, 5650 weights>")
        self.assertEqual(repr(net.blobs['conv']), "<caffe.Blob 'conv', shape 5 x 11 x 8 x 9>")
        self.assertEqual(repr(net.layers[1]), "<caffe.Layer 'conv', type Convolution, 2 blobs>")

    def test_html(self):
        """Notebooks show a net as a drawing and a table, both well-formed, and a blob as a table of its range."""
        net = self.net()
        page = net._repr_html_()
        self.assertIn('<tr><td>conv</td><td>Convolution</td><td>conv 5 x 11 x 8 x 9</td><td>11 x 2 x 2 x 2, 11</td></tr>', page)
        drawing = xml.etree.ElementTree.fromstring('<html>%s</html>' % page).find('div')[0]
        self.assertEqual(drawing.tag, '{http://www.w3.org/2000/svg}svg')
        words = ' '.join(drawing.itertext())
        for word in 'data', 'conv', 'ip', 'loss':
            self.assertIn(word, words)
        self.assertIn('&lt;b&gt;', self.net(INPUT.replace('"deploy"', '"<b>"'))._repr_html_())
        values = net.blobs['ip'].data
        values[...] = 2
        values[0, :3] = -1, 5, np.nan
        self.assertIn('<td>35</td><td>-1</td><td>%g</td><td>5</td><td>1</td>' % (68 / 34), net.blobs['ip']._repr_html_())
        values[...] = np.inf
        self.assertIn('<td>35</td><td></td><td></td><td></td><td>35</td>', net.blobs['ip']._repr_html_())
        net.close()
        self.assertIn('closed', net._repr_html_())

    def test_html_without_splits(self):
        """The drawing joins the layers that read one blob to the layer that makes it, and has layers of other stages' rules."""
        net = self.net('''layer { name: "origin" type: "Input" top: "d" input_param { shape { dim: 2 } } include { stage: "s" } }
            layer { name: "left" type: "ReLU" bottom: "d" top: "a" } layer { name: "right" type: "ReLU" bottom: "d" top: "b" }''', stages=['s'])
        drawing = net._repr_html_().split('</svg>')[0]
        for word in 'origin', 'left', 'right':
            self.assertIn(word, drawing)
        self.assertNotIn('split', drawing)


class Running(Case):
    def test_forward_and_backward(self):
        net = self.net()
        out = net.forward()
        self.assertEqual(list(out), ['loss'])
        self.assertEqual(out['loss'].shape, ())
        self.assertEqual(net.backward(), {})
        scores = net.blobs['ip'].data.astype(float)
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        self.assertAlmostEqual(float(out['loss']), float(-np.log(p[:, 0]).mean()), places=4)
        p[:, 0] -= 1
        np.testing.assert_allclose(net.blobs['ip'].diff, p / 5, atol=1e-6)
        np.testing.assert_allclose(net.params['ip'][1].diff, p.sum(0) / 5, atol=1e-5)
        net.backward()  # gradients of weights add up
        np.testing.assert_allclose(net.params['ip'][1].diff, 2 * p.sum(0) / 5, atol=1e-5)
        net.clear_param_diffs()
        self.assertFalse(net.params['ip'][1].diff.any() or net.params['conv'][0].diff.any())

    def test_clear_reaches_arrays_made_before(self):
        net = self.net()
        diff = net.params['ip'][1].diff
        net.forward()
        net.backward()
        self.assertTrue(diff.any())
        net.clear_param_diffs()
        self.assertFalse(diff.any())

    def test_start_and_end(self):
        net = self.net()
        conv, ip = net.blobs['conv'].data, net.blobs['ip'].data
        net.forward()
        before = conv.copy()
        conv[...] = 1
        out = net.forward(start='ip', end='ip')
        self.assertEqual(list(out), ['ip'])
        self.assertTrue((conv == 1).all())
        w = net.params['ip'][0].data.astype(float)
        np.testing.assert_allclose(ip, np.tile(w.sum(1) - 3, (5, 1)), rtol=1e-4, atol=1e-3)
        net.forward(start='conv', end='conv')
        np.testing.assert_array_equal(conv, before)
        self.assertEqual(list(net.forward(blobs=['conv', 'data'], end='ip')), ['ip', 'conv', 'data'])
        net.forward()
        top = net.blobs['ip'].diff
        top[...] = 1
        grads = net.backward(start='ip', end='ip')
        self.assertEqual(list(grads), ['conv'])
        np.testing.assert_allclose(grads['conv'].reshape(5, -1), np.tile(w.sum(0), (5, 1)), rtol=1e-4, atol=1e-3)
        self.assertEqual(list(net.backward(diffs=['ip'], end='conv')), ['data', 'ip'])
        for wrong in (dict(start='nothing'), dict(end='nothing')):
            self.assertRaises(ValueError, lambda: net.forward(**wrong))
            self.assertRaises(ValueError, lambda: net.backward(**wrong))

    def test_inputs_and_gradients_of_outputs(self):
        net = self.net(INPUT, caffe.TEST)
        x = np.random.RandomState(0).rand(4, 6).astype(np.float32)
        prob = net.forward(data=x)['prob']
        np.testing.assert_allclose(prob.sum(1), np.ones(4), rtol=1e-5)
        np.testing.assert_array_equal(net.blobs['data'].data, x)
        g = np.random.RandomState(1).rand(4, 3).astype(np.float32)
        got = net.backward(prob=g)['data'].copy()
        inner = prob * (g - (prob * g).sum(1, keepdims=True))
        np.testing.assert_allclose(got, inner @ net.params['ip'][0].data, atol=1e-5)
        for wrong, text in ((dict(dta=x), "^Input blob arguments do not match net inputs: given .'dta'., the net has .'data'."),
                            (dict(data=x, label=x), '^Input blob arguments do not match net inputs'), (dict(data=x[:3]), '^Input is not batch sized')):
            with self.assertRaisesRegex(Exception, text):
                net.forward(**wrong)
        for wrong, text in (dict(data=g), '^Top diff arguments do not match net outputs'), (dict(prob=g[:3]), '^Diff is not batch sized'):
            with self.assertRaisesRegex(Exception, text):
                net.backward(**wrong)
        with self.assertRaises(ValueError):
            net.forward(data=np.zeros((4, 5)))
        self.assertRaisesRegex(TypeError, 'data must be an array, it is None', net.forward, data=None)  # numpy would write NaN

    def test_start_of_backward_is_the_callers(self):
        net = self.net()
        net.forward()
        net.backward()
        once = net.blobs['ip'].diff.copy()
        self.assertEqual(net.blobs['loss'].diff, 1)
        net.backward(loss=np.array(3.0))
        np.testing.assert_allclose(net.blobs['ip'].diff, 3 * once, rtol=1e-5, atol=1e-7)

    def test_forward_all(self):
        net = self.net(INPUT, caffe.TEST)
        x = np.random.RandomState(0).rand(11, 6).astype(np.float32)
        out = net.forward_all(blobs=['ip'], data=x)
        self.assertEqual({k: v.shape for k, v in out.items()}, {'prob': (11, 3), 'ip': (11, 3)})
        for i in range(11):
            np.testing.assert_allclose(net.forward(data=np.tile(x[i], (4, 1)))['prob'][0], out['prob'][i], rtol=1e-5)
        out, grads = net.forward_backward_all(data=x, prob=np.ones((11, 3), np.float32))
        self.assertEqual((out['prob'].shape, grads['data'].shape), ((11, 3), (11, 6)))
        np.testing.assert_allclose(grads['data'], 0, atol=1e-6)
        self.assertEqual(net.forward_all(data=x[:4])['prob'].shape, (4, 3))
        for run in net.forward_all, net.forward_backward_all:
            self.assertRaisesRegex(Exception, '^Input blob arguments do not match net inputs', run, nothing=x)
            self.assertRaisesRegex(ValueError, r"needs arrays for the inputs .*'deploy': \['data'\]", run)

    def test_no_items(self):
        net = self.net(INPUT, caffe.TEST)
        self.assertEqual(net.forward_all(data=np.zeros((0, 6)))['prob'].shape[0], 0)
        net.blobs['data'].reshape(0, 6)
        self.assertEqual((net.forward()['prob'].shape, net.backward()['data'].shape), ((0, 3), (0, 6)))
        self.assertRaisesRegex(ValueError, "blob 'data' has batches of no items", net.forward_all, data=np.zeros((3, 6)))

    def test_indices(self):
        net = self.net()
        self.assertGreater(net._forward(0, 3), 0)
        self.assertEqual(net._forward(0, 1), 0)
        net._backward(3, 0)
        for call in (lambda: net._forward(0, 4), lambda: net._forward(-1, 3), lambda: net._backward(4, 0)):
            self.assertRaises(IndexError, call)

    def test_reshape(self):
        net = self.net(INPUT, caffe.TEST)
        net.blobs['data'].reshape(7, 6)
        net.reshape()
        self.assertEqual(net.blobs['prob'].shape, (7, 3))
        net.blobs['data'].reshape(2, 6)
        self.assertEqual(net.forward()['prob'].shape, (2, 3))
        net.blobs['data'].reshape(2, 5)
        with self.assertRaisesRegex(RuntimeError, r'net.prototxt:3: layer "ip" \(InnerProduct\)'):
            net.reshape()

    def test_constant_data_can_be_changed_before_the_first_forward(self):
        net = self.net()
        net.blobs['label'].data[...] = 3
        net.forward()
        self.assertTrue((net.blobs['label'].data == 3).all())
        net.blobs['label'].data[...] = 99
        with self.assertRaisesRegex(RuntimeError, 'label 99 of item 0 is out of range'):
            net.forward()

    def test_any_reshape_is_safe(self):
        """Whatever blob gets whatever shape: runs give results or exceptions, and right ones once the net is itself again."""
        file = self.write(SMALL)
        for name in 'data', 'conv', 'ip', 'loss', 'label':
            for shape in (1,), (9, 9, 9), (0,), (), (5, 3, 2, 2), (500, 700):
                net = caffe.Net(file, caffe.TRAIN)
                net.forward()
                before = net.blobs[name].shape
                net.blobs[name].reshape(*shape)
                for run in net.backward, lambda: net.forward(start='ip'), net.backward, net.forward, net.backward:
                    try:
                        run()
                    except RuntimeError as e:
                        self.assertIn('net.prototxt:', str(e))
                net.blobs[name].reshape(*before)
                net.blobs['label'].data[...] = 0
                net.forward()
                net.backward()
                self.assertEqual(net.blobs['ip'].shape, (5, 7))
        w = net.params['ip'][0]
        self.assertRaisesRegex(ValueError, 'a weight keeps its number of values', w.reshape, 3)
        w.reshape(7, 792)
        net.forward()

    def test_memory_data(self):
        net = self.net('layer { name: "m" type: "MemoryData" top: "d" top: "l" memory_data_param { batch_size: 2 channels: 3 height: 1 width: 2 } }')
        data, labels = np.arange(24, dtype=np.float32).reshape(4, 3, 1, 2), np.arange(4, dtype=np.float32)
        net.set_input_arrays(data, labels)
        for first in 0, 2, 0:
            net.forward()
            np.testing.assert_array_equal(net.blobs['d'].data, data[first:first + 2])
            np.testing.assert_array_equal(net.blobs['l'].data, labels[first:first + 2])
        net.set_input_arrays(data + 1, labels.reshape(4, 1, 1, 1))  # the sum has no other owner than the net
        gc.collect()
        net.forward()
        np.testing.assert_array_equal(net.blobs['d'].data, data[:2] + 1)
        for error, d, l in ((RuntimeError, data.astype(float), labels), (RuntimeError, data, labels.astype(int)), (TypeError, list(data), labels),
                            (RuntimeError, data.reshape(4, 6), labels), (RuntimeError, data, labels[:3]),
                            (RuntimeError, data.transpose(0, 2, 3, 1), labels), (RuntimeError, data.reshape(4, 2, 3, 1), labels),
                            (RuntimeError, data[:3], labels[:3]), (RuntimeError, data[:, :2].copy(), labels)):
            with self.assertRaises(error):
                net.set_input_arrays(d, l)
        with self.assertRaisesRegex(RuntimeError, 'must be a MemoryData layer'):
            self.net(INPUT).set_input_arrays(data, labels)

    def test_hooks(self):
        net, seen = self.net(), []
        net.before_forward(lambda i: seen.append(('bf', i)))
        net.after_forward(lambda i: seen.append(('af', i)))
        net.before_backward(lambda i: seen.append(('bb', i)))
        net.after_backward(lambda i: seen.append(('ab', i)))
        loss = net._forward(0, 3)
        self.assertEqual(seen, [(k, i) for i in range(4) for k in ('bf', 'af')])
        self.assertAlmostEqual(loss, float(net.blobs['loss'].data), places=5)
        del seen[:]
        net.backward()
        self.assertEqual(seen, [(k, i) for i in (3, 2, 1, 0) for k in ('bb', 'ab')])
        for add in net.before_forward, net.after_forward, net.before_backward, net.after_backward:
            self.assertRaises(TypeError, add, 3)

        def fails(i):
            raise KeyError('hook')
        net.after_forward(fails)
        self.assertRaisesRegex(KeyError, 'hook', net.forward)

    def test_time(self):
        times = self.net().time(2)
        self.assertEqual([(t.name, t.type) for t in times][:2], [('data', 'DummyData'), ('conv', 'Convolution')])
        self.assertTrue(all(t.forward > 0 for t in times))
        self.assertRaises(ValueError, self.net().time, 0)


class Weights(Case):
    def same(self, a, b):
        for name in a.params:
            for x, y in zip(a.params[name], b.params[name]):
                np.testing.assert_array_equal(x.data, y.data)

    def test_save_copy_share(self):
        a, b = self.net(), self.net()
        file = os.path.join(self.dir, 'w')
        self.assertFalse(np.array_equal(a.params['ip'][0].data, b.params['ip'][0].data))
        a.save(file + '.caffemodel')
        b.copy_from(file + '.caffemodel')
        self.same(a, b)
        a.params['ip'][0].data[...] = 5
        a.save_hdf5(file + '.h5')
        b.load_hdf5(file + '.h5')
        self.same(a, b)
        c = self.net()
        c.copy_from(file + '.h5')
        self.same(a, c)
        a.save_hdf5(file + 'diff.h5', True)
        self.assertGreater(os.path.getsize(file + 'diff.h5'), os.path.getsize(file + '.h5'))
        old = b.params['ip'][0].data
        b.share_with(a)
        a.params['ip'][0].data[...] = 7
        self.assertTrue((b.params['ip'][0].data == 7).all())
        self.assertTrue((old == 5).all())  # the view made before keeps the memory of before

    def test_names_of_files(self):
        """Names may hold any letters. Bytes that are no letters are refused: they would become another name."""
        net = self.net(INPUT)
        for name in 'größe 日本.caffemodel', 'a b%s.h5':
            path = os.path.join(self.dir, name)
            (net.save_hdf5 if name.endswith('h5') else net.save)(pathlib.Path(path))
            self.assertTrue(os.path.exists(path))
            net.copy_from(os.fsencode(path))
        for f in net.save, net.save_hdf5, net.copy_from, caffe.SGDSolver:
            self.assertRaisesRegex(ValueError, 'no UTF-8', f, os.fsencode(self.dir) + b'/\xff')
        self.assertRaises(RuntimeError, net.copy_from, 'a\0b')

    def test_wrong_files(self):
        net = self.net()
        for call in net.copy_from, net.load_hdf5:
            self.assertRaisesRegex(RuntimeError, 'could not open file /nowhere', call, '/nowhere')
            self.assertRaises(TypeError, call, 3)
        self.assertRaises(RuntimeError, net.load_hdf5, self.write('no HDF5', 'text'))
        self.assertRaises(RuntimeError, net.copy_from, self.write('no weights', 'text'))
        self.assertRaises(RuntimeError, net.save, '/nowhere/at/all')
        self.assertRaises(RuntimeError, net.save_hdf5, '/nowhere/at/all')
        self.assertRaises(TypeError, net.share_with, 'net')
        other = self.net(SMALL.replace('num_output: 7', 'num_output: 6'))
        self.assertRaisesRegex(RuntimeError, 'layer "ip"', net.share_with, other)


class Threads(Case):
    def test_one_thread_at_a_time(self):
        net, errors = self.net(), []
        inside, go_on = threading.Event(), threading.Event()
        module = self.write('''import caffe
class Wait(caffe.Layer):
    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): top[0].reshape(1)
    def forward(self, bottom, top): Wait.hook(self)
''', 'waits.py')
        import sys
        sys.path.insert(0, self.dir)
        self.addCleanup(sys.path.remove, self.dir)
        net = self.net('layer { name: "w" type: "Python" top: "w" python_param { module: "waits" layer: "Wait" } }')
        import waits

        def hook(layer):
            inside.set()
            go_on.wait(10)
            for call in net.forward, net.reshape, net.close:
                try:
                    call()  # in the net's own thread, but the net runs
                except RuntimeError as e:
                    errors.append(str(e))
        waits.Wait.hook = hook
        thread = threading.Thread(target=net.forward)
        thread.start()
        self.assertTrue(inside.wait(10))
        blob = net.blobs['w']
        for call in (net.forward, net.backward, net.reshape, net.close, net.clear_param_diffs, net.time, lambda: net.save(self.dir + '/w'),
                     lambda: net.copy_from(module), lambda: blob.data, lambda: blob.diff, lambda: blob.shape, lambda: blob.reshape(3)):
            self.assertRaisesRegex(RuntimeError, 'in use by another thread', call)
        for shown in repr(blob), net._repr_html_(), blob._repr_html_():
            self.assertIn('in use by another thread', shown)
        self.net(INPUT).forward()  # another net runs meanwhile
        go_on.set()
        thread.join(10)
        self.assertEqual([e for e in errors if 'cannot run it again' in e], errors)
        self.assertEqual(len(errors), 3)
        waits.Wait.hook = lambda layer: None
        net.forward()

    def test_many_threads_with_one_net(self):
        """Calls of four threads to one net either work or raise an error, and the net is as good as before."""
        net = self.net(IMAGE, caffe.TEST)
        want, results = net.forward()['score'].copy(), []
        refused = 'in use by another thread'

        def use(number):
            draw = random.Random(number)
            calls = [net.forward, net.backward, net.reshape, net.clear_param_diffs, lambda: net.blobs['score'].data.sum(), lambda: repr(net),
                     lambda: net.blobs['data'].reshape(1, 3, draw.choice((8, 12)), 16), net._repr_html_, lambda: net.save(self.dir + '/%d' % number)]
            for _ in range(150):
                try:
                    draw.choice(calls)()
                    results.append(None)
                except RuntimeError as e:
                    results.append(str(e))
        threads = [threading.Thread(target=use, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(results), 600)
        self.assertEqual([r for r in results if r is not None and refused not in r], [])
        self.assertIn(None, results)
        net.blobs['data'].reshape(1, 3, 12, 16)
        net.blobs['data'].data[...] = 0
        np.testing.assert_array_equal(net.forward()['score'], want)
        with net:
            pass
        self.assertRaisesRegex(ValueError, 'closed', net.forward)

    def test_many_threads_with_a_net_each(self):
        nets = [self.net() for _ in range(4)]
        want = [float(n.forward()['loss']) for n in nets]
        results = {}

        def run(i):
            results[i] = [float(nets[i].forward(start='conv')['loss']) for _ in range(50)]
        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for i in range(4):
            self.assertEqual(set(results[i]), {want[i]})


if __name__ == '__main__':
    unittest.main()
