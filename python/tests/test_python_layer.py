"""Layers written in Python, in nets, in solvers and in python -m caffe."""

import gc
import os
import subprocess
import sys
import traceback
import unittest
import weakref

import numpy as np

import caffe
import layers_for_tests
from common import TIMEOUT, Case


def python(name, cls, bottoms='', tops=None, param_str='', module='layers_for_tests', more=''):
    """Return the prototxt of a Python layer."""
    lines = ''.join(' bottom: "%s"' % b for b in bottoms.split()) + ''.join(' top: "%s"' % t for t in (name if tops is None else tops).split())
    return 'layer { name: "%s" type: "Python"%s %s python_param { module: "%s" layer: "%s" param_str: "%s" } }\n' % (name, lines, more, module, cls, param_str)


DATA = 'force_backward: true layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } } }\n'

REGRESSION = '''layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 6 dim: 5 } shape { dim: 6 dim: 2 }
  data_filler { type: "gaussian" } data_filler { type: "uniform" } } }
layer { name: "hidden" type: "InnerProduct" bottom: "x" top: "hidden" inner_product_param { num_output: 8 weight_filler { type: "xavier" } } }
layer { name: "tanh" type: "TanH" bottom: "hidden" top: "hidden" }
layer { name: "y" type: "InnerProduct" bottom: "hidden" top: "y" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
'''
BUILT_IN = 'layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }\n'
IN_PYTHON = python('loss', 'Squares', 'y t', more='loss_weight: 1')


class Layers(Case):
    def test_forward_and_backward(self):
        net = self.net(DATA + python('a', 'TenTimes', 'data') + python('b', 'TenTimes', 'a') + python('c', 'TenTimes', 'b'))
        net.blobs['data'].data[...] = 8
        self.assertTrue((net.forward()['c'] == 8000).all())
        net.blobs['c'].diff[...] = 7
        self.assertTrue((net.backward()['data'] == 7000).all())
        net.blobs['data'].reshape(4, 4, 4, 4)
        net.forward()
        self.assertEqual({b.data.shape for b in net.blobs.values()}, {(4, 4, 4, 4)})
        self.assertIsInstance(net.layers[1], layers_for_tests.TenTimes)
        self.assertEqual((net.layers[1].type, net.layers[1].name), ('Python', 'a'))

    def test_in_place(self):
        net = self.net(DATA + python('a', 'TenTimes', 'data', 'data'))
        net.blobs['data'].data[...] = 1
        net.forward()
        self.assertTrue((net.blobs['data'].data == 10).all())

    def test_what_a_layer_knows(self):
        text = python('f', 'Facts', param_str='7 words')
        for phase in caffe.TRAIN, caffe.TEST:
            net = self.net(text, phase)
            self.assertEqual(net.forward()['f'], phase)
            layer = net.layers[0]
            self.assertEqual((layer.phase, layer.param_str, layer.share_in_parallel, len(layer.blobs)), (phase, '7 words', False, 0))
        self.assertTrue(self.net(text.replace('param_str', 'share_in_parallel: true param_str')).layers[0].share_in_parallel)

    def test_data_layer(self):
        net = self.net(python('counts', 'Counts'))
        for first in 0, 3, 6:
            self.assertEqual(list(net.forward()['counts']), [first, first + 1, first + 2])

    def test_weights(self):
        text = DATA + python('s', 'Scaled', 'data', param_str='1.5')
        net = self.net(text)
        net.blobs['data'].data[...] = 2
        self.assertTrue((net.forward()['s'] == 3).all())
        net.blobs['s'].diff[...] = 1
        for times in 1, 2:
            net.backward()
            self.assertEqual(list(net.params['s'][0].diff), [8 * times] * 3)
        net.clear_param_diffs()
        self.assertFalse(net.layers[1].blobs[0].diff.any())
        net.layers[1].blobs[0].data[...] = [1, 2, 3]
        for save, load in ('save', 'copy_from'), ('save_hdf5', 'load_hdf5'):
            file = os.path.join(self.dir, save)
            getattr(net, save)(file)
            other = self.net(text)
            getattr(other, load)(file)
            self.assertEqual(list(other.params['s'][0].data), [1, 2, 3])
        self.assertRaises(RuntimeError, net.layers[1].blobs.add_blob, shape=3)

    def test_weights_train(self):
        """A Python layer's weights learn like those of a Scale layer."""
        loss = 'layer { name: "loss" type: "EuclideanLoss" bottom: "s" bottom: "t" top: "loss" }'
        weights = []
        for scale in python('s', 'Scaled', 'y', param_str='1'), 'layer { name: "s" type: "Scale" bottom: "y" top: "s" }':
            solver = caffe.get_solver(self.solver(REGRESSION + scale + loss))
            solver.step(40)
            weights.append([b.data for name in ('hidden', 's') for b in solver.net.params[name]])
        for a, b in zip(*weights):
            np.testing.assert_allclose(a, b, atol=1e-5)
        self.assertFalse((weights[0][-1] == 1).any())

    def test_loss_trains_to_the_weights_of_the_built_in(self):
        weights = []
        for loss in IN_PYTHON, BUILT_IN:
            solver = caffe.get_solver(self.solver(REGRESSION + loss, max_iter=200, test_interval=50))
            before = solver.net.params['y'][0].data.copy()
            solver.solve()
            self.assertFalse(np.allclose(before, solver.net.params['y'][0].data, atol=1e-3))
            weights.append([b.data for blobs in solver.net.params.values() for b in blobs] + [solver.net.blobs['loss'].data.reshape(())])
        for a, b in zip(*weights):
            np.testing.assert_allclose(a, b, atol=1e-5)

    def test_lifetime(self):
        """The object of a layer lives as long as its net, also if it refers to the net."""
        net = self.net(DATA + python('a', 'TenTimes', 'data'))
        layer = weakref.ref(net.layers[1])
        net.layers[1].net = net
        gc.collect()
        net.forward()
        self.assertIsNotNone(layer())
        del net
        gc.collect()
        self.assertIsNone(layer())

    def test_net_in_a_layer(self):
        """A layer runs another net."""
        inner = self.net(DATA + python('a', 'TenTimes', 'data'))
        net = self.net(DATA + python('a', 'TenTimes', 'data'))
        own = net.layers[1].forward
        net.layers[1].forward = lambda bottom, top: (inner.forward(data=bottom[0].data), own(bottom, top))
        net.blobs['data'].data[...] = 4
        net.forward()
        self.assertTrue((inner.blobs['a'].data == 40).all() and (net.blobs['a'].data == 40).all())


