"""Maps of coordinates between blobs, and the Crop layers that they give."""

import unittest

try:
    import google.protobuf  # noqa: F401
except ImportError:
    raise unittest.SkipTest('needs python3-protobuf')

import numpy as np

import caffe
from caffe import layers as L
from caffe import params as P
from caffe.coord_map import (AxisMismatchException, UndefinedMapException, compose, coord_map, coord_map_from_to, crop, inverse)


def net(kernel=3, stride=1, pad=0, pool=2, up=2, up_pad=0, dilation=1):
    """Data, a convolution, pooling and an upsampling deconvolution."""
    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[2, 1, 100, 100]))
    n.conv = L.Convolution(n.data, num_output=10, kernel_size=kernel, stride=stride, pad=pad, dilation=dilation)
    n.pool = L.Pooling(n.conv, pool=P.Pooling.MAX, kernel_size=pool, stride=pool)
    n.up = L.Deconvolution(n.pool, convolution_param=dict(num_output=10, kernel_size=2 * up, stride=up, pad=up_pad))
    return n


class TestCoordMap(unittest.TestCase):
    def same(self, got, axis, scale, shift):
        self.assertEqual(got[0], axis)
        np.testing.assert_allclose(got[1], scale, rtol=1e-12)
        np.testing.assert_allclose(got[2], shift, rtol=1e-12, atol=1e-12)

    def test_layers(self):
        n = net(kernel=5, stride=2, pad=1, dilation=3, pool=3, up=4, up_pad=1)
        self.same(coord_map(n.conv.fn), 1, 0.5, (1 - 6) / 2)  # the kernel covers 13 pixels
        self.same(coord_map(L.Convolution(n.data, kernel_size=5, hole=3, stride=2, pad=1).fn), 1, 0.5, (1 - 6) / 2)
        with self.assertRaises(AssertionError):
            coord_map(L.Convolution(n.data, kernel_size=5, hole_h=3, hole_w=2).fn)
        self.same(coord_map(n.pool.fn), 1, 1 / 3, -1 / 3)
        self.same(coord_map(n.up.fn), 1, 4, 3.5 - 1)
        self.same(coord_map(L.Crop(n.up, n.data, axis=2, offset=[3, 4]).fn), 1, 1, [-3, -4])
        self.same(coord_map(L.ReLU(n.up).fn), None, 1, 0)
        with self.assertRaises(UndefinedMapException):
            coord_map(L.InnerProduct(n.up).fn)

    def test_down_and_up(self):
        for pool, shift in ((2, 0), (4, -1)):
            n = net(pool=pool, up=pool)
            self.same(coord_map_from_to(n.up, n.data), 1, 1, shift)
        n = net(pad=4, up_pad=3)
        self.same(coord_map_from_to(n.up, n.data), 1, 1, 3 - 4)

    def test_pass_through(self):
        n = net()
        top = L.Convolution(L.Eltwise(L.ReLU(n.up), L.Scale(n.up)), kernel_size=1)
        for a, b in zip(coord_map_from_to(top, n.data), coord_map_from_to(n.up, n.data)):
            self.assertEqual(a, b)

    def test_common_ancestor(self):
        n = net()
        left, right = L.Convolution(n.pool, kernel_size=3), L.Pooling(n.pool, kernel_size=2, stride=2)
        self.same(coord_map_from_to(left, right), 1, 0.5, (0 - 0.5) / 2 + 0.5)

    def test_axes_of_different_extents(self):
        n = net(kernel=[3, 5], stride=[1, 2], pad=[0, 10])
        _, scale, shift = coord_map_from_to(n.up, n.data)
        for i, one in enumerate((net(kernel=3), net(kernel=5, stride=2, pad=10))):
            _, a, b = coord_map_from_to(one.up, one.data)
            self.assertEqual((scale[i], shift[i]), (a, b))

    def test_three_axes(self):
        n = caffe.NetSpec()
        n.data = L.Input(shape=dict(dim=[2, 3, 100, 100, 100]))
        n.conv = L.Convolution(n.data, num_output=10, kernel_size=[3, 3, 3], stride=[1, 1, 1], pad=[0, 1, 2])
        n.pool = L.Pooling(n.conv, kernel_size=2, stride=2)
        n.up = L.Deconvolution(n.pool, kernel_size=4, stride=2)
        axis, scale, shift = coord_map_from_to(n.up, n.data)
        self.assertEqual(axis, 1)
        np.testing.assert_array_equal(scale, [1, 1, 1])
        np.testing.assert_array_equal(shift - shift[0], [0, -1, -2])

    def test_crop_of_crop(self):
        n = net()
        _, _, shift = coord_map_from_to(n.up, n.data)
        n.crop = L.Crop(n.up, n.data, axis=2, offset=7)
        self.same(coord_map_from_to(n.crop, n.data), 1, 1, shift + 7)

    def test_compose_and_inverse(self):
        self.same(compose((1, 2, 3), (1, 5, 7)), 1, 10, 17)
        self.same(compose((None, 1, 0), (2, 5, 7)), 2, 5, 7)
        self.same(compose((2, 5, 7), (None, 1, 0)), 2, 5, 7)
        self.same(compose((1, 4, 6), inverse((1, 4, 6))), 1, 1, 0)
        with self.assertRaises(AxisMismatchException):
            compose((1, 2, 3), (2, 2, 3))


class TestCrop(unittest.TestCase):
    def test_layer(self):
        n = net(pool=4, up=4, pad=2)
        n.score = crop(n.up, n.data)
        layer = n.to_proto().layer[-1]
        self.assertEqual((layer.type, list(layer.bottom)), ('Crop', ['up', 'data']))
        self.assertEqual((layer.crop_param.axis, list(layer.crop_param.offset)), (2, [3]))

    def test_identity(self):
        n = net()
        layer = crop(n.pool, L.ReLU(n.pool)).to_proto().layer[-1]
        self.assertEqual((layer.crop_param.axis, list(layer.crop_param.offset)), (2, [0]))

    def test_refused(self):
        n = net()
        with self.assertRaisesRegex(RuntimeError, 'Could not compute map between tops'):
            coord_map_from_to(L.InnerProduct(n.up, num_output=10), n.data)
        with self.assertRaisesRegex(RuntimeError, 'Could not compute map between tops'):
            coord_map_from_to(L.Pooling(n.up, global_pooling=True), n.data)
        with self.assertRaisesRegex(AssertionError, 'scale mismatch'):
            m = net(pool=3, up=2)
            crop(m.up, m.data)
        with self.assertRaisesRegex(AssertionError, 'negative width'):
            m = net(up_pad=10)
            crop(m.up, m.data)
        with self.assertRaisesRegex(AssertionError, 'noninteger width'):
            m = net(kernel=4, pad=1)
            crop(m.up, m.data)
        with self.assertRaisesRegex(AssertionError, 'legacy'):
            coord_map_from_to(L.Convolution(n.data, kernel_h=3, kernel_w=3), n.data)


if __name__ == '__main__':
    unittest.main()
