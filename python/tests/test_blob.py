"""Blobs: shapes, views, and how long the memory of a view lasts."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import unittest
import weakref

import numpy as np

import caffe
from caffe._library import call
from common import INPUT, SMALL, TIMEOUT, Case


class Shapes(Case):
    def setUp(self):
        super().setUp()
        self.blob = self.net(INPUT).blobs['data']

    def test_shape(self):
        b = self.blob
        self.assertEqual((b.shape, b.count, b.num, b.channels, b.height, b.width), ((4, 6), 24, 4, 6, 1, 1))
        for name in 'data', 'diff':
            a = getattr(b, name)
            self.assertEqual((a.shape, a.dtype, a.flags.c_contiguous, a.flags.writeable), ((4, 6), np.float32, True, True))
            with self.assertRaises(AttributeError):
                setattr(b, name, a)

    def test_reshape(self):
        b = self.blob
        for shape in (), (1,), (0,), (2, 0, 3), (2, 3, 4, 5), (np.int64(7), 2), (1,) * 32:
            b.reshape(*shape)
            self.assertEqual((b.shape, b.data.shape, b.diff.shape), (tuple(shape),) * 3)
        b.reshape()
        b.data[()] = 3
        self.assertEqual(b.data, 3)
        for error, shape in ((ValueError, (-1,)), (ValueError, (1,) * 33), (ValueError, (1 << 20, 1 << 20)), (ValueError, (1 << 70,)), (TypeError, (1.5,)),
                             (TypeError, ('3',)), (TypeError, ((3, 4),)), (TypeError, (None,))):
            with self.assertRaises(error, msg=shape):
                b.reshape(*shape)
        self.assertRaises(RuntimeError, lambda: b.reshape(shape=(3,)))
        self.assertEqual(b.shape, ())  # a refused shape changes nothing

    def test_legacy_axes(self):
        self.blob.reshape(1, 2, 3, 4, 5)
        for name in 'num', 'channels', 'height', 'width':
            self.assertRaises(ValueError, getattr, self.blob, name)

    def test_no_blobs_from_nothing(self):
        self.assertRaises(RuntimeError, type(self.blob))

    def test_views_show_the_same_memory(self):
        b = self.blob
        a, c = b.data, b.data
        a[1, 2] = 5
        self.assertEqual(c[1, 2], 5)
        b.diff[...] = 7
        self.assertEqual(a[1, 2], 5)


class Lifetimes(Case):
    def counts(self):
        gc.collect()
        return call('counts')

    def test_views_outlive_everything(self):
        before = self.counts()
        net = self.net()
        net.forward()
        views = {name: (b.data, b.data.copy()) for name, b in net.blobs.items()}
        part = net.params['ip'][0].data[3:, ::2].T  # a view of a view
        want = part.copy()
        blob = net.blobs['conv']
        closed = weakref.ref(net)
        del net
        self.assertIsNone(closed())
        others = [self.net() for _ in range(20)]  # use the memory, if it is free
        for n in others:
            n.forward()
        del others, n
        for view, copy in views.values():
            np.testing.assert_array_equal(view, copy)
        np.testing.assert_array_equal(part, want)
        np.testing.assert_array_equal(blob.data, views['conv'][1])
        blob.data[...] = 0
        self.assertFalse(views['conv'][0].any())
        del views, view, copy, part, blob
        self.assertEqual(self.counts(), before)

    def test_views_of_blobs_that_change_shape(self):
        b = self.net(INPUT).blobs['data']
        b.data[...] = 3
        small = b.data
        b.reshape(2, 6)
        self.assertTrue(np.shares_memory(small, b.data))  # smaller: the same memory
        b.reshape(400, 600)
        b.data[...] = 1
        self.assertFalse(np.shares_memory(small, b.data))  # larger: new memory, and the view keeps the old one
        self.assertTrue((small == 3).all())

    def test_views_outlive_the_solver(self):
        solver = caffe.SGDSolver(self.solver())
        solver.step(3)
        net, view = solver.net, solver.net.blobs['conv'].data
        tests, want = solver.test_nets, view.copy()
        del solver
        gc.collect()
        np.testing.assert_array_equal(view, want)
        net.forward()
        tests[0].forward()

    def test_close(self):
        with self.net() as net:
            loss = net.forward()['loss']
            blob = net.blobs['ip']
        for use in net.forward, net.backward, net.reshape, net.clear_param_diffs, lambda: net.save('x'), net.time:
            self.assertRaisesRegex(ValueError, 'released', use)
        net.close()
        self.assertEqual((blob.data.shape, loss.shape), ((5, 7), ()))

    def test_no_copies_but_of_arrays(self):
        """Copies and pickles of a net's objects would be second owners of its memory. Caffe refuses them, too."""
        net = self.net(INPUT, caffe.TEST)
        solver = caffe.SGDSolver(self.solver())
        for o in net, net.blobs['data'], net.blobs, net.layers[1], net.params['ip'], solver, solver.param:
            for f in pickle.dumps, copy.deepcopy:
                self.assertRaisesRegex(RuntimeError, 'cannot be copied or pickled', f, o)
        for o in net, net.blobs['data'], solver:
            self.assertRaisesRegex(RuntimeError, 'cannot be copied or pickled', copy.copy, o)
        gc.collect()
        a = net.blobs['data'].data
        a[...] = 3
        for b in copy.deepcopy(a), pickle.loads(pickle.dumps(a)):
            a[...] = 5
            self.assertTrue((b == 3).all())
            a[...] = 3
        net.forward()
        solver.step(1)

    def test_blob_of_a_layer_of_a_closed_net(self):
        self.write('''import caffe
class Kept(caffe.Layer):
    def reshape(self, bottom, top):
        top[0].reshape(2)
        self.top = top[0]
    def forward(self, bottom, top): top[0].data[...] = 7
''', 'kept_layers.py')
        sys.path.insert(0, self.dir)
        self.addCleanup(sys.path.remove, self.dir)
        net = self.net('layer { name: "k" type: "Python" top: "k" python_param { module: "kept_layers" layer: "Kept" } }')
        net.forward()
        blob = net.layers[0].top
        view = blob.data
        del net
        gc.collect()
        self.assertTrue((view == 7).all())
        self.assertRaisesRegex(ValueError, 'released', lambda: blob.data)
        self.assertEqual((repr(blob), 'closed net' in blob._repr_html_()), ('<caffe.Blob, of a closed net>', True))

    def test_many_nets_from_two_threads(self):
        """Nets are opened, used and dropped, and views kept and let go at random, while two threads run."""
        file, errors = self.write(SMALL), []

        def work(seed):
            draw, kept = np.random.RandomState(seed), []
            try:
                for i in range(int(os.environ.get('SWCAFFE_PY_NETS', 300)) // 2):
                    net = caffe.Net(file, caffe.TEST)
                    net.forward()
                    blob = net.blobs[['data', 'conv', 'ip', 'loss'][draw.randint(4)]]
                    if draw.rand() < 0.3:
                        blob.reshape(*(n + draw.randint(3) for n in blob.shape))
                    view = blob.data if draw.rand() < 0.5 else net.params['ip'][0].diff
                    value = draw.rand()
                    view[...] = value
                    kept.append((view, np.float32(value)))
                    for _ in range(draw.randint(3)):
                        if kept:
                            view, value = kept.pop(draw.randint(len(kept)))
                            if not (view == value).all():
                                errors.append('a view of %s has lost its values' % (view.shape,))
                    if draw.rand() < 0.3:
                        del net, blob
            except BaseException as e:
                errors.append(e)
        def both():
            threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        before = self.counts()
        both()
        used = resident()
        both()
        self.assertEqual(errors, [])
        self.assertEqual(self.counts(), before)
        self.assertLess(resident() - used, 30e6)


def resident():
    """The process's memory in bytes, 0 where it is unknown."""
    try:
        with open('/proc/self/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
    except OSError:
        return 0


class Processes(Case):
    def python(self, code, *args):
        """Run code in a Python of its own and return what it prints."""
        run = subprocess.run([sys.executable, '-c', code, *args], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    @unittest.skipUnless(hasattr(os, 'fork'), 'no fork on this system')
    def test_fork(self):
        out = self.python('''
import os, sys, caffe
net = caffe.Net(sys.argv[1], caffe.TRAIN)
net.forward()
view = net.blobs['ip'].data
pid = os.fork()
if pid == 0:
    for call in (net.forward, lambda: net.blobs['ip'].data, lambda: caffe.Net(sys.argv[1], caffe.TRAIN), caffe.layer_type_list):
        try:
            call()
            print('no error')
        except RuntimeError as e:
            print('spawn' in str(e))
    print(view.sum() != 0, flush=True)
    del net, view
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
net.forward()
print('parent')
''', self.write(SMALL))
        self.assertEqual(out.split(), ['True'] * 5 + ['parent'])

    @unittest.skipUnless(hasattr(os, 'fork'), 'no fork on this system')
    def test_fork_before_use(self):
        """A program that only imports the module and makes layers' classes forks children that open nets, as scripts with a Pool do."""
        out = self.python('''
import multiprocessing, sys, caffe, caffe.io, caffe.dnn
from caffe import layers as L, params as P
try:
    from caffe.proto import caffe_pb2
except ImportError:  # no protobuf
    pass
class Layer(caffe.Layer): pass
caffe.set_mode_cpu()
caffe.io.Transformer({'data': (1, 3, 4, 4)}).set_transpose('data', (2, 0, 1))
def loss(file):
    caffe.set_random_seed(1)
    return float(caffe.Net(file, caffe.TRAIN).forward()['loss'])
with multiprocessing.get_context('fork').Pool(2) as pool:
    print(len(set(pool.map(loss, [sys.argv[1]] * 3))))
print(loss(sys.argv[1]) > 0)
''', self.write(SMALL))
        self.assertEqual(out.split(), ['1', 'True'])

    @unittest.skipUnless(hasattr(os, 'fork'), 'no fork on this system')
    def test_fork_in_a_layer(self):
        """A layer may fork processes that end by themselves, as prefetching data layers do. One that returns to the engine ends."""
        self.write('''import os, sys, caffe
class Forks(caffe.Layer):
    def reshape(self, bottom, top): top[0].reshape(1)
    def forward(self, bottom, top):
        for ends in True, False:
            child = os.fork()
            if child == 0 and ends: os._exit(7)
            if child == 0: return
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
''', 'forks_layers.py')
        out = self.python('''
import sys
sys.path.insert(0, sys.argv[1])
import caffe
open(sys.argv[1] + '/f.prototxt', 'w').write('layer { name: "f" type: "Python" top: "f" python_param { module: "forks_layers" layer: "Forks" } }')
net = caffe.Net(sys.argv[1] + '/f.prototxt', caffe.TEST)
net.forward()
print('parent')
''', self.dir)
        self.assertEqual(out.split(), ['7', '1', 'parent'])

    def test_spawn(self):
        script = self.write('''
import multiprocessing, sys, caffe
def loss(file):
    caffe.set_random_seed(1)
    return float(caffe.Net(file, caffe.TRAIN).forward()['loss'])
if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(2) as pool:
        print(len(set(pool.map(loss, [sys.argv[1]] * 3))), flush=True)
''', 'spawns.py')
        run = subprocess.run([sys.executable, script, self.write(SMALL)], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual((run.returncode, run.stdout.strip()), (0, '1'), run.stderr)

    def test_end_of_the_interpreter(self):
        """Objects that are left at the end, and a thread that is inside the library, do no harm."""
        self.write('''import caffe, time
class Slow(caffe.Layer):
    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): top[0].reshape(1)
    def forward(self, bottom, top): time.sleep(0.01)
''', 'slow.py')
        out = self.python('''
import sys, threading, time
sys.path.insert(0, sys.argv[2])
import caffe
net = caffe.Net(sys.argv[1], caffe.TRAIN)
view = net.blobs['ip'].data
class Holder:
    def __init__(self): self.net, self.me = caffe.Net(sys.argv[1], caffe.TRAIN), self
holder = Holder()
open(sys.argv[2] + '/slow.prototxt', 'w').write('layer { name: "s" type: "Python" top: "s" python_param { module: "slow" layer: "Slow" } }')
slow = caffe.Net(sys.argv[2] + '/slow.prototxt', caffe.TRAIN)
def work():
    while True: slow.forward()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
print('end', flush=True)
''', self.write(SMALL), self.dir)
        self.assertEqual(out, 'end\n')


if __name__ == '__main__':
    unittest.main()
