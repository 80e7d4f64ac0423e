"""Images, arrays and messages of caffe.io."""

import os
import tempfile
import unittest

import numpy as np

from caffe import io
from images import png

try:
    from caffe.proto import caffe_pb2
except ImportError:
    caffe_pb2 = None
needs_protobuf = unittest.skipUnless(caffe_pb2, 'needs python3-protobuf')


@needs_protobuf
class TestMessages(unittest.TestCase):
    def test_blob_with_old_shape(self):
        blob = caffe_pb2.BlobProto(data=range(24), diff=range(24, 48), num=1, channels=2, height=3, width=4)
        np.testing.assert_array_equal(io.blobproto_to_array(blob), np.arange(24).reshape(1, 2, 3, 4))
        np.testing.assert_array_equal(io.blobproto_to_array(blob, return_diff=True), np.arange(24, 48).reshape(1, 2, 3, 4))

    def test_blob_with_shape(self):
        blob = caffe_pb2.BlobProto(data=range(6), shape=caffe_pb2.BlobShape(dim=[3, 2]))
        np.testing.assert_array_equal(io.blobproto_to_array(blob), [[0, 1], [2, 3], [4, 5]])

    def test_blob_of_doubles(self):
        blob = caffe_pb2.BlobProto(double_data=[0.1, 0.2], shape=caffe_pb2.BlobShape(dim=[2]))
        np.testing.assert_array_equal(io.blobproto_to_array(blob), [0.1, 0.2])

    def test_blob_without_shape(self):
        self.assertEqual(io.blobproto_to_array(caffe_pb2.BlobProto(data=[123])), 123)
        with self.assertRaises(ValueError):
            io.blobproto_to_array(caffe_pb2.BlobProto(data=[1, 2]))

    def test_blobs_there_and_back(self):
        a, b = np.random.RandomState(1).rand(2, 3, 4, 5, 6).astype(np.float32)
        blob = io.array_to_blobproto(a, b)
        self.assertEqual(list(blob.shape.dim), [3, 4, 5, 6])
        np.testing.assert_array_equal(io.blobproto_to_array(blob), a)
        np.testing.assert_array_equal(io.blobproto_to_array(blob, return_diff=True), b)
        back = io.blobprotovector_str_to_arraylist(io.arraylist_to_blobprotovector_str([a, b[0]]))
        np.testing.assert_array_equal(back[0], a)
        np.testing.assert_array_equal(back[1], b[0])

    def test_datum_of_bytes(self):
        a = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
        datum = io.array_to_datum(a, label=7)
        self.assertEqual((datum.channels, datum.height, datum.width, datum.label, len(datum.data)), (3, 4, 5, 7, 60))
        back = io.datum_to_array(datum)
        self.assertEqual(back.dtype, np.uint8)
        np.testing.assert_array_equal(back, a)
        back[0, 0, 0] = 1  # not a view of the message

    def test_datum_of_floats(self):
        a = np.linspace(-1, 1, 24).reshape(2, 3, 4)
        datum = io.array_to_datum(a)
        self.assertFalse(datum.HasField('label'))
        self.assertFalse(datum.data)
        np.testing.assert_allclose(io.datum_to_array(datum), a, rtol=1e-7, atol=0)

    def test_datum_needs_three_axes(self):
        with self.assertRaisesRegex(ValueError, 'Incorrect array shape'):
            io.array_to_datum(np.zeros((2, 2)))


IMAGE = np.array([[0., 1, 4], [2, 8, 5]])

# By scikit-image 0.19.3: resize((im - min) / (max - min), (3, 4), order=k, mode='constant', anti_aliasing=False), scaled back.
CENTRED = {
    0: [[0, 1, 1, 4], [2, 8, 8, 5], [2, 8, 8, 5]],
    1: [[0, .520833, 1.770833, 2.916667], [.875, 3.1875, 4.5, 3.9375], [1.458333, 4.791667, 5.729167, 3.645833]],
    2: [[0, 0, 1.547136, 3.271226], [.832802, 3.86787, 5.978477, 4.777467], [1.379322, 6.003733, 7.296831, 3.796085]],
    3: [[0, 0, 1.57525, 3.165865], [.84655, 3.858917, 6.258364, 4.825536], [1.325612, 5.853581, 7.247288, 3.636786]]}

# By scipy 1.10.1: scipy.ndimage.zoom(im, (3 / 2, 4 / 3, 1), order=k).
ENDS = {
    0: [[0, 1, 1, 4], [2, 8, 8, 5], [2, 8, 8, 5]],
    1: [[0, .666667, 2, 4], [1, 3.333333, 4.5, 4.5], [2, 6, 7, 5]],
    2: [[0, .333333, 2.111111, 4], [1, 3.333333, 4.888889, 4.5], [2, 6.333333, 7.666667, 5]],
    3: [[0, .296296, 2.222222, 4], [1, 3.203704, 4.888889, 4.5], [2, 6.111111, 7.555556, 5]]}


