"""Solvers: training, callbacks, snapshots, parameters, Ctrl-C, and blobs that are right at every moment."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import numpy as np

import caffe
from caffe.pycaffe import Iteration
from common import SMALL, TIMEOUT, Case

KINDS = {'SGD': caffe.SGDSolver, 'Nesterov': caffe.NesterovSolver, 'AdaGrad': caffe.AdaGradSolver, 'RMSProp': caffe.RMSPropSolver,
         'AdaDelta': caffe.AdaDeltaSolver, 'Adam': caffe.AdamSolver}

# Convolution, ReLU and pooling are fused, and blobs share memory, while nobody looks.
FUSED = '''name: "fused"
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param { shape { dim: 8 dim: 3 dim: 20 dim: 20 } shape { dim: 8 }
  data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" convolution_param { num_output: 32 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "relu1" type: "ReLU" bottom: "pool1" top: "pool1" }
layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2" convolution_param { num_output: 32 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "ip" type: "InnerProduct" bottom: "conv2" top: "ip" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''


class Solving(Case):
    def open(self, *args, **kwargs):
        return caffe.get_solver(self.solver(*args, **kwargs))

    def test_solve(self):
        solver = caffe.SGDSolver(self.solver())
        self.assertEqual(solver.iter, 0)
        solver.solve()
        self.assertEqual(solver.iter, 100)
        solver.solve(None)  # nothing is left to do
        self.assertEqual(solver.iter, 100)

    def test_kinds(self):
        for name, kind in KINDS.items():
            file = self.solver(type=name, momentum=None if name in ('AdaGrad', 'RMSProp') else 0.9)
            solver = caffe.get_solver(file)
            self.assertIs(type(solver), kind)
            self.assertIsInstance(solver, caffe.SGDSolver)  # the base of all solvers, as in Caffe
            self.assertEqual(solver.type, name)
            solver.step(2)
            self.assertEqual(type(kind(file)), kind)
        self.assertEqual(caffe.AdamSolver(self.solver(type='SGD')).type, 'Adam')  # the class decides, as in Caffe

    def test_level_and_stages(self):
        """level replaces that of the file's train_state, also with its default 0; stages are added to the file's. Test nets have their test_state."""
        rules = ''.join('layer { name: "%s" type: "Silence" bottom: "label" include { %s } }\n' % r for r in (
            ('low', 'max_level: 1'), ('high', 'min_level: 2'), ('a', 'stage: "a"'), ('b', 'stage: "b"')))
        file = self.solver(SMALL + rules)
        with open(file, 'a') as f:
            f.write('train_state { level: 2 stage: "a" } test_state { level: 3 }\n')
        for given, want in ({}, 'low a'), (dict(level=2), 'high a'), (dict(stages=['b', 'c']), 'low a b'), (dict(level=np.int32(2), stages=('b',)), 'high a b'):
            for make in caffe.get_solver, caffe.SGDSolver:
                solver = make(file, **given)
                names = [[n for n in net._layer_names if n in ('low', 'high', 'a', 'b')] for net in (solver.net, solver.test_nets[0])]
                self.assertEqual(names, [want.split(), ['high']], given)
        self.assertRaisesRegex(TypeError, "^Solver: level must be an integer, it is '2'", caffe.get_solver, file, level='2')
        self.assertRaisesRegex(TypeError, "^Solver: stages must be a list of strings, it is 'b'", caffe.get_solver, file, stages='b')

    def test_wrong_files(self):
        for f in caffe.get_solver, caffe.SGDSolver:
            self.assertRaisesRegex(RuntimeError, 'could not open file /nowhere', f, '/nowhere')
            self.assertRaises(TypeError, f, 3)
            self.assertRaises(TypeError, f)
        self.assertRaisesRegex(RuntimeError, r'solver.prototxt:\d+.*unknown solver type "SDG"', self.open, type='SDG')
        self.assertRaisesRegex(RuntimeError, 'learning rate policy "stairs"', self.open, lr_policy='stairs')
        self.assertRaisesRegex(RuntimeError, r'net.prototxt:5: layer "conv"', self.open, SMALL.replace('"Convolution"', '"Convolutoin"'))

    def test_step(self):
        solver = self.open()
        self.assertIsNone(solver.step(3))
        self.assertEqual(solver.iter, 3)
        solver.step(0)
        self.assertEqual(solver.iter, 3)
        self.assertRaises(ValueError, solver.step, -1)
        for wrong in 1.5, '3', None, True:
            self.assertRaises(TypeError, solver.step, wrong)

    def test_same_weights_in_any_steps(self):
        """Steps of any length, and views of blobs, do not change what is learned."""
        weights = []
        for steps, look in ([30], False), ([1] * 30, False), ([12, 18], True), ([9, 1, 20], False):
            solver = self.open(FUSED)
            kept = [b.data for b in solver.net.blobs.values()] if look else None
            for n in steps:
                solver.step(n)
            weights.append([b.data.copy() for blobs in solver.net.params.values() for b in blobs])
            del kept
        for w in weights[1:]:
            for a, b in zip(w, weights[0]):
                np.testing.assert_array_equal(a, b)

    def test_blobs_are_right_after_every_step(self):
        """Blobs hold what the last iteration has computed, whether or not anybody looked before."""
        fast, plain = self.open(FUSED), self.open(FUSED)
        held = [b.data for b in plain.net.blobs.values()]  # plain keeps all blobs in all iterations
        for n in 25, 10, 30, 12:
            fast.step(n)
            plain.step(n)
            for name, blob in plain.net.blobs.items():
                np.testing.assert_array_equal(fast.net.blobs[name].data, blob.data, name)
                np.testing.assert_array_equal(fast.net.blobs[name].diff, blob.diff, name)
            for a, b in zip(fast.test_nets[0].blobs.values(), plain.test_nets[0].blobs.values()):
                np.testing.assert_array_equal(a.data, b.data)
            for name, blobs in plain.net.params.items():
                for a, b in zip(fast.net.params[name], blobs):
                    np.testing.assert_array_equal(a.data, b.data)
                    np.testing.assert_array_equal(a.diff, b.diff)
        self.assertEqual(len(held), len(plain.net.blobs))

    def test_blobs_after_single_steps(self):
        """A program that steps one by one, and then looks, sees the last iteration. Blobs between layers are computed again then, from weights
        that are right but for rounding."""
        for look in ('blobs', 'diffs', 'params', 'data', 'forward', 'update', 'copy', 'callback', 'share', 'test'):
            fast, plain = self.open(FUSED, test_interval=7), self.open(FUSED, test_interval=7)
            held = [b.data for b in plain.net.blobs.values()]
            for _ in range(12):
                fast.step(1)
                plain.step(1)
                self.assertEqual(fast.net.blobs['loss'].data, plain.net.blobs['loss'].data)  # outputs are kept, bit by bit
            for s in fast, plain:
                net, w = s.net, s.net.params
                if look == 'params':
                    w['conv1'][0].data[...] += 1
                    w['conv1'][0].diff[...] = 5
                if look == 'data':
                    net.blobs['data'].data[...] = 3
                if look == 'update':
                    s.apply_update()
                if look == 'copy':
                    file = os.path.join(self.dir, 'w')
                    if s is fast:
                        net.save(file)
                    s.test_nets[0].copy_from(file)
                if look == 'callback':
                    seen = []
                    s.add_callback(lambda: seen.append(net.blobs['conv1'].data.copy()), lambda: None)
                    s.step(1)
                if look == 'share':
                    other = self.net(FUSED)
                    other.share_with(net)
                    other.params['ip'][0].data[...] = 0
                if look == 'test':
                    s.test_nets[0].forward()
                    s.test_nets[0].params['ip'][0].data[...] = 0
            if look == 'diffs':
                np.testing.assert_allclose(fast.net.blobs['conv1'].diff, plain.net.blobs['conv1'].diff, atol=1e-6)
            if look == 'forward':
                np.testing.assert_array_equal(fast.net.forward(start='conv1')['loss'], plain.net.forward(start='conv1')['loss'])
            for name, blob in plain.net.blobs.items():
                np.testing.assert_allclose(fast.net.blobs[name].data, blob.data, atol=2e-6, rtol=1e-5, err_msg=look + ' ' + name)
                if blob.diff.any():
                    np.testing.assert_allclose(fast.net.blobs[name].diff, blob.diff, atol=1e-6, rtol=1e-4, err_msg=look + ' ' + name)
            for _ in range(3):
                fast.step(1)
                plain.step(1)
                for name, blob in plain.net.blobs.items():
                    np.testing.assert_array_equal(fast.net.blobs[name].data, blob.data, look + ' ' + name)
            for name, blobs in plain.net.params.items():
                for a, b in zip(fast.net.params[name], blobs):
                    np.testing.assert_array_equal(a.data, b.data, look + ' ' + name)
                    np.testing.assert_array_equal(a.diff, b.diff, look + ' ' + name)
            self.assertTrue(held)

    def test_views_follow_training(self):
        """A view that is made once shows the values of every later iteration."""
        solver = self.open(FUSED)
        solver.step(20)
        views = {name: (b.data, b.diff) for name, b in solver.net.blobs.items()}
        weights = solver.net.params['conv1'][0].data
        before = weights.copy()
        for n in 1, 20:
            solver.step(n)
            for name, (data, diff) in views.items():
                self.assertTrue(np.shares_memory(data, solver.net.blobs[name].data), name)
                self.assertTrue(np.shares_memory(diff, solver.net.blobs[name].diff), name)
        self.assertFalse(np.array_equal(weights, before))
        conv = solver.net.forward(end='conv1')['conv1']
        self.assertTrue(np.shares_memory(conv, views['conv1'][0]))

    def test_test_nets(self):
        solver = self.open()
        test = solver.test_nets[0]
        self.assertEqual(len(solver.test_nets), 1)
        self.assertFalse(np.array_equal(test.params['ip'][0].data, solver.net.params['ip'][0].data))
        solver.step(1)  # begins with a test
        np.testing.assert_array_equal(test.params['ip'][0].data, solver.net.params['ip'][0].data)
        test.forward()
        test.backward()
        self.assertTrue(test.blobs['ip'].diff.any())
        self.assertIs(solver.net, solver.net)

    def test_apply_update(self):
        solver = self.open(weight_decay=0)
        w = solver.net.layers[1].blobs[0]
        w.data[...] = 0
        w.diff[...] = 1
        solver.apply_update()
        np.testing.assert_allclose(w.data, -0.01, rtol=1e-6)
        self.assertEqual(solver.iter, 1)

    def test_training_by_hand(self):
        """Passes and updates by hand are iterations: they count, and so learning rates and Adam's corrections follow."""
        for kind in 'SGD', 'Adam':
            fields = dict(type=kind, lr_policy='step', stepsize=2, gamma=0.1, test_initialization=False)
            hand, step = self.open(**fields), self.open(**fields)
            for _ in range(5):
                hand.net.clear_param_diffs()
                hand.net.forward()
                hand.net.backward()
                hand.apply_update()
            step.step(5)
            self.assertEqual((hand.iter, hand.lr), (5, step.lr))
            for a, b in zip(hand.net.params['ip'], step.net.params['ip']):
                np.testing.assert_allclose(a.data, b.data, rtol=1e-5, atol=1e-6)
            hand.snapshot()
            step.restore(os.path.join(self.dir, 'model_iter_5.solverstate'))
            self.assertEqual(step.iter, 5)

    def test_share_weights(self):
        solver, net = self.open(), self.net(phase=caffe.TEST)
        solver.share_weights(net)
        solver.net.params['ip'][0].data[...] = 3
        self.assertTrue((net.params['ip'][0].data == 3).all())
        solver.step(1)
        np.testing.assert_array_equal(net.params['ip'][0].data, solver.net.params['ip'][0].data)
        self.assertRaises(TypeError, solver.share_weights, 3)
        self.assertRaises(TypeError, solver.share_weights)

    def test_hooks(self):
        """A net's hooks are called by its solver too, between callbacks, and see the blobs of that moment."""
        for kind in SMALL, FUSED:
            solver, plain, seen, values = self.open(kind, test_iter=2), self.open(kind, test_iter=2), [], []
            solver.step(1)
            plain.step(1)
            net, test = solver.net, solver.test_nets[0]
            first, last = list(net.blobs)[2], len(net.layers) - 1  # first: the top of layer 1
            for name in 'before_forward', 'after_forward', 'before_backward', 'after_backward':
                getattr(net, name)(lambda i, name=name: seen.append((name, i)))
            net.after_forward(lambda i: i == 1 and values.append(net.blobs[first].data.copy()))
            test.after_forward(lambda i: seen.append(('test', i)))
            solver.add_callback(lambda: seen.append('start'), lambda: seen.append('ready'))
            solver.step(2)
            plain.step(2)
            forward = [(k + '_forward', i) for i in range(last + 1) for k in ('before', 'after')]
            backward = [(k + '_backward', i) for i in range(last, -1, -1) for k in ('before', 'after')]
            self.assertEqual(seen, 2 * ['start', *forward, *backward, 'ready'])
            np.testing.assert_allclose(values[1], plain.net.blobs[first].data, atol=2e-6, rtol=1e-5)
            for a, b in zip(net.params['ip'], plain.net.params['ip']):
                np.testing.assert_array_equal(a.data, b.data)
            del seen[:]
            solver.step(8)
            self.assertEqual([s for s in seen if s[0] == 'test'], 2 * [('test', i) for i in range(len(test.layers))])

            def fails(i):
                raise LookupError('hook')
            test.before_forward(fails)
            solver.step(9)
            self.assertRaisesRegex(LookupError, 'hook', solver.step, 1)

    def test_callbacks_that_refer_to_their_solver(self):
        """A solver with callbacks and hooks that hold it goes when nobody else does."""
        solver = self.open()
        solver.add_callback(lambda: solver.iter, lambda: None)
        solver.net.before_forward(lambda i: solver.net.blobs)
        solver.step(1)
        gone = weakref.ref(solver), weakref.ref(solver.net)
        del solver
        gc.collect()
        self.assertEqual([r() for r in gone], [None, None])

    def test_callbacks(self):
        solver, seen = self.open(), []
        w = solver.net.params['ip'][1]
        solver.add_callback(lambda: seen.append(('start', w.data.copy())), lambda: seen.append(('ready', w.diff.copy())))
        solver.add_callback(lambda: seen.append(('second', None)), lambda: None)
        solver.step(3)
        self.assertEqual([k for k, _ in seen], ['start', 'second', 'ready'] * 3)
        self.assertFalse(np.array_equal(seen[0][1], seen[3][1]))
        self.assertTrue(seen[2][1].any())
        for wrong in (None, print), (print, 3):
            self.assertRaises(TypeError, solver.add_callback, *wrong)
        self.assertRaises(TypeError, solver.add_callback)

        def fails():
            raise LookupError('callback')
        solver.add_callback(lambda: None, fails)
        self.assertRaisesRegex(LookupError, 'callback', solver.step, 1)
        self.assertEqual(solver.iter, 3)

    def test_nets_in_callbacks(self):
        """A callback may run the solver's nets, but not the solver. The iteration goes on with what the callback has left."""
        solver, seen = self.open(test_interval=1000, momentum=0, weight_decay=0), []
        net, test = solver.net, solver.test_nets[0]
        solver.step(1)
        before = net.params['ip'][1].data.copy()

        def start():
            self.assertEqual(test.forward()['loss'].shape, ())
            np.testing.assert_array_equal(test.params['ip'][1].data, net.params['ip'][1].data)
            for run in lambda: solver.step(1), solver.solve, solver.apply_update, lambda: solver.restore('x'):
                self.assertRaisesRegex(RuntimeError, 'running: a layer, hook or callback cannot run it again', run)
            seen.append(solver.iter)

        def ready():
            net.clear_param_diffs()
            net.forward()
            net.backward()
            seen.append(net.params['ip'][1].diff.copy())
        solver.add_callback(start, ready)
        solver.step(1)
        self.assertEqual((seen[0], solver.iter), (1, 2))
        np.testing.assert_allclose(net.params['ip'][1].data, before - solver.lr * seen[1], rtol=1e-4, atol=1e-6)
        other = self.open()
        other.net.before_forward(lambda i: other.test_nets[0].forward())  # in the middle of a run
        self.assertRaisesRegex(RuntimeError, 'running: a layer, hook or callback cannot run it again', other.step, 1)

    def test_gradients_changed_by_a_callback(self):
        solver = self.open(momentum=0, weight_decay=0)
        w = solver.net.params['ip'][1]
        solver.add_callback(lambda: None, lambda: w.diff.fill(1))
        before = w.data.copy()
        solver.step(1)
        np.testing.assert_allclose(w.data, before - 0.01, rtol=1e-5)

    def test_snapshot_and_restore(self):
        a = self.open()
        a.step(7)
        a.snapshot()
        state, model = (os.path.join(self.dir, 'model_iter_7.' + e) for e in ('solverstate', 'caffemodel'))
        self.assertTrue(os.path.isfile(state) and os.path.isfile(model))
        a.step(5)
        b = self.open()
        b.restore(state)
        self.assertEqual(b.iter, 7)
        b.step(5)
        for x, y in zip(a.net.params['ip'], b.net.params['ip']):
            np.testing.assert_array_equal(x.data, y.data)
        c = self.open()
        c.solve(state)
        self.assertEqual(c.iter, 100)
        for f in b.restore, b.solve:
            self.assertRaisesRegex(RuntimeError, 'could not open file /nowhere', f, '/nowhere')
        self.assertRaises(RuntimeError, b.restore, model)

    def test_param(self):
        solver = self.open()
        p = solver.param
        self.assertEqual((p.max_iter, p.display, p.layer_wise_reduce), (100, 100, True))
        self.assertAlmostEqual(p.base_lr, 0.01, places=7)
        self.assertAlmostEqual(solver.lr, 0.01, places=7)
        p.base_lr = 0.5
        self.assertEqual((p.base_lr, solver.lr), (0.5, 0.5))
        p.max_iter, p.display = 12, 0
        solver.solve()
        self.assertEqual(solver.iter, 12)
        self.assertAlmostEqual(solver.lr, 0.5 * (1 + 0.0001 * 12) ** -0.75, places=6)
        with self.assertRaises(AttributeError):
            p.layer_wise_reduce = False
        with self.assertRaises((TypeError, ValueError)):
            p.base_lr = 'fast'
        self.assertRaises(RuntimeError, type(p))
        self.assertEqual(self.open().param.max_iter, 100)  # it keeps its solver

    def test_iteration(self):
        solver = self.open(max_iter=5)
        seen = list(solver)
        self.assertEqual([i.iteration for i in seen], [1, 2, 3, 4, 5])
        self.assertIsInstance(seen[0], Iteration)
        self.assertAlmostEqual(seen[4].loss, float(solver.net.blobs['loss'].data), places=5)
        self.assertAlmostEqual(seen[4].rate, 0.01 * (1 + 0.0001 * 4) ** -0.75, places=6)
        self.assertEqual(list(solver), [])

    def test_repr(self):
        solver = self.open()
        self.assertEqual(repr(solver), "<caffe.SGDSolver, net 'small', iteration 0 of 100>")
        self.assertEqual(repr(solver.param), '<caffe.SolverParameter max_iter=100 base_lr=0.01 display=100>')

    def test_seed(self):
        losses = []
        for seed in 1, 1, 2:
            caffe.set_random_seed(seed)
            losses.append(float(self.net().forward()['loss']))
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])


