"""The scripts classify.py, detect.py, draw_net.py and train.py, as programs."""

import csv
import os
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np

from images import png
from test_classifier import WithFiles

try:
    import google.protobuf
except ImportError:
    google = None

# The wheel installs the scripts beside its interpreter. In a checkout they are in the folder above.
INSTALLED, CHECKOUT = os.path.dirname(sys.executable), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def program(name):
    path = os.path.join(INSTALLED, name)
    return path if os.path.exists(path) else os.path.join(CHECKOUT, name)


class TestScripts(WithFiles):
    def setUp(self):
        WithFiles.setUp(self)
        self.images = np.random.RandomState(6).randint(0, 256, (2, 6, 6, 3)).astype(np.uint8)
        for i, image in enumerate(self.images):
            with open(self.path('%d.png' % i), 'wb') as f:
                f.write(png(image))

    def run_script(self, name, *arguments, fails=False):
        done = subprocess.run([sys.executable, program(name)] + list(arguments), cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode != 0, fails, done.stderr)
        return done.stdout + done.stderr

    def net(self):
        return ['--model_def', self.model, '--pretrained_model', self.weights]

    def test_classify(self):
        with open(self.path('labels.txt'), 'w') as f:
            f.write('first class\nsecond class\nthird class\n')
        out = self.run_script('classify.py', *self.net(), '--images_dim', '6,6', '--center_only', '--ext', 'png', '--labels_file',
                              'labels.txt', '--print_results', self.folder, 'scores.npy')
        scores = np.load(self.path('scores.npy')).reshape(2, 3)
        np.testing.assert_allclose(scores, self.images.mean((1, 2))[:, ::-1], rtol=1e-4)
        best = ['first', 'second', 'third'][scores[0].argmax()]
        self.assertIn('%.5f  %s class' % (scores[0].max(), best), out)
        self.assertIn('no images ending in .bmp', self.run_script(
            'classify.py', *self.net(), '--ext', 'bmp', self.folder, 'scores.npy', fails=True))

    def test_what_would_lose_scores(self):
        """What would end a script after it has computed for hours ends it before."""
        with open(self.path('labels.txt'), 'w') as f:
            f.write('one\ntwo\n')
        with open(self.path('windows.csv'), 'w') as f:
            f.write('filename,xmin,ymin,xmax,ymax\n0.png,1,0,5,6\n')
        os.mkdir(self.path('pandas'))  # a module that fails, here as where pandas is missing
        with open(self.path('pandas/__init__.py'), 'w') as f:
            f.write('raise ImportError("no pandas here")')
        classify = ['classify.py', *self.net(), '--images_dim', '6,6', '0.png']
        detect = ['detect.py', *self.net(), '--crop_mode', 'list', '--context_pad', '0', 'windows.csv']
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [self.folder, os.environ.get('PYTHONPATH')]))):
            for words, want in (
                (classify + ['nowhere/scores.npy'], 'there is no folder'),
                (classify + ['pandas'], 'pandas is a folder'),
                (classify + ['scores.npy', '--print_results', '--labels_file', 'labels.txt'], 'labels.txt: 2 labels for 3 classes'),
                (classify + ['scores.npy', '--print_results', '--labels_file', 'labels.csv'], "No such file or directory: 'labels.csv'"),
                (detect + ['nowhere/out.csv'], 'there is no folder'),
                (detect + ['out.h5'], 'out.h5: files .h5 need pandas and PyTables: no pandas here'),
            ):
                out = self.run_script(*words, fails=True)
                self.assertIn(want, out)
                self.assertNotIn('Classifying', out)
                self.assertNotIn('Processed', out)
        out = self.run_script('classify.py', *self.net(), '--images_dim', '6,6', '0.png', 'scores.npy', '--print_results')
        self.assertRegex(out, r'(?m)^  \d+\.\d{5}  [012]$')

    def test_detect(self):
        with open(self.path('windows.csv'), 'w') as f:
            f.write('filename, xmin, ymin, xmax, ymax\n0.png, 1, 0, 5, 6\n1.png, 0, 0, 6, 3\n0.png, 0, 0, 6, 6\n')
        for out in ('out.csv', 'out.npz'):
            self.run_script('detect.py', *self.net(), '--crop_mode', 'list', '--context_pad', '0', 'windows.csv', out)
        with open(self.path('out.csv'), newline='') as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([r['filename'] for r in rows], ['0.png', '0.png', '1.png'])
        self.assertEqual([rows[0][s] for s in ('ymin', 'xmin', 'ymax', 'xmax')], ['0', '1', '6', '5'])
        scores = np.array([[float(r['class%d' % i]) for i in range(3)] for r in rows])
        np.testing.assert_allclose(scores[1], self.images[0].mean((0, 1))[::-1], rtol=1e-4)
        np.testing.assert_allclose(np.load(self.path('out.npz'))['prediction'], scores, rtol=1e-6)
        self.assertIn('must end in .csv, .npz or .h5', self.run_script(
            'detect.py', *self.net(), '--crop_mode', 'list', 'windows.csv', 'out.txt', fails=True))
        with open(self.path('windows.csv'), 'w') as f:
            f.write('filename,xmin\n')
        self.assertIn('names no xmax, ymax, ymin', self.run_script(
            'detect.py', *self.net(), '--crop_mode', 'list', '--context_pad', '0', 'windows.csv', 'out.csv', fails=True))

    @unittest.skipUnless(google, 'needs python3-protobuf')
    def test_draw_net(self):
        self.run_script('draw_net.py', '--rankdir', 'TB', self.model, 'net.svg')
        with open(self.path('net.svg')) as f:
            self.assertIn('score', f.read())

    def test_train(self):
        with open(self.path('train.prototxt'), 'w') as f:
            f.write('''
                layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 64 dim: 512 } shape { dim: 64 dim: 64 }
                  data_filler { type: "gaussian" } data_filler { value: 2 } } }
                layer { name: "line" type: "InnerProduct" bottom: "x" top: "line" inner_product_param { num_output: 64 } }
                layer { name: "loss" type: "EuclideanLoss" bottom: "line" bottom: "y" top: "loss" }''')
        with open(self.path('solver.prototxt'), 'w') as f:
            f.write('net: "train.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 20 display: 10 snapshot: 20 snapshot_prefix: "s" '
                    'random_seed: 1')
        log = self.run_script('train.py', '--solver', 'solver.prototxt', '--timing')
        self.assertTrue(os.path.exists(self.path('s_iter_20.solverstate')))
        self.assertRegex(log, r'iteration 10: [0-9.]+ ms')
        self.assertRegex(log, r'line +forward +[0-9.]*[1-9][0-9.]* ms, backward +[0-9.]*[1-9]')
        self.run_script('train.py', '--solver', 'solver.prototxt', '--snapshot', 's_iter_20.solverstate')
        self.assertIn('swcaffe train -workers 2', self.run_script(
            'train.py', '--solver', 'solver.prototxt', '--gpus', '0', '1', fails=True))


if __name__ == '__main__':
    unittest.main()
