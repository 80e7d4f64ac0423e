"""The examples, each with --small: they run, print their result and write a picture."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import caffe

try:
    import google.protobuf
except ImportError:
    google = None
needs_protobuf = unittest.skipUnless(google, 'needs python3-protobuf')

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples')
ENVIRONMENT = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))  # where caffe and numpy were found


class TestExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()  # data sets and weights serve all examples

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_example(self, name, *flags, size='small'):
        """Run an example; return what it prints, and the text of its picture."""
        flags = ['--small', *flags] if size == 'small' else list(flags)
        data, out = (os.path.join(self.folder.name, size, d) for d in ('data', 'out'))
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, name + '.py'), *flags, '--data', data, '--out', out],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stdout, r'\bnan\b')  # the mean of no batches
        with open(os.path.join(out, name + '.svg')) as f:
            return done.stdout, ' '.join(xml.etree.ElementTree.fromstring(f.read()).itertext())

    def test_learn_lenet(self):
        out, picture = self.run_example('learn_lenet')
        self.assertGreater(float(out.split('test accuracy: ')[1]), 0.8)
        self.assertIn('filters of conv1', picture)

    def test_lenet_on_all_digits(self):
        """The README's promise."""
        out, _ = self.run_example('learn_lenet', '--until', '0.99', size='full')
        self.assertGreaterEqual(float(out.split('test accuracy: ')[1]), 0.99)

    @needs_protobuf
    def test_classification(self):
        out, picture = self.run_example('classification')
        self.assertRegex(out, r'\d+ of 100 images are classified correctly')
        self.assertIn('probabilities', picture)

    @needs_protobuf
    def test_fine_tuning(self):
        out, picture = self.run_example('fine_tuning')
        self.assertIn('finetuned            on 90 images', out)
        self.assertIn('from random weights', picture)

    def test_net_surgery(self):
        out, picture = self.run_example('net_surgery')
        self.assertLess(float(out.split('between both nets: ')[1].split()[0]), 1e-5)
        self.assertIn('map of 22 x 50 positions', out)

    def test_python_loss(self):
        out, _ = self.run_example('python_loss')
        engine, python, huber = (line.split('y = ')[1] for line in out.splitlines()[:3])
        self.assertEqual(engine, python)
        self.assertLess(abs(float(huber.split()[0]) - 0.8), 0.25)

    @needs_protobuf
    def test_detection(self):
        out, picture = self.run_example('detection')
        found = re.search(r'\d+ windows, \d+ boxes; (\d+) of them name one of the 12 shapes', out)
        self.assertTrue(found and int(found.group(1)) >= 2, out)
        self.assertIn('best score', picture)

    def test_brew_logistic_regression(self):
        out, picture = self.run_example('brew_logistic_regression')
        self.assertGreater(float(out.split('40 hidden units')[1].split()[2]), 0.85)
        self.assertIn('test accuracy', picture)


if __name__ == '__main__':
    unittest.main()
