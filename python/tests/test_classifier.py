"""Classifier and Detector, with nets whose outputs say what went in."""

import os
import tempfile
import unittest

import numpy as np

import caffe
from caffe.detector import _with_context
from images import UPRIGHT, photograph, png

# The scores are the means of the input's channels, over a batch of 4.
NET = '''
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 dim: 6 dim: 6 } } }
layer { name: "mean" type: "Pooling" bottom: "data" top: "mean" pooling_param { pool: AVE global_pooling: true } }
layer { name: "score" type: "InnerProduct" bottom: "mean" top: "score" inner_product_param { num_output: 3 bias_term: false } }
'''


class WithFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model, self.weights = self.path('net.prototxt'), self.path('net.caffemodel')
        with open(self.model, 'w') as f:
            f.write(NET)
        net = caffe.Net(self.model, caffe.TEST)
        net.params['score'][0].data[...] = np.eye(3)
        net.save(self.weights)

    def path(self, name):
        return os.path.join(self.folder, name)


class TestOrientations(WithFiles):
    """Photographs of all orientations are upright wherever they are read."""

    def setUp(self):
        WithFiles.setUp(self)
        self.files = {o: self.path('%d.jpg' % o) for o in UPRIGHT}
        for o, name in self.files.items():
            with open(name, 'wb') as f:
                f.write(photograph(o))
        stored = caffe.io.load_image(self.files[1])
        self.assertEqual(stored.shape, (8, 12, 3))
        self.assertGreater(min(np.ptp([stored[y, x].sum() for y in (0, -1)]) for x in (0, -1)), 0)
        self.upright = {o: np.ascontiguousarray(turn(stored)) for o, turn in UPRIGHT.items()}

    def test_load_image(self):
        for o, name in self.files.items():
            np.testing.assert_array_equal(caffe.io.load_image(name), self.upright[o], str(o))

    def test_data_layer(self):
        with open(self.path('list.txt'), 'w') as f:
            f.writelines('%s 0\n' % self.files[o] for o in self.files)
        with open(self.path('data.prototxt'), 'w') as f:
            f.write('layer { name: "d" type: "ImageData" top: "data" top: "label" image_data_param { source: "%s" batch_size: 1 } }' % self.path('list.txt'))
        net = caffe.Net(self.path('data.prototxt'), caffe.TEST)
        for o in self.files:
            net.forward()
            pixels = net.blobs['data'].data[0].transpose(1, 2, 0)[:, :, ::-1]
            np.testing.assert_allclose(pixels / 255, self.upright[o], atol=1e-6, err_msg=str(o))

    def test_classifier(self):
        c = caffe.Classifier(self.model, self.weights)
        for o, name in self.files.items():
            for crops in (False, True):
                got, expected = (c.predict([image], crops) for image in (caffe.io.load_image(name), self.upright[o]))
                np.testing.assert_array_equal(got, expected, str(o))

    def test_detector(self):
        d = caffe.Detector(self.model, self.weights)
        for o, name in self.files.items():
            windows = [(0, 0, 3, 4), (self.upright[o].shape[0] - 3, self.upright[o].shape[1] - 4) + self.upright[o].shape[:2]]
            for found in d.detect_windows([(name, windows)]):
                y0, x0, y1, x1 = found['window']
                expected = caffe.io.resize_image(self.upright[o][y0:y1, x0:x1], (6, 6)).mean((0, 1))
                np.testing.assert_allclose(found['prediction'], expected, rtol=1e-5, err_msg=str(o))


class TestClassifier(WithFiles):
    def test_center(self):
        images = np.random.RandomState(1).rand(6, 10, 12, 3).astype(np.float32)
        c = caffe.Classifier(self.model, self.weights, image_dims=(10, 12), mean=np.array([1.0, 2, 3]), raw_scale=255,
                             channel_swap=(2, 1, 0), input_scale=2)
        got = c.predict(images, oversample=False)
        crops = images[:, 2:8, 3:9]
        expected = (crops.mean((1, 2))[:, ::-1] * 255 - [1, 2, 3]) * 2
        np.testing.assert_allclose(got.reshape(6, 3), expected, rtol=1e-5)

    def test_oversample(self):
        images = np.random.RandomState(2).rand(2, 10, 12, 3).astype(np.float32)
        c = caffe.Classifier(self.model, self.weights, image_dims=[10, 12])
        crops = [[i[y:y + 6, x:x + 6].mean((0, 1)) for y, x in ((0, 0), (0, 6), (4, 0), (4, 6), (2, 3))] for i in images]
        np.testing.assert_allclose(c.predict(images), np.mean(crops, 1), rtol=1e-5)

    def test_images_of_any_size(self):
        c = caffe.Classifier(self.model, self.weights)
        self.assertEqual(list(c.image_dims), [6, 6])
        # Linear resizing to half the size takes the mean of four pixels.
        image = np.random.RandomState(3).rand(12, 12, 3)
        np.testing.assert_allclose(c.predict([image], oversample=False).ravel(), image.mean((0, 1)), rtol=1e-5)

    def test_is_a_net(self):
        c = caffe.Classifier(self.model, self.weights)
        self.assertIsInstance(c, caffe.Net)
        self.assertEqual((c.inputs, c.outputs), (['data'], ['score']))
        with self.assertRaisesRegex(Exception, 'Channel swap needs'):
            caffe.Classifier(self.model, self.weights, channel_swap=(1, 0))
        with self.assertRaises(Exception):
            caffe.Classifier(self.model, self.path('absent.caffemodel'))

    def test_images_refused(self):
        c = caffe.Classifier(self.model, self.weights, channel_swap=(2, 1, 0))
        image = np.zeros((12, 12, 3))
        for images, text in (([], 'it has none'), (image, r'image 0 has shape \(12, 3\): predict needs a list of images'),
                             ([image, image[:, :, 0]], r'image 1 has shape \(12, 12\)'),
                             ([image[:, :, :1]], r'an image of 1 channels for data, whose channel swap is \(2, 1, 0\)')):
            with self.assertRaisesRegex(ValueError, text):
                c.predict(images)
        self.assertEqual(c.predict(iter([image]), oversample=False).shape[0], 1)


