"""A net for inference computes its hidden blobs only for those who look (cmd/internal/python/infer.go). Here such a net and one that keeps all
blobs, because of force_backward, do the same, and must show the same."""

import unittest

import numpy as np

import caffe
from common import Case

DEPLOY = '''name: "deploy" %s
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 12 dim: 10 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 16 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "bn" }
layer { name: "scale" type: "Scale" bottom: "bn" top: "bn" scale_param { bias_term: true bias_filler { value: 0.5 } } }
layer { name: "relu" type: "ReLU" bottom: "bn" top: "bn" }
layer { name: "conv2" type: "Convolution" bottom: "bn" top: "conv2" convolution_param { num_output: 16 kernel_size: 1 weight_filler { type: "xavier" } } }
layer { name: "sum" type: "Eltwise" bottom: "conv2" bottom: "bn" top: "sum" }
layer { name: "drop" type: "Dropout" bottom: "sum" top: "sum" }
layer { name: "pool" type: "Pooling" bottom: "sum" top: "pool" pooling_param { pool: AVE global_pooling: true } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }
'''


def image(seed, shape=(2, 3, 12, 10)):
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


class Inference(Case):
    def setUp(self):
        super().setUp()
        self.plain = caffe.Net(self.write(DEPLOY % 'force_backward: true', 'plain.prototxt'), caffe.TEST)
        mean, variance, factor = (b.data for b in self.plain.params['bn'])
        mean[...], variance[...], factor[...] = np.linspace(-1, 1, 16), np.linspace(0.5, 2, 16), 1
        self.weights = self.write('', 'weights.caffemodel')
        self.plain.save(self.weights)
        self.deploy = caffe.Net(self.write(DEPLOY % '', 'deploy.prototxt'), self.weights, caffe.TEST)

    def same(self, *blobs):
        for name in blobs:
            np.testing.assert_allclose(self.deploy.blobs[name].data, self.plain.blobs[name].data, rtol=1e-4, atol=1e-5, err_msg=name)

    def both(self, act):
        for net in self.deploy, self.plain:
            act(net)

    def run_on(self, seed, **options):
        def act(net):
            net.blobs['data'].data[...] = image(seed)
            net.forward(**options)
        self.both(act)

    def test_outputs(self):
        for seed in range(3):
            self.run_on(seed)
            self.same('prob', 'data')

    def test_look_at_hidden_blobs(self):
        self.run_on(0)
        self.run_on(1)
        prob = self.deploy.blobs['prob'].data.copy()
        self.same('conv', 'bn', 'conv2', 'sum', 'pool', 'ip')
        np.testing.assert_array_equal(self.deploy.blobs['prob'].data, prob)
        self.run_on(2)
        self.same('conv', 'bn', 'prob')

    def test_inputs_change_before_the_look(self):
        self.run_on(0)
        self.both(lambda net: net.blobs['data'].data.fill(7))
        self.same('conv', 'sum', 'prob', 'data')

    def test_held_inputs_change_before_the_look(self):
        held = self.deploy.blobs['data'].data
        for seed in range(2):
            held[...] = self.plain.blobs['data'].data[...] = image(seed)
            self.both(lambda net: net.forward())
        held.fill(3)
        self.plain.blobs['data'].data.fill(3)
        self.same('bn', 'prob', 'data')
        self.assertTrue((held == 3).all())

    def test_held_hidden_blob(self):
        held = self.deploy.blobs['sum'].data
        for seed in range(2):
            self.run_on(seed)
            np.testing.assert_allclose(held, self.plain.blobs['sum'].data, rtol=1e-4, atol=1e-5)
        del held
        self.run_on(5)
        self.same('sum', 'prob')

    def test_weights_change_before_the_look(self):
        self.run_on(0)
        for name, index in ('conv', 0), ('scale', 0), ('bn', 1):
            self.both(lambda net: net.params[name][index].data.__imul__(np.float32(1.5)))
        self.same('conv', 'bn', 'prob')
        self.both(lambda net: net.forward())
        self.same('conv', 'bn', 'prob')

    def test_held_weights(self):
        self.run_on(0)
        weights = self.deploy.params['conv'][0].data
        for factor in 0.5, 3:
            for w in weights, self.plain.params['conv'][0].data:
                w *= np.float32(factor)
            self.both(lambda net: net.forward())
            self.same('prob')
        weights.fill(0)
        self.same('conv', 'prob')

    def test_other_weights(self):
        self.run_on(0)
        self.both(lambda net: net.params['conv'][0].data.fill(0))
        self.both(lambda net: net.copy_from(self.weights))
        self.same('conv', 'prob')
        self.both(lambda net: net.forward())
        self.same('prob', 'conv')
        other = caffe.Net(self.write(DEPLOY % '', 'deploy.prototxt'), caffe.TEST)
        other.share_with(self.deploy)
        other.forward(data=image(1))
        self.run_on(1)
        np.testing.assert_allclose(other.blobs['prob'].data, self.plain.blobs['prob'].data, rtol=1e-4)
        self.both(lambda net: net.params['ip'][0].data.fill(1))
        np.testing.assert_allclose(other.blobs['ip'].data, self.plain.blobs['ip'].data, rtol=1e-4, atol=1e-5)

    def test_save(self):
        self.run_on(0)
        again = self.write('', 'again.caffemodel')
        self.deploy.save(again)
        for name, blobs in self.plain.params.items():
            for one, other in zip(blobs, caffe.Net(self.write(DEPLOY % '', 'deploy.prototxt'), again, caffe.TEST).params[name]):
                np.testing.assert_array_equal(one.data, other.data)

    def test_parts(self):
        self.run_on(0)
        self.both(lambda net: net.blobs['bn'].data.fill(0.25))
        self.both(lambda net: net.forward(start='conv2'))
        self.same('prob', 'conv', 'sum')
        self.run_on(1, end='sum')
        self.same('sum', 'conv')

    def test_backward(self):
        def act(net):
            net.blobs['prob'].diff[...] = image(4, (2, 4))
            net.forward()
            net.backward()
        self.run_on(0)
        self.both(act)
        self.same('prob', 'conv')
        self.assertFalse(self.deploy.blobs['bn'].diff.any())  # as in Caffe: the net has no loss

    def test_shapes(self):
        for n, height in (2, 12), (1, 20), (3, 9), (2, 12):
            def act(net):
                net.blobs['data'].reshape(n, 3, height, 10)
                net.blobs['data'].data[...] = image(n, (n, 3, height, 10))
                net.forward()
            self.both(act)
            self.assertEqual(self.deploy.blobs['prob'].data.shape, (n, 4))
            self.same('prob')
        self.same('conv', 'sum')

    def test_shapes_before_the_first_run(self):
        for act in (lambda net: net.blobs['data'].reshape(1, 3, 16, 10)), (lambda net: net.reshape()), (lambda net: net.forward(data=image(0, (1, 3, 16, 10)))):
            self.both(act)
        self.same('prob')
        self.assertEqual(self.deploy.blobs['sum'].data.shape, (1, 16, 14, 8))
        self.same('sum')

    def test_shapes_that_do_not_fit(self):
        self.run_on(0)
        self.both(lambda net: net.blobs['data'].reshape(2, 4, 12, 10))
        self.both(lambda net: self.assertRaises(RuntimeError, net.forward))
        self.both(lambda net: net.blobs['data'].reshape(2, 3, 12, 10))
        self.run_on(1)
        self.same('prob', 'conv')


if __name__ == '__main__':
    unittest.main()