class Threads(Case):
    def test_solver_in_a_thread(self):
        solver = caffe.get_solver(self.solver(FUSED, max_iter=100000))
        errors = []

        def work():
            try:
                solver.step(100000)
            except RuntimeError as e:
                errors.append(e)
        stop = []
        solver.add_callback(lambda: stop and stop[0](), lambda: None)
        thread = threading.Thread(target=work)
        thread.start()
        while solver.iter < 3:  # progress can be watched
            time.sleep(0.001)
        for use in lambda: solver.step(1), solver.snapshot, lambda: solver.net.blobs['conv1'].data, solver.net.forward, solver.apply_update:
            self.assertRaisesRegex(RuntimeError, 'in use by another thread', use)
        other = self.net()
        for _ in range(5):
            other.forward()  # another net gets its turn

        def end():
            raise RuntimeError('enough')
        stop.append(end)
        thread.join(20)
        self.assertEqual([str(e) for e in errors], ['enough'])


@unittest.skipIf(sys.platform == 'win32', 'signals of Unix')
class CtrlC(Case):
    CODE = '''
import os, signal, sys, threading, time
import numpy as np, caffe
solver = caffe.get_solver(sys.argv[1])
def press():
    while solver.iter < 20: time.sleep(0.002)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
try:
    getattr(solver, sys.argv[2])(*map(int, sys.argv[3:]))
    print('not stopped')
except KeyboardInterrupt:
    pass
done = solver.iter
print(20 <= done < 90000)
plain = caffe.get_solver(sys.argv[1])
held = [b.data for b in plain.net.blobs.values()]
plain.step(done)
def same(a, b): return all(np.array_equal(x.data, y.data) for x, y in zip(a, b))
print(same(solver.net.blobs.values(), plain.net.blobs.values()), same(solver.net.params['conv1'], plain.net.params['conv1']))
solver.step(5); plain.step(5)
print(same(solver.net.params['conv1'], plain.net.params['conv1']))
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
'''

    def test_ctrl_c(self):
        """Ctrl-C ends step and solve between iterations; all blobs and weights are those of the iterations done, and training goes on."""
        file = self.solver(FUSED, max_iter=90000, test_interval=1000000)
        for call in ['step', '90000'], ['solve']:
            run = subprocess.run([sys.executable, '-c', self.CODE, file, *call], capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual((run.returncode, run.stdout.split()), (0, ['True'] * 5), run.stderr)

    def test_own_handler(self):
        """A program's own handler runs while a solver does, and what it raises ends the run."""
        class Alarm(Exception):
            pass

        def ring(*_):
            raise Alarm
        solver = caffe.get_solver(self.solver(FUSED, max_iter=900000))
        before = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        self.assertRaises(Alarm, solver.solve)
        self.assertLess(solver.iter, 900000)


if __name__ == '__main__':
    unittest.main()