class Faults(Case):
    def failing(self, param_str):
        return self.net(DATA + python('bad', 'Fails', 'data', param_str=param_str))

    def note(self, error):
        """Return what the error says about the place."""
        return ' '.join(getattr(error, '__notes__', ()))

    def test_exceptions(self):
        """An exception comes out as itself, with its traceback, and a note of the layer, the file and the line."""
        place = r'net.prototxt:2: layer "bad" \(Python\)'
        for method, run in (('setup', None), ('reshape', None), ('forward', lambda n: n.forward()), ('backward', lambda n: n.backward())):
            try:  # assertRaises removes tracebacks
                net = self.failing(method)
                net.forward()
                run(net)
                self.fail(method)
            except LookupError as caught:
                error = caught
            self.assertEqual(str(error), 'in ' + method)
            self.assertRegex(self.note(error), place)
            self.assertIn('layers_for_tests.py', ''.join(traceback.format_tb(error.__traceback__)))
            # Tracebacks have notes from Python 3.11 on. Before, the place is the exception's cause.
            self.assertRegex(''.join(traceback.format_exception(type(error), error, error.__traceback__)), place)

    def test_wrong_values(self):
        for param_str, kind in ('wrong shape', ValueError), ('wrong type', ValueError), ('wrong reshape', ValueError):
            with self.assertRaises(kind) as caught:
                self.failing(param_str).forward()
            self.assertRegex(self.note(caught.exception), 'net.prototxt:2: layer "bad"')

    def test_a_net_works_after_an_exception(self):
        net = self.failing('')
        for _ in range(3):
            net.layers[1].param_str = 'forward'
            self.assertRaises(LookupError, net.forward)
            net.layers[1].param_str = ''
            net.forward()

    def test_exceptions_in_training(self):
        solver = caffe.get_solver(self.solver(REGRESSION + python('y2', 'Fails', 'y') + IN_PYTHON))
        solver.step(3)
        solver.net.layer_dict['y2'].param_str = 'forward'
        with self.assertRaises(LookupError) as caught:
            solver.step(3)
        self.assertRegex(self.note(caught.exception), 'iteration 3: .*net.prototxt:6: layer "y2"')
        solver.net.layer_dict['y2'].param_str = ''
        solver.step(3)
        self.assertEqual(solver.iter, 6)

    def test_classes_that_do_not_exist(self):
        place = r'net.prototxt:2: layer "p" \(Python\): python_param: '
        for error, text, kwargs in (
                (ImportError, place + "there is no module 'nowhere' on Python's path", dict(cls='X', module='nowhere')),
                (ImportError, place + "there is no module 'nowhere.at.all'", dict(cls='X', module='nowhere.at.all')),
                (AttributeError, place + "module 'layers_for_tests' .* has no class 'Nothing'", dict(cls='Nothing')),
                (TypeError, place + r'layers_for_tests.NoLayer must be a class derived from caffe.Layer', dict(cls='NoLayer')),
                (TypeError, 'must be a class derived', dict(cls='np')),
                (RuntimeError, r'net.prototxt:2: layer "p" \(Python\): python_param needs a module and a layer', dict(cls='')),
                (RuntimeError, 'python_param needs a module', dict(cls='X', module=''))):
            with self.assertRaisesRegex(error, text):
                self.net(DATA + python('p', bottoms='data', **kwargs))

    def test_modules_that_cannot_be_loaded(self):
        sys.path.insert(0, self.dir)
        self.addCleanup(sys.path.remove, self.dir)
        self.write('import something_that_is_missing', 'broken_import.py')
        self.write('x = (', 'broken_syntax.py')
        for error, module in (ModuleNotFoundError, 'broken_import'), (SyntaxError, 'broken_syntax'):
            with self.assertRaises(error) as caught:
                self.net(DATA + python('p', 'X', 'data', module=module))
            self.assertRegex(self.note(caught.exception), 'net.prototxt:2: layer "p"')
            self.assertIn(module if error is SyntaxError else 'something_that_is_missing', str(caught.exception))

    def test_shapes_at_the_wrong_time(self):
        """A layer that changes shapes at a wrong time gets an exception; nothing computes on wrong shapes."""
        net = self.net(DATA + python('a', 'TenTimes', 'data') + python('s', 'Scaled', 'a', param_str='1'))
        layer, scaled = net.layers[1], net.layers[2]
        layer.backward = lambda top, propagate_down, bottom: top[0].reshape(7)
        net.forward()
        self.assertRaisesRegex(RuntimeError, 'in setup, reshape and forward', net.backward)
        layer.forward = lambda bottom, top: bottom[0].reshape(7)
        self.assertRaisesRegex(RuntimeError, 'gives its tops their shapes', net.forward)
        self.assertRaises(RuntimeError, scaled.blobs[0].reshape, 17)
        self.assertRaises(RuntimeError, scaled.blobs.add_blob, 3)
        layer.forward = lambda bottom, top: top[0].reshape(2, 3)
        net.forward()
        self.assertEqual(net.blobs['s'].shape, (2, 3))

    def test_missing_methods(self):
        with self.assertRaisesRegex(NotImplementedError, 'class Bare has no method reshape'):
            self.net(DATA + python('p', 'Bare', 'data'))


