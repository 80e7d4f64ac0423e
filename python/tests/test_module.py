"""The functions and names of the module."""

import ast
import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
import time
import unittest
import warnings

import numpy as np

import caffe
from caffe import _caffe, pycaffe
from common import TIMEOUT, Case


class Module(Case):
    def python(self, code, **env):
        run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=TIMEOUT, env=dict(os.environ, **env))
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def test_names(self):
        for name in ('Net SGDSolver NesterovSolver AdaGradSolver RMSPropSolver AdaDeltaSolver AdamSolver NCCL Timer init_log log set_mode_cpu '
                     'set_mode_gpu set_device Layer get_solver layer_type_list set_random_seed solver_count set_solver_count solver_rank '
                     'set_solver_rank set_multiprocess has_nccl __version__ TRAIN TEST').split():
            self.assertTrue(hasattr(caffe, name), name)
            self.assertIn(name, dir(caffe))
        self.assertEqual((caffe.TRAIN, caffe.TEST), (0, 1))
        self.assertRegex(caffe.__version__, r'^\d+\.\d+\.\d+$')
        self.assertRaises(AttributeError, lambda: caffe.nothing)

    def test_modes(self):
        self.assertIsNone(caffe.set_mode_cpu())
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter('always')
            _caffe._warned.clear()
            for _ in range(2):
                self.assertIsNone(caffe.set_mode_gpu())
                self.assertIsNone(caffe.set_device(3))
        self.assertEqual([w.category for w in seen], [RuntimeWarning] * 2)  # each of them once
        self.assertRegex(str(seen[0].message), r'set_mode_gpu\(\) has no effect: there is no GPU')
        self.assertRegex(str(seen[1].message), r'set_device\(3\) has no effect')
        self.assertEqual(seen[0].filename.rstrip('c'), __file__.rstrip('c'))

    def test_layer_types(self):
        types = caffe.layer_type_list()
        self.assertEqual(types, sorted(types))
        for name in 'Data', 'Convolution', 'InnerProduct', 'Python', 'SoftmaxWithLoss':
            self.assertIn(name, types)

    def test_workers(self):
        self.assertEqual((caffe.solver_count(), caffe.solver_rank(), caffe.has_nccl()), (1, 0, False))
        for call, good, bad in (caffe.set_solver_count, 1, 2), (caffe.set_solver_rank, 0, 1), (caffe.set_multiprocess, False, True):
            self.assertIsNone(call(good))
            self.assertRaisesRegex(RuntimeError, 'no GPU.*-workers', call, bad)
        self.assertRaisesRegex(RuntimeError, 'no GPU.*-workers', caffe.NCCL, None, 'uid')
        self.assertRaisesRegex(RuntimeError, 'no GPU.*-workers', caffe.NCCL.new_uid)

    def test_seed(self):
        for wrong in '1', 1.5, None, True:
            self.assertRaises(TypeError, caffe.set_random_seed, wrong)
        for good in 0, -1, 1 << 70:
            caffe.set_random_seed(good)

    def test_precision(self):
        """bf16 and int8 change results a little, of nets that are opened from then on; with None a net's own precision counts."""
        for wrong, error in ((1, TypeError), ('', ValueError), ('fp8', ValueError)):
            self.assertRaises(error, caffe.set_precision, wrong)
        path = self.write("""
            layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 32 dim: 6 dim: 6 } } }
            layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 48 kernel_size: 1 weight_filler { type: "msra" } }
              quantization_param { input_scale: 0.03 input_zero_point: 128 weight_scale: 0.01 } }
            """, 'precise.prototxt')
        with open(path) as f:
            own = self.write(f.read() + 'precision: INT8', 'own.prototxt')
        x = np.random.RandomState(1).randn(1, 32, 6, 6).astype(np.float32)
        results = []
        try:
            for precision, model in (('fp32', path), ('bf16', path), ('fp32', own), ('int8', path), (None, own), (None, path)):
                caffe.set_random_seed(1)
                caffe.set_precision(precision)
                net = caffe.Net(model, caffe.TEST)
                net.blobs['x'].data[...] = x
                results.append(net.forward()['c'].copy())
        finally:
            caffe.set_precision(None)
        for same in (0, 2, 5), (3, 4):
            for i in same[1:]:
                self.assertTrue(np.array_equal(results[same[0]], results[i]), i)
        for i in 1, 3:
            self.assertFalse(np.array_equal(results[0], results[i]))
            self.assertLess(np.abs(results[0] - results[i]).max(), 0.05 * np.abs(results[0]).max())

    def test_timer(self):
        t = caffe.Timer()
        self.assertEqual(t.ms, 0)
        t.start()
        time.sleep(0.02)
        self.assertGreater(t.ms, 0)
        t.stop()
        self.assertGreaterEqual(t.ms, 19)
        self.assertAlmostEqual(t.us, 1000 * t.ms)
        ms = t.ms
        t.stop()
        self.assertEqual(t.ms, ms)

    def test_log(self):
        code = 'import caffe; %s; caffe.log("a line"); caffe.log("of two\\nlines")'
        self.assertRegex(self.python(code % '0', GLOG_minloglevel='0').stderr, r'^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.go:\d+\] a line\nI.*\] of two\n    lines\n$')
        self.assertEqual(self.python(code % '0', GLOG_minloglevel='1').stderr, '')
        self.assertEqual(self.python(code % 'caffe.init_log(2)', GLOG_minloglevel='0').stderr, '')
        self.assertIn('a line', self.python(code % 'caffe.init_log(0, True)', GLOG_minloglevel='2').stderr)
        self.assertIn('a line', self.python(code % 'caffe.init_log()', GLOG_minloglevel='2').stderr)
        self.assertIn('a line', self.python('import os; os.environ["GLOG_minloglevel"] = "0"\n' + code % '0', GLOG_minloglevel='2').stderr)
        self.assertRaises(TypeError, caffe.log, 3)
        self.assertRaises((TypeError, ValueError), caffe.init_log, 'loud')

    def test_log_without_reader(self):
        """A log that nobody reads does not end the process."""
        code = '''
import os, sys, caffe
r, w = os.pipe(); os.close(r); os.dup2(w, 2)
for _ in range(3): caffe.log("lost")
print("alive")'''
        self.assertEqual(self.python(code, GLOG_minloglevel='0').stdout, 'alive\n')

    def test_other_name(self):
        code = '''
import swcaffe, caffe, sys
import swcaffe.pycaffe as p, swcaffe._caffe
from swcaffe.pycaffe import Net
assert swcaffe is caffe and p is caffe.pycaffe and Net is caffe.Net and swcaffe._caffe is sys.modules['caffe._caffe']
assert p.__spec__.name == 'caffe.pycaffe', p.__spec__
try:
    import swcaffe.nothing
except ModuleNotFoundError as e:
    print(e)'''
        self.assertIn('nothing', self.python(code).stdout)

    def test_library_missing(self):
        run = subprocess.run([sys.executable, '-c', 'import caffe'], capture_output=True, text=True, env=dict(os.environ, SWCAFFE_LIBRARY='/nowhere.so'))
        self.assertIn('ImportError: /nowhere.so is missing: build it with "go build', run.stderr)

    def test_import_needs_numpy_alone(self):
        code = '''
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('google', 'scipy', 'skimage', 'PIL', 'h5py', 'six', 'yaml', 'pandas'): raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import numpy as np

import caffe
caffe.layer_type_list()'''
        self.python(code)

    def modules(self):
        """Return the modules with public names."""
        names = '_blob _layer _caffe pycaffe dnn dnn._images dnn._boxes dnn._net dnn._models dnn._install'.split()
        try:
            import google.protobuf
            names += 'io net_spec classifier detector draw coord_map'.split()
        except ImportError:
            names += 'io'.split()
        return [caffe] + [importlib.import_module('caffe.' + name) for name in names]

    def test_docs(self):
        """Every public class, function and method has a docstring."""
        for module in self.modules():
            self.assertTrue(module.__doc__)
            for name, value in vars(module).items():
                if name.startswith('_') or not (inspect.isclass(value) or inspect.isfunction(value)) or not value.__module__.startswith('caffe'):
                    continue
                self.assertTrue(value.__doc__, name)
                for method, f in vars(value).items() if inspect.isclass(value) else ():
                    if not method.startswith('_') and (inspect.isfunction(f) or isinstance(f, property)):
                        self.assertTrue(inspect.getdoc(f), '%s.%s' % (name, method))

    def test_types(self):
        """Every public method of what Caffe's users call is in the stubs, with the same arguments."""
        folder = os.path.dirname(caffe.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, 'py.typed')))
        for module in self.modules():
            with open(os.path.splitext(module.__file__)[0] + '.pyi') as f:
                tree = ast.parse(f.read())
            typed = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
            known = {*typed, *(a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names)}
            known.update(n.target.id for n in tree.body if isinstance(n, ast.AnnAssign))
            for name in dir(module):
                value = getattr(module, name)
                ours = not inspect.ismodule(value) or value.__name__.startswith('caffe.') and module is caffe
                if module is caffe and ours or getattr(value, '__module__', '') == module.__name__:
                    self.assertTrue(name.startswith('_') or name in known, '%s.%s is not in the stub' % (module.__name__, name))
            for name, value in vars(module).items():
                if name.startswith('_') or getattr(value, '__module__', None) != module.__name__:
                    continue
                if inspect.isfunction(value):
                    self.same_arguments(name, value, typed[name])
                elif inspect.isclass(value) and not issubclass(value, tuple):
                    methods = {n.name: n for n in typed[name].body if isinstance(n, ast.FunctionDef)}
                    for method, f in vars(value).items():
                        f = f.__func__ if isinstance(f, staticmethod) else f
                        if method.startswith('_') or not (inspect.isfunction(f) or isinstance(f, property)):
                            continue
                        self.assertIn(method, methods, name)
                        if inspect.isfunction(f):
                            self.same_arguments(name + '.' + method, f, methods[method])

    @unittest.skipUnless(importlib.util.find_spec('mypy'), 'needs mypy (Debian: mypy)')
    def test_types_of_a_program(self):
        """mypy --strict finds no fault in a program that uses the module, and finds the faults of another."""
        program = os.path.join(os.path.dirname(__file__), 'typed_program.py')
        wrong = self.write('import caffe\nnet = caffe.Net("a", caffe.TEST)\nnet.forwrad()\ncaffe.set_random_seed("x")\nx: str = net.blobs["a"].data\n', 'wrong.py')
        folder = os.path.dirname(os.path.dirname(caffe.__file__))
        environment = dict(os.environ)
        if not folder.endswith('site-packages'):
            environment['MYPYPATH'] = folder
        # mypy reads numpy's types for some seconds. It keeps what it has read.
        cache = os.environ.get('SWCAFFE_MYPY_CACHE', os.path.join(self.dir, 'cache'))
        run = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--cache-dir', cache, program, wrong], capture_output=True, text=True, env=environment)
        faults = [line.rpartition('  [')[2] for line in run.stdout.splitlines() if 'error:' in line]
        self.assertEqual(faults, ['attr-defined]', 'arg-type]', 'assignment]'], run.stdout + run.stderr)
        self.assertNotIn('typed_program', run.stdout)

    def same_arguments(self, name, f, typed):
        a = typed.args
        self.assertEqual(list(inspect.signature(f).parameters), [x.arg for x in a.posonlyargs + a.args + [v for v in [a.vararg] if v] + a.kwonlyargs + [v for v in [a.kwarg] if v]], name)


if __name__ == '__main__':
    unittest.main()