class TestResize(unittest.TestCase):
    def test_one_and_three_channels(self):
        for order, expected in CENTRED.items():
            got = io.resize_image(IMAGE[:, :, np.newaxis], (3, 4), order)
            self.assertEqual(got.dtype, np.float32)
            np.testing.assert_allclose(got[:, :, 0], expected, atol=2e-6)
        colours = np.stack([IMAGE, IMAGE[::-1], IMAGE / 8], 2)
        got = io.resize_image(colours, np.array([3, 4]))
        np.testing.assert_allclose(got[:, :, 0], CENTRED[1], atol=2e-6)
        np.testing.assert_allclose(got[:, :, 1], CENTRED[1][::-1], atol=2e-6)
        np.testing.assert_allclose(got[:, :, 2], np.array(CENTRED[1]) / 8, atol=2e-6)

    def test_other_channels(self):
        for order, expected in ENDS.items():
            got = io.resize_image(np.stack([IMAGE, IMAGE + 1], 2), (3, 4), order)
            np.testing.assert_allclose(got, np.stack([expected, np.array(expected) + 1], 2), atol=2e-6)

    def test_surroundings_have_the_least_value(self):
        # A quarter of each corner's neighbourhood in each direction lies outside.
        got = io.resize_image(np.array([[[-3.], [5.]]]), (1, 4))
        np.testing.assert_allclose(got[0, :, 0], [-3, -1, 3, 3], atol=1e-6)

    def test_constant_image(self):
        got = io.resize_image(np.full((2, 3, 3), 7), (5, 4))
        self.assertEqual((got.shape, got.dtype), ((5, 4, 3), np.float32))
        self.assertTrue((got == 7).all())

    def test_same_size(self):
        a = np.random.RandomState(2).rand(5, 6, 3).astype(np.float32)
        for order in range(4):
            np.testing.assert_allclose(io.resize_image(a, (5, 6), order), a, atol=1e-6)

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, 'interpolation order 4'):
            io.resize_image(IMAGE[:, :, np.newaxis], (3, 4), 4)
        for image, size in ((np.ones((3, 4, 3)), (0, 4)), (np.ones((0, 4, 3)), (3, 4))):
            with self.assertRaisesRegex(ValueError, 'cannot be resized to height'):
                io.resize_image(image, size)


class TestOversample(unittest.TestCase):
    def test_refused(self):
        with self.assertRaisesRegex(ValueError, 'crops of height 6 and width 4 of images of height 5 and width 7'):
            io.oversample(np.zeros((1, 5, 7, 3)), (6, 4))

    def test_crops(self):
        images = np.arange(2 * 5 * 7 * 2, dtype=np.float64).reshape(2, 5, 7, 2)
        crops = io.oversample(images, (2, 4))
        self.assertEqual((crops.shape, crops.dtype), ((20, 2, 4, 2), np.float32))
        for i, image in enumerate(images):
            for j, (y, x) in enumerate([(0, 0), (0, 3), (3, 0), (3, 3), (1, 1)]):
                part = image[y:y + 2, x:x + 4]
                np.testing.assert_array_equal(crops[10 * i + j], part)
                np.testing.assert_array_equal(crops[10 * i + 5 + j], part[:, ::-1])