class Main(Case):
    def run_main(self, *args, expect=0, interrupt=False):
        run = subprocess.run([sys.executable, '-m', 'caffe', *args], cwd=self.dir, capture_output=True, text=True, timeout=TIMEOUT,
                             env=dict(os.environ, GLOG_minloglevel='0', PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(run.returncode, expect, run.stderr)
        return run

    def test_train(self):
        """python -m caffe train trains a net with Python layers to the weights of a solver."""
        file = self.solver(REGRESSION + python('y2', 'TenTimes', 'y') + IN_PYTHON, max_iter=20, snapshot_after_train=True, base_lr=0.001)
        log = self.run_main('train', '-solver', file).stderr
        self.assertIn('Optimization Done.', log)
        self.assertRegex(log, r'(?m)^I\d{4} [0-9:.]+ +\d+ \w+\.go:\d+\] Solving ')
        solver = caffe.get_solver(file)
        solver.step(20)
        trained = caffe.Net(os.path.join(self.dir, 'net.prototxt'), os.path.join(self.dir, 'model_iter_20.caffemodel'), caffe.TRAIN)
        for name in trained.params:
            np.testing.assert_array_equal(trained.params[name][0].data, solver.net.params[name][0].data)
        more = self.run_main('train', '-solver', file, '-snapshot', os.path.join(self.dir, 'model_iter_20.solverstate')).stderr
        self.assertIn('Restoring previous solver status', more)

    def test_workers(self):
        """Workers and core groups that divide batches train to the weights of one, whether a loss reads its loss weight or not."""
        def weights(loss, *args):
            file = self.solver(REGRESSION + loss, max_iter=20, snapshot_after_train=True, base_lr=0.1)
            self.assertNotIn('adds up the losses', self.run_main('train', '-solver', file, *args).stderr)
            net = caffe.Net(os.path.join(self.dir, 'net.prototxt'), os.path.join(self.dir, 'model_iter_20.caffemodel'), caffe.TRAIN)
            return np.concatenate([p[0].data.ravel() for p in net.params.values()])
        alone = weights(BUILT_IN)
        for loss in IN_PYTHON, IN_PYTHON.replace('Squares', 'OwnSquares'):
            for args in (), ('-workers', '2'), ('-core_groups', '3'):
                np.testing.assert_allclose(weights(loss, *args), alone, rtol=1e-4, atol=1e-6)

    def test_faults(self):
        run = self.run_main('train', '-solver', self.solver(REGRESSION + python('y2', 'Fails', 'y', param_str='forward') + IN_PYTHON), expect=1)
        self.assertRegex(run.stderr, r'net.prototxt:6: layer "y2" \(Python\)')
        self.assertIn('LookupError: in forward', run.stderr)
        self.assertIn('layers_for_tests.py', run.stderr)
        run = self.run_main('time', '-model', self.write(DATA + python('p', 'X', 'data', module='nowhere')), expect=1)
        self.assertIn("there is no module 'nowhere'", run.stderr)

    def test_other_commands(self):
        self.assertIn('swcaffe', self.run_main('version').stdout)
        self.assertIn('unknown command "trian"', self.run_main('trian', expect=2).stderr)
        net = self.write(DATA + python('a', 'TenTimes', 'data'))
        self.assertIn('forward', self.run_main('time', '-model', net, '-iterations', '1').stderr)


if __name__ == '__main__':
    unittest.main()
