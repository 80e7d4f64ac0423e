"""What well-known scripts for Caffe do with its module, idiom by idiom: Fast and Faster R-CNN, fully convolutional nets, SSD, OpenPose, Deep Dream,
colourisation, and Caffe's own notebooks. Each test names the scripts that need it."""

import os
import pickle
import sys
import unittest

import numpy as np

import caffe
from common import IMAGE, INPUT, SMALL, Case

try:
    from google.protobuf import text_format
except ImportError:
    text_format = None
needs_protobuf = unittest.skipUnless(text_format, 'needs python3-protobuf')


class Inference(Case):
    def test_shapes_from_the_image(self):
        """Faster R-CNN, SSD, OpenPose, FCN: reshape the input to the image, then forward with the array as an argument."""
        net = self.net(IMAGE, caffe.TEST)
        for height, width in (20, 14), (8, 40):
            blob = np.random.RandomState(height).rand(1, 3, height, width)  # double precision
            net.blobs['data'].reshape(*blob.shape)
            out = net.forward(data=blob.astype(np.float32, copy=False))
            self.assertEqual(out['score'].shape, (1, 5, height // 2, width // 2))
            again = net.forward(**{'data': blob})['score'].copy()
            np.testing.assert_array_equal(again, out['score'])
            net.blobs['data'].data[...] = blob
            np.testing.assert_array_equal(net.forward()[net.outputs[0]], again)

    def test_several_inputs_by_name(self):
        """Faster R-CNN: forward(data=..., im_info=...), where only some inputs exist."""
        net = self.net('''input: "data" input_shape { dim: 1 dim: 3 dim: 4 dim: 4 } input: "im_info" input_shape { dim: 1 dim: 3 }
            layer { name: "f" type: "Flatten" bottom: "data" top: "f" }
            layer { name: "c" type: "Concat" bottom: "f" bottom: "im_info" top: "c" }''', caffe.TEST)
        self.assertEqual(net.inputs, ['data', 'im_info'])
        kwargs = {'data': np.ones((1, 3, 4, 4), np.float32), 'im_info': np.array([[600, 800, 1.5]], np.float32)}
        self.assertEqual(net.forward(**kwargs)['c'][0, -3:].tolist(), [600, 800, 1.5])
        self.assertTrue('im_info' in net.blobs and 'rois' not in net.blobs)

    def test_preprocessing_by_hand(self):
        """FCN, colourisation: arrays in other orders and types are assigned to parts of a blob."""
        net = self.net(IMAGE, caffe.TEST)
        image = np.random.RandomState(0).randint(0, 256, (12, 16, 3)).astype(np.uint8)
        data = np.array(image, dtype=np.float32)[:, :, ::-1] - np.array((104.00698793, 116.66876762, 122.67891434))
        net.blobs['data'].data[0] = data.transpose(2, 0, 1)
        net.blobs['data'].data[0, 0, :, :] -= 50
        np.testing.assert_allclose(net.blobs['data'].data[0, 1], data[:, :, 1], rtol=1e-6)
        best = net.forward()['score'][0].argmax(axis=0)
        self.assertEqual(best.shape, (6, 8))
        (height, width) = net.blobs['data'].data.shape[2:]
        self.assertEqual((height, width), (12, 16))

    def test_transformer(self):
        """Caffe's classification notebook, SSD's detector, bvlc_googlenet scripts."""
        net = self.net(IMAGE, caffe.TEST)
        transformer = caffe.io.Transformer({'data': net.blobs['data'].data.shape})
        transformer.set_transpose('data', (2, 0, 1))
        transformer.set_mean('data', np.array([104, 117, 123]))
        transformer.set_raw_scale('data', 255)
        transformer.set_channel_swap('data', (2, 1, 0))
        image = np.random.RandomState(1).rand(24, 32, 3).astype(np.float32)
        net.blobs['data'].data[...] = transformer.preprocess('data', image)
        back = transformer.deprocess('data', net.blobs['data'].data[0])
        np.testing.assert_allclose(back, caffe.io.resize_image(image, (12, 16)), atol=1e-5)
        net.blobs['data'].reshape(10, 3, 12, 16)
        net.forward_all(data=np.asarray([transformer.preprocess('data', image)] * 13))

    def test_a_grid_of_layers(self):
        """Visualisation notebooks: shapes of everything, filters as images."""
        net = self.net(IMAGE, caffe.TEST)
        self.assertEqual([(k, v.data.shape) for k, v in net.blobs.items()][0], ('data', (1, 3, 12, 16)))
        self.assertEqual([(k, v[0].data.shape, v[1].data.shape) for k, v in net.params.items()],
                         [('conv1', (4, 3, 3, 3), (4,)), ('score', (5, 4, 1, 1), (5,))])
        filters = net.params['conv1'][0].data.transpose(0, 2, 3, 1)
        filters = (filters - filters.min()) / (filters.max() - filters.min())
        self.assertEqual((filters.min(), filters.max()), (0, 1))
        self.assertEqual(list(net._layer_names), ['input', 'conv1', 'relu1', 'pool1', 'score'])
        self.assertEqual([layer.type for layer in net.layers][1:], ['Convolution', 'ReLU', 'Pooling', 'Convolution'])
        self.assertEqual(list(net.blobs)[-1], 'score')

    def test_dreams(self):
        """Deep Dream: a gradient is set at a layer inside and carried to the image, at changing sizes."""
        net = self.net(IMAGE, caffe.TEST)
        src, dst = net.blobs['data'], net.blobs['pool1']
        for size in (12, 16), (18, 24):
            src.reshape(1, 3, *size)
            src.data[0] = np.random.RandomState(2).rand(3, *size)
            before = None
            for _ in range(3):
                net.forward(end='pool1')
                loss = float((dst.data ** 2).sum())
                dst.diff[:] = dst.data
                net.backward(start='pool1')
                g = src.diff[0]
                src.data[:] += 0.1 / np.abs(g).mean() * g
                self.assertTrue(before is None or loss > before)
                before = loss
            self.assertEqual(g.shape, (3, *size))
            guided = np.roll(np.roll(src.data[0], 1, -1), 2, -2)
            src.data[0] = guided

    @needs_protobuf
    def test_dreams_of_a_classifier(self):
        """Deep Dream: a classifier's file is patched by way of caffe.io.caffe_pb2. The gradient of a layer inside is carried to images of several
        sizes, which the layers behind it cannot take."""
        whole = IMAGE + 'layer { name: "ip" type: "InnerProduct" bottom: "score" top: "ip" inner_product_param { num_output: 3 } }'
        path = os.path.join(self.dir, 'dream.caffemodel')
        self.net(whole, caffe.TEST).save(path)
        for module in caffe.io, caffe.draw, caffe.net_spec:
            self.assertIs(module.caffe_pb2, caffe.proto.caffe_pb2)
        model = caffe.io.caffe_pb2.NetParameter()
        text_format.Merge(whole.replace('force_backward: true', ''), model)
        model.force_backward = True
        net = caffe.Classifier(self.write(str(model), 'patched.prototxt'), path, mean=np.float32([104.0, 116.0, 122.0]), channel_swap=(2, 1, 0))
        base = np.rollaxis(np.random.RandomState(4).rand(20, 26, 3) * 255, 2)[::-1] - net.transformer.mean['data']
        src, dst = net.blobs['data'], net.blobs['pool1']
        for height, width in (10, 13), (20, 26):
            src.reshape(1, 3, height, width)
            src.data[0] = base[:, :height, :width]
            for guide in None, dst.data[0].copy() if height == 20 else None:
                net.forward(end='pool1')
                dst.diff[:] = dst.data
                if guide is not None:
                    dst.diff[0].reshape(4, -1)[:] = guide.reshape(4, -1)[:, :1]
                net.backward(start='pool1')
                self.assertTrue(src.diff[0].any())
                src.data[:] += 1.5 / np.abs(src.diff[0]).mean() * src.diff[0]
        self.assertEqual(np.dstack((src.data[0] + net.transformer.mean['data'])[::-1]).shape, (20, 26, 3))
        self.assertRaisesRegex(RuntimeError, 'layer "ip"', net.forward)
        self.assertRaisesRegex(RuntimeError, 'layer "ip"', net.backward)
        src.reshape(1, 3, 12, 16)
        net.forward()
        net.backward()

    def test_regions(self):
        """Faster R-CNN: the proposal layer gives its tops their shapes in forward, and reads param_str_ and the phase's name; later layers follow."""
        text = IMAGE + '''
            layer { name: "best" type: "Python" bottom: "score" top: "rois" top: "scores"
              python_param { module: "layers_for_tests" layer: "Best" param_str: "{'TRAIN': 7, 'TEST': 3}" } }
            layer { name: "pool5" type: "ROIPooling" bottom: "score" bottom: "rois" top: "pool5" roi_pooling_param { pooled_w: 2 pooled_h: 2 } }
            layer { name: "cls" type: "InnerProduct" bottom: "pool5" top: "cls" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
            layer { name: "cls_prob" type: "Softmax" bottom: "cls" top: "cls_prob" }'''
        for phase, count in (caffe.TRAIN, 7), (True, 3):  # True: an old script's caffe.TEST
            net = self.net(text, phase)
            for size in (12, 16), (20, 14), (2, 2):
                blob = np.random.RandomState(5).rand(1, 3, *size)
                net.blobs['data'].reshape(*blob.shape)
                out = net.forward(data=blob.astype(np.float32, copy=False))
                rois = net.blobs['rois'].data.copy()
                n = min(count, size[0] * size[1] // 4)
                self.assertEqual((rois.shape, out['cls_prob'].shape, out['scores'].shape), ((n, 5), (n, 4), (n, 1)))
                x, y = rois[:, 1].astype(int), rois[:, 2].astype(int)
                np.testing.assert_array_equal(net.blobs['score'].data[0, -1, y, x], out['scores'][:, 0])

    def test_colours(self):
        """Colourisation: weights are set to cluster centres, one layer rebalances gradients, and the input is a part of an array."""
        net = self.net('''force_backward: true input: "data_l" input_shape { dim: 2 dim: 1 dim: 4 dim: 6 } input: "boost" input_shape { dim: 2 dim: 1 dim: 4 dim: 6 }
            layer { name: "class8_ab" type: "Convolution" bottom: "data_l" top: "class8_ab" convolution_param { num_output: 2 kernel_size: 1 bias_term: false } }
            layer { name: "re" type: "Python" bottom: "class8_ab" bottom: "boost" top: "re" python_param { module: "layers_for_tests" layer: "Rebalance" } }''',
                       caffe.TEST)
        points = np.array([[3.0, -2.0]])
        net.params['class8_ab'][0].data[:, :, 0, 0] = points.transpose((1, 0))
        lab = np.random.RandomState(6).rand(4, 6, 3) * 100
        net.blobs['data_l'].data[0, 0, :, :] = lab[:, :, 0] - 50
        net.blobs['boost'].data[...] = np.arange(48).reshape(2, 1, 4, 6)
        net.forward()
        ab = net.blobs['re'].data[0, :, :, :].transpose((1, 2, 0))
        np.testing.assert_allclose(ab, (lab[:, :, :1] - 50) * points[0], rtol=1e-5)
        net.blobs['re'].diff[...] = 2
        net.backward()
        np.testing.assert_array_equal(net.blobs['class8_ab'].diff[1, 1].ravel(), 2 * np.arange(24, 48))

    def test_gradients_of_a_class(self):
        """Saliency maps: backward from an output, given as an argument."""
        net = self.net(INPUT)
        net.forward(data=np.random.RandomState(3).rand(4, 6))
        label = np.zeros((4, 3), np.float32)
        label[:, 1] = 1
        self.assertEqual(net.backward(**{net.outputs[0]: label})['data'].shape, (4, 6))
        self.assertTrue(net.backward(diffs=['ip'], prob=label)['ip'].any())

    def test_mean_files(self):
        """Means from .npy files, averaged over pixels, and from binaryproto."""
        path = os.path.join(self.dir, 'mean.npy')
        np.save(path, np.random.rand(3, 20, 20))
        mean = np.load(path).mean(1).mean(1)
        transformer = caffe.io.Transformer({'data': (1, 3, 8, 8)})
        transformer.set_mean('data', mean)
        self.assertEqual(transformer.mean['data'].shape, (3, 1, 1))

    @needs_protobuf
    def test_mean_binaryproto(self):
        blob = caffe.proto.caffe_pb2.BlobProto()
        blob.ParseFromString(caffe.io.array_to_blobproto(np.arange(12.).reshape(1, 3, 2, 2)).SerializeToString())
        self.assertEqual(np.array(caffe.io.blobproto_to_array(blob))[0].mean(1).mean(1).tolist(), [1.5, 5.5, 9.5])


class Messages(unittest.TestCase):
    @needs_protobuf
    def test_label_maps(self):
        """SSD's detector: a label map in text form."""
        from caffe.proto import caffe_pb2
        label_map = caffe_pb2.LabelMap()
        text_format.Merge('item { name: "none" label: 0 display_name: "background" } item { name: "a" label: 1 display_name: "cat" }', label_map)
        self.assertEqual([i.display_name for i in label_map.item if i.label == 1], ['cat'])


class Surgery(Case):
    def test_casting_into_convolutions(self):
        """Net surgery, FCN's transplant: weights are copied flat between layers of other shapes."""
        small = self.net(INPUT, caffe.TEST)
        conv = caffe.Net(self.write('''input: "data" input_shape { dim: 1 dim: 6 dim: 5 dim: 7 } layer { name: "ip-conv" type: "Convolution"
            bottom: "data" top: "y" convolution_param { num_output: 3 kernel_size: 1 } }''', 'conv.prototxt'), caffe.TEST)
        pairs = {'ip-conv': 'ip'}
        weights = {pr: (small.params[pr][0].data, small.params[pr][1].data) for pr in pairs.values()}
        for new, old in pairs.items():
            conv.params[new][0].data.flat = weights[old][0].flat
            conv.params[new][1].data[...] = weights[old][1]
        image = np.random.rand(1, 6, 5, 7).astype(np.float32)
        y = conv.forward_all(data=image)['y']
        np.testing.assert_allclose(y[0, :, 2, 3], small.params['ip'][0].data.dot(image[0, :, 2, 3]) + small.params['ip'][1].data, rtol=1e-4, atol=1e-6)

    def test_bilinear_upsampling(self):
        """FCN's surgery: Deconvolution layers whose names contain "up" get bilinear filters, found by params' shapes."""
        net = self.net('''input: "data" input_shape { dim: 1 dim: 2 dim: 4 dim: 4 } layer { name: "upscore" type: "Deconvolution" bottom: "data" top: "up"
            param { lr_mult: 0 } convolution_param { num_output: 2 bias_term: false kernel_size: 4 stride: 2 } }''', caffe.TEST)
        for layer in [k for k in net.params.keys() if 'up' in k]:
            m, k, h, w = net.params[layer][0].data.shape
            self.assertEqual((m == k, h == w), (True, True))
            factor = (h + 1) // 2
            centre = factor - 1 if h % 2 == 1 else factor - 0.5
            og = np.ogrid[:h, :h]
            net.params[layer][0].data[range(m), range(k), :, :] = (1 - abs(og[0] - centre) / factor) * (1 - abs(og[1] - centre) / factor)
        self.assertTrue((net.forward(data=np.ones((1, 2, 4, 4)))['up'][0, :, 2:-2, 2:-2] == 1).all())

    def test_rescaled_weights(self):
        """Fast R-CNN's snapshot: weights are scaled for the file, with numpy's broadcasting, and set back after."""
        net = self.net(INPUT)
        before = net.params['ip'][0].data.copy()
        stds = np.array([0.1, 0.2, 0.3])
        net.params['ip'][0].data[...] = net.params['ip'][0].data * stds[:, np.newaxis]
        net.save(str(os.path.join(self.dir, 'scaled.caffemodel')))
        net.params['ip'][0].data[...] = before
        scaled = caffe.Net(self.write(INPUT), os.path.join(self.dir, 'scaled.caffemodel'), caffe.TEST)
        np.testing.assert_allclose(scaled.params['ip'][0].data, before * stds[:, np.newaxis], rtol=1e-6)

    def test_weights_to_other_programs(self):
        """Converters: weights leave as dicts of arrays, by pickle and npz."""
        net = self.net(SMALL)
        weights = {name: [b.data for b in blobs] for name, blobs in net.params.items()}
        copy = pickle.loads(pickle.dumps(weights))
        np.testing.assert_array_equal(copy['conv'][0], net.params['conv'][0].data)
        np.savez(os.path.join(self.dir, 'w.npz'), **{k: v[0] for k, v in weights.items()})

    @needs_protobuf
    def test_caffemodels_as_messages(self):
        """Converters: read a caffemodel without a net, walk its layers, write it again."""
        from caffe.proto import caffe_pb2
        path = os.path.join(self.dir, 'm.caffemodel')
        net = self.net(SMALL)
        net.save(path)
        model = caffe_pb2.NetParameter()
        with open(path, 'rb') as f:
            model.ParseFromString(f.read())
        layer = next(one for one in (model.layer or model.layers) if one.name == 'ip')
        weights = np.array(layer.blobs[0].data).reshape(layer.blobs[0].shape.dim)
        np.testing.assert_allclose(weights, net.params['ip'][0].data)
        layer.blobs[0].data[0] = 42
        with open(path, 'wb') as f:
            f.write(model.SerializeToString())
        net.copy_from(path)
        self.assertEqual(net.params['ip'][0].data.flat[0], 42)


class Training(Case):
    def test_solver_wrapper(self):
        """Fast R-CNN's SolverWrapper: a solver's message is read, weights are copied, single steps, snapshots by hand."""
        solver = caffe.SGDSolver(self.solver())
        path = os.path.join(self.dir, 'pretrained.caffemodel')
        self.net(SMALL).save(path)
        solver.net.copy_from(path)
        while solver.iter < 5:
            solver.step(1)
            if solver.iter % 2 == 0:
                solver.net.save(os.path.join(self.dir, 'fast_iter_{:d}.caffemodel'.format(solver.iter)))
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if n.startswith('fast')), ['fast_iter_2.caffemodel', 'fast_iter_4.caffemodel'])

    @needs_protobuf
    def test_solver_message(self):
        """Fast R-CNN, SSD, brewing a logistic regression: solvers are written as messages and text."""
        from caffe.proto import caffe_pb2
        s = caffe_pb2.SolverParameter()
        s.train_net = self.write(SMALL)
        s.test_net.append(s.train_net)
        s.test_interval, s.base_lr, s.lr_policy, s.max_iter = 500, 0.01, 'step', 7
        s.test_iter.append(2)
        s.gamma, s.stepsize, s.momentum, s.display, s.snapshot_after_train = 0.1, 5000, 0.9, 1000, False
        s.solver_mode = caffe_pb2.SolverParameter.CPU
        text = self.write(str(s), 'solver.prototxt')
        solver = caffe.get_solver(text)
        solver.solve()
        self.assertEqual((solver.iter, len(solver.test_nets)), (7, 1))
        with open(text) as f:
            back = caffe_pb2.SolverParameter()
            text_format.Merge(f.read(), back)
        self.assertEqual(back.max_iter, 7)

    def test_two_solvers_side_by_side(self):
        """The finetuning notebook: two solvers are stepped in turn, losses go to arrays."""
        solvers = [('a', caffe.get_solver(self.solver(name='a.prototxt'))), ('b', caffe.get_solver(self.solver(name='b.prototxt', base_lr=0.02)))]
        loss = {name: np.zeros(6) for name, _ in solvers}
        for it in range(6):
            for name, s in solvers:
                s.step(1)
                loss[name][it] = s.net.blobs['loss'].data.copy()
        self.assertEqual(loss['a'][0], loss['b'][0])
        weights = [s.net.params['ip'][0].data for _, s in solvers]
        self.assertFalse((weights[0] == weights[1]).all())

    def test_scores_over_a_test_net(self):
        """FCN's score.py: the test net shares weights, runs from Python, and confusion matrices are summed with bincount."""
        solver = caffe.SGDSolver(self.solver())
        solver.step(2)
        solver.test_nets[0].share_with(solver.net)
        hist = np.zeros((7, 7))
        for _ in range(3):
            solver.test_nets[0].forward()
            got = solver.test_nets[0].blobs['ip'].data.argmax(1).flatten()
            want = solver.test_nets[0].blobs['label'].data.flatten().astype(int)
            hist += np.bincount(7 * want + got, minlength=49).reshape(7, 7)
        self.assertEqual(hist.sum(), 15)
        for net in solver.test_nets:
            np.testing.assert_array_equal(net.params['ip'][0].data, solver.net.params['ip'][0].data)

    @needs_protobuf
    def test_nets_from_text(self):
        """Caffe's learning notebook: a NetSpec with data and parameters shared between train and test, written by str."""
        from caffe import layers as L, params as P
        n = caffe.NetSpec()
        n.data, n.label = L.DummyData(shape=[dict(dim=[8, 1, 9, 9]), dict(dim=[8])], transform_param=dict(scale=1. / 255), ntop=2)
        n.conv1 = L.Convolution(n.data, kernel_size=5, num_output=20, weight_filler=dict(type='xavier'))
        n.pool1 = L.Pooling(n.conv1, kernel_size=2, stride=2, pool=P.Pooling.MAX)
        n.relu1 = L.ReLU(n.pool1, in_place=True)
        n.score = L.InnerProduct(n.relu1, num_output=10, weight_filler=dict(type='xavier'))
        n.loss = L.SoftmaxWithLoss(n.score, n.label, include=dict(phase=caffe.TRAIN), loss_param=dict(ignore_label=255, normalize=True))
        n.python = L.Python(n.score, module='layers_for_tests', layer='TenTimes', ntop=1, param_str=str(dict(a=1)))
        net = caffe.Net(self.write(str(n.to_proto())), caffe.TRAIN)
        self.assertEqual(net.forward()['loss'].shape, ())


DATA = '''
import ast, json, random
import numpy as np
import caffe
class Segments(caffe.Layer):
    """A data layer as fully convolutional nets and the multilabel example have it: no bottoms, parameters in param_str."""
    def setup(self, bottom, top):
        params = eval(self.param_str)
        self.top_names, self.batch = ['data', 'label'], params['batch']
        self.random = params.get('randomize', True)
        if len(top) != 2: raise Exception("Need to define two tops: data and label.")
        if len(bottom) != 0: raise Exception("Do not define a bottom.")
        self.idx, self._name_to_top_map = 0, {'data': 0, 'label': 1}
        random.seed(params.get('seed', None))
        top[0].reshape(1, 3, 1, 1)
    def reshape(self, bottom, top):
        size = 4 + self.idx % 3
        self.data = np.full((3, size, size), self.idx, dtype=np.float32)
        self.label = np.arange(size * size, dtype=np.uint8).reshape(1, size, size) % 2
        top[0].reshape(1, *self.data.shape)
        top[1].reshape(1, *self.label.shape)
    def forward(self, bottom, top):
        top[0].data[...] = self.data
        top[1].data[0, ...] = self.label
        self.idx = random.randint(0, 9) if self.random else self.idx + 1
    def backward(self, top, propagate_down, bottom):
        pass
class Proposals(caffe.Layer):
    """A layer as Faster R-CNN's proposals: the phase as text, a number of outputs that depends on values, tops shaped in forward."""
    def setup(self, bottom, top):
        self.stride = ast.literal_eval(self.param_str)['feat_stride']
        top[0].reshape(1, 5)
        if len(top) > 1: top[1].reshape(1, 1, 1, 1)
    def reshape(self, bottom, top):
        pass
    def forward(self, bottom, top):
        assert bottom[0].data.shape[0] == 1, 'Only single item batches are supported'
        key = str('TRAIN' if self.phase == 0 else 'TEST')
        height, width = bottom[0].data.shape[-2:]
        ys, xs = np.where(bottom[0].data[0, 0] > 0)
        rois = np.stack([0 * xs, xs, ys, xs + self.stride, ys + self.stride], 1).astype(np.float32)
        blob = np.vstack([rois, np.zeros((1, 5), np.float32)])
        top[0].reshape(*(blob.shape))
        top[0].data[...] = blob
        if len(top) > 1:
            top[1].reshape(len(blob), 1, 1, 1)
            top[1].data[...] = 1
    def backward(self, top, propagate_down, bottom):
        pass
'''


class Layers(Case):
    def setUp(self):
        super().setUp()
        self.write(DATA, 'idiom_layers.py')
        sys.path.insert(0, self.dir)
        self.addCleanup(sys.path.remove, self.dir)
        self.addCleanup(sys.modules.pop, 'idiom_layers', None)

    def test_data_layer(self):
        """FCN's voc_layers, the multilabel example: a data layer whose images change size, through a whole training net."""
        net = self.net('''layer { name: "data" type: "Python" top: "data" top: "label"
              python_param { module: "idiom_layers" layer: "Segments" param_str: "{'batch': 1, 'randomize': False}" } }
            layer { name: "score" type: "Convolution" bottom: "data" top: "score" convolution_param { num_output: 2 kernel_size: 1 weight_filler { type: "xavier" } } }
            layer { name: "loss" type: "SoftmaxWithLoss" bottom: "score" bottom: "label" top: "loss" loss_param { ignore_label: 255 normalize: false } }''')
        for i in range(5):
            net.forward()
            self.assertEqual((net.blobs['data'].data.shape[2], net.blobs['data'].data[0, 0, 0, 0]), (4 + i % 3, i))
            net.backward()
            self.assertTrue(i == 0 or net.params['score'][0].diff.any())
        self.assertEqual(net.layers[0].idx, 5)

    def test_wrong_tops(self):
        with self.assertRaisesRegex(Exception, 'Need to define two tops'):
            self.net('layer { name: "d" type: "Python" top: "d" python_param { module: "idiom_layers" layer: "Segments" param_str: "{\'batch\': 1}" } }')

    def test_proposals(self):
        """Faster R-CNN: the number of regions depends on the image; a layer after it follows."""
        net = self.net('''input: "score" input_shape { dim: 1 dim: 1 dim: 4 dim: 4 }
            layer { name: "proposal" type: "Python" bottom: "score" top: "rois" top: "weight"
              python_param { module: "idiom_layers" layer: "Proposals" param_str: "{'feat_stride': 16}" } }
            layer { name: "ip" type: "InnerProduct" bottom: "rois" top: "ip" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }''', caffe.TEST)
        for count in 3, 0, 7:
            score = np.zeros((1, 1, 4, 4), np.float32)
            score.flat[:count] = 1
            net.forward(score=score)
            self.assertEqual((net.blobs['rois'].data.shape, net.blobs['ip'].data.shape), ((count + 1, 5), (count + 1, 2)))


if __name__ == '__main__':
    unittest.main()