class TestTransformer(unittest.TestCase):
    def setUp(self):
        self.t = io.Transformer({'data': (1, 3, 4, 5)})
        self.image = np.random.RandomState(3).rand(4, 5, 3).astype(np.float32)

    def test_steps_and_their_order(self):
        self.t.set_transpose('data', (2, 0, 1))
        self.t.set_channel_swap('data', (2, 1, 0))
        self.t.set_raw_scale('data', 255)
        self.t.set_mean('data', np.array([104., 117, 123]))
        self.t.set_input_scale('data', 0.5)
        before = self.image.copy()
        got = self.t.preprocess('data', self.image)
        expected = (self.image.transpose(2, 0, 1)[::-1] * 255 - np.array([104, 117, 123]).reshape(3, 1, 1)) * 0.5
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(self.image, before)
        back = self.t.deprocess('data', got[np.newaxis])
        np.testing.assert_allclose(back, self.image, atol=1e-6)
        self.assertEqual((got.dtype, back.dtype), (np.float32, np.float32))  # in spite of a mean of doubles: OpenCV takes no doubles as colours
        self.assertEqual(self.t.deprocess('data', got.astype(float)).dtype, float)

    def test_swap_of_three(self):
        self.t.set_transpose('data', (2, 0, 1))
        self.t.set_channel_swap('data', [1, 2, 0])
        got = self.t.preprocess('data', self.image)
        np.testing.assert_array_equal(got, self.image.transpose(2, 0, 1)[[1, 2, 0]])
        np.testing.assert_array_equal(self.t.deprocess('data', got), self.image)

    def test_resizes(self):
        self.t.set_transpose('data', (2, 0, 1))
        got = self.t.preprocess('data', np.zeros((9, 8, 3)) + [1, 2, 3])
        self.assertEqual(got.shape, (3, 4, 5))
        np.testing.assert_allclose(got[:, 1, 1], [1, 2, 3], rtol=1e-6)

    def test_one_channel(self):
        t = io.Transformer({'data': (1, 1, 4, 5)})
        t.set_transpose('data', (2, 0, 1))
        image = self.image[:, :, :1]
        np.testing.assert_array_equal(t.deprocess('data', t.preprocess('data', image)[np.newaxis]), image)

    def test_means(self):
        whole = np.arange(60.0).reshape(3, 4, 5)
        self.t.set_transpose('data', (2, 0, 1))
        self.t.set_mean('data', whole)
        np.testing.assert_allclose(self.t.preprocess('data', self.image), self.image.transpose(2, 0, 1) - whole, rtol=1e-5)
        self.t.set_mean('data', np.array([1.0, 2, 3]).reshape(3, 1, 1) + np.zeros((3, 8, 10)))
        self.assertEqual(self.t.mean['data'].shape, (3, 4, 5))
        np.testing.assert_allclose(self.t.mean['data'][:, 2, 2], [1, 2, 3])
        with self.assertRaisesRegex(ValueError, 'Mean channels incompatible'):
            self.t.set_mean('data', np.zeros(4))
        with self.assertRaisesRegex(ValueError, 'Mean shape incompatible'):
            self.t.set_mean('data', np.zeros((4, 4, 5)))
        with self.assertRaisesRegex(ValueError, 'Mean shape invalid'):
            self.t.set_mean('data', np.zeros((1, 3, 4, 5)))

    def test_refused(self):
        for call in (lambda: self.t.preprocess('img', self.image), lambda: self.t.deprocess('img', self.image),
                     lambda: self.t.set_mean('img', np.zeros(3)), lambda: self.t.set_raw_scale('img', 1)):
            with self.assertRaisesRegex(Exception, 'img is not one of the net inputs'):
                call()
        self.t.set_transpose('data', (2, 0, 1))
        for shape in ((4, 5), (0, 5, 3)):
            with self.assertRaisesRegex(ValueError, r'an image of shape \({}, 5.*it needs 3 axes'.format(shape[0])):
                self.t.preprocess('data', np.zeros(shape))
        with self.assertRaisesRegex(Exception, 'Transpose order needs'):
            self.t.set_transpose('data', (1, 0))
        with self.assertRaisesRegex(Exception, 'Channel swap needs'):
            self.t.set_channel_swap('data', (1, 0))


class TestLoadImage(unittest.TestCase):
    def load(self, pixels, **how):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, 'i.png')
            with open(path, 'wb') as f:
                f.write(png(pixels))
            return io.load_image(path, **how)

    def test_colours(self):
        pixels = np.random.RandomState(4).randint(0, 256, (5, 7, 4)).astype(np.uint8)
        got = self.load(pixels[:, :, :3])
        self.assertEqual((got.shape, got.dtype), ((5, 7, 3), np.float32))
        np.testing.assert_allclose(got, pixels[:, :, :3] / 255, rtol=1e-6)
        np.testing.assert_allclose(self.load(pixels), pixels[:, :, :3] / 255, rtol=1e-6)

    def test_grey(self):
        pixels = np.arange(35, dtype=np.uint8).reshape(5, 7) * 7
        got = self.load(pixels, color=False)
        np.testing.assert_allclose(got, pixels[:, :, np.newaxis] / 255, rtol=1e-6)
        np.testing.assert_allclose(self.load(pixels), np.repeat(got, 3, 2), rtol=1e-6)

    def test_sixteen_bits(self):
        """Values of 16 bits stay whole: skimage divides them by 65535."""
        pixels = np.random.RandomState(5).randint(0, 65536, (5, 7, 4)).astype(np.uint16)
        for some in pixels[:, :, :3], pixels:
            got = self.load(some)
            self.assertEqual((got.shape, got.dtype), ((5, 7, 3), np.float32))
            np.testing.assert_allclose(got, pixels[:, :, :3] / 65535, rtol=1e-6)
        grey = pixels[:, :, 0]
        np.testing.assert_allclose(self.load(grey), np.repeat(grey[:, :, np.newaxis], 3, 2) / 65535, rtol=1e-6)
        np.testing.assert_allclose(self.load(grey, color=False)[:, :, 0], grey / 65535, rtol=1e-6)

    def test_colours_as_grey(self):
        pixels = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]], dtype=np.uint8)
        got = self.load(pixels, color=False)
        self.assertEqual(got.shape, (1, 4, 1))
        np.testing.assert_allclose(got[0, :, 0], [0.2125, 0.7154, 0.0721, 1], rtol=1e-6)

    def test_refused(self):
        with self.assertRaisesRegex(OSError, 'no_such'):
            io.load_image('/no_such.png')
        with tempfile.NamedTemporaryFile(suffix='.png') as f:
            f.write(b'text')
            f.flush()
            with self.assertRaisesRegex(Exception, os.path.basename(f.name)):
                io.load_image(f.name)


if __name__ == '__main__':
    unittest.main()