class TestDetector(WithFiles):
    def setUp(self):
        WithFiles.setUp(self)
        self.image = np.random.RandomState(4).randint(0, 256, (20, 30, 3)).astype(np.uint8)
        self.file = self.path('image.png')
        with open(self.file, 'wb') as f:
            f.write(png(self.image))

    def test_windows(self):
        windows = [(0, 0, 6, 6), (14, 24, 20, 30), (2, 3, 8, 9), (4, 4, 16, 16), (1, 1, 7, 7)]
        d = caffe.Detector(self.model, self.weights, raw_scale=255)
        got = d.detect_windows([(self.file, windows[:3]), (self.file, windows[3:])])
        self.assertEqual([g['window'] for g in got], windows)
        self.assertEqual({g['filename'] for g in got}, {self.file})
        for (y0, x0, y1, x1), g in zip(windows, got):
            np.testing.assert_allclose(g['prediction'], self.image[y0:y1, x0:x1].mean((0, 1)), rtol=1e-4)
        self.assertEqual(d.detect_windows([]), [])

    def test_context_inside(self):
        d = caffe.Detector(self.model, self.weights, context_pad=1)
        image = np.random.RandomState(5).rand(40, 40, 3).astype(np.float32)
        # 4 of 6 pixels show the window, so 6 show half as much again: 15 to 25 grows to 13 to 28, as windows count their end twice.
        np.testing.assert_allclose(d.crop(image, (15, 15, 25, 25)), caffe.io.resize_image(image[12:29, 12:29], (6, 6)), rtol=1e-6)

    def test_context_outside_is_the_mean(self):
        mean = np.array([10.0, 20, 30])
        d = caffe.Detector(self.model, self.weights, mean=mean, raw_scale=10, channel_swap=(2, 1, 0), context_pad=1)
        crop = d.crop(np.full((8, 8, 3), 7, dtype=np.float32), (0, 0, 8, 8))
        self.assertEqual(crop.shape, (6, 6, 3))
        np.testing.assert_allclose(crop[0, 0], [3, 2, 1])
        np.testing.assert_allclose(crop[3, 3], [7, 7, 7])
        np.testing.assert_allclose(d.transformer.preprocess('data', crop)[:, 0, 0], 0, atol=1e-5)
        plain = caffe.Detector(self.model, self.weights, context_pad=1)
        np.testing.assert_array_equal(plain.crop(np.ones((8, 8, 3)), (0, 0, 8, 8))[0, 0], [0, 0, 0])

    def test_interval_with_context(self):
        self.assertEqual(_with_context(15, 25, 40, 6, 1), (12, 0, 17, 6))
        first, before, length, shown = _with_context(0, 8, 8, 6, 1)
        self.assertEqual((first, length), (0, 8))
        self.assertEqual(before, 1)
        self.assertLessEqual(before + shown, 6)
        with self.assertRaisesRegex(ValueError, 'outside an image of 8 pixels'):
            _with_context(30, 40, 8, 6, 1)

    def test_windows_refused(self):
        d = caffe.Detector(self.model, self.weights)
        for window in ((-3, 0, 18, 5), (5, 5, 5, 9), (20, 3, 40, 9), (3, 30, 9, 31)):
            with self.assertRaisesRegex(ValueError, r'window \({}, .* outside the image of height 20 and width 30'.format(window[0])):
                d.detect_windows([(self.file, [window])])
        with self.assertRaisesRegex(ValueError, 'has 3 numbers, not 4'):
            d.detect_windows([(self.file, [(0, 0, 5)])])
        self.assertEqual(len(d.detect_windows([(self.file, [(15, 20, 25, 35)])])), 1)  # it ends at the image's end, as in Caffe

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, 'context_pad 3 leaves nothing'):
            caffe.Detector(self.model, self.weights, context_pad=3)
        with self.assertRaisesRegex(ImportError, 'selective_search_ijcv_with_python'):
            caffe.Detector(self.model, self.weights).detect_selective_search([self.file])


if __name__ == '__main__':
    unittest.main()
