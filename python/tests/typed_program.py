"""A program with types that uses most of the module's names. test_module.py lets mypy check it; it is never run."""

import os
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

import caffe
import caffe.io
import swcaffe
import swcaffe.io
from caffe import layers as L
from caffe import params as P
from caffe.proto import caffe_pb2


class Double(caffe.Layer):
    def setup(self, bottom: Sequence[caffe.Blob], top: Sequence[caffe.Blob]) -> None:
        self.factor = float(self.param_str or 2)
        self.blobs.add_blob(3)

    def reshape(self, bottom: Sequence[caffe.Blob], top: Sequence[caffe.Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: Sequence[caffe.Blob], top: Sequence[caffe.Blob]) -> None:
        top[0].data[...] = self.factor * bottom[0].data

    def backward(self, top: Sequence[caffe.Blob], propagate_down: Sequence[bool], bottom: Sequence[caffe.Blob]) -> None:
        if propagate_down[0]:
            bottom[0].diff[...] = self.factor * top[0].diff


def nets(path: str) -> None:
    with caffe.Net(path, caffe.TEST, weights='w') as net:
        a: npt.NDArray[np.float32] = net.forward()['prob']
    net = caffe.Net(path, 'weights', caffe.TEST)
    net = caffe.Net(path, caffe.TEST, level=0, stages=['a'])
    net = caffe.Net(network_file=path, phase=1)
    out = net.forward(blobs=['a'], start='x', end='y', data=np.zeros(3))
    net.backward(diffs=['a'], start='x', end='y', prob=np.zeros(3))
    for name, blob in net.blobs.items():
        print(name, blob.data.shape, blob.diff.mean(), blob.count, blob.num, blob.channels, blob.height, blob.width, blob.shape[0])
    net.blobs['data'].reshape(1, 3, 4, 5)
    for name, blobs in net.params.items():
        print(name, blobs[0].data, len(blobs))
    for i, layer in enumerate(net.layers):
        print(net._layer_names[i], layer.type, layer.blobs[0].data)
    net._forward(0, 1)
    net._backward(1, 0)
    print(net._blob_names, net._bottom_ids(0), net._top_ids(0), net._inputs, net._outputs, net._blob_loss_weights, net._blobs)
    out = net.forward_all(data=np.zeros(3))
    values, gradients = net.forward_backward_all(data=np.zeros(3))
    print(a, out, values, gradients)
    net.set_input_arrays(np.zeros(3, np.float32), np.zeros(3, np.float32))
    net.before_forward(lambda i: print(i))
    t = net.time(3)[0]
    print(t.name, t.forward + t.backward)
    net.share_with(net)
    net.save(os.fspath('x'))
    net.save_hdf5('x', write_diff=True)


def solvers(path: str) -> None:
    solver = caffe.get_solver(path)
    solver = caffe.SGDSolver(path)
    solver.step(1)
    solver.solve()
    solver.solve('x')
    solver.net.copy_from('x')
    for n in solver.test_nets:
        n.share_with(solver.net)
    for iteration, loss, rate in solver:
        print(iteration, loss, rate)
    print(solver.iter, solver.lr, solver.param.max_iter, solver.type)
    solver.param.base_lr = 3.0
    solver.add_callback(lambda: None, lambda: 3)
    solver.apply_update()
    solver.snapshot()
    solver.restore('x')
    solver.share_weights(solver.net)


def spec() -> str:
    n = caffe.NetSpec()
    n.data, n.label = L.DummyData(shape=[dict(dim=[1])], ntop=2)
    n.conv = L.Convolution(n.data, num_output=3)
    n['x'] = L.Pooling(n.conv, pool=P.Pooling.MAX)
    return str(n.to_proto()) + str(caffe.to_proto(n.conv))


def rest() -> None:
    caffe.set_mode_cpu()
    caffe.set_random_seed(np.int64(3))
    caffe.init_log(2, True)
    caffe.log('x')
    timer = caffe.Timer()
    timer.start()
    timer.stop()
    print(timer.ms, caffe.layer_type_list(), caffe.__version__, caffe.TRAIN, caffe.has_nccl())
    image = caffe.io.load_image('x')
    t = caffe.io.Transformer({'data': (1, 3, 4, 5)})
    t.set_mean('data', np.array([1.0, 2, 3]))
    t.set_transpose('data', (2, 0, 1))
    print(t.preprocess('data', image), t.deprocess('data', image), caffe.io.resize_image(image, (3, 4)), caffe.io.oversample([image], (3, 4)))
    m: Any = caffe_pb2.NetParameter()
    c = caffe.Classifier('x', 'y', image_dims=(256, 256), mean=np.zeros(3), raw_scale=255, channel_swap=(2, 1, 0))
    print(c.predict([image], oversample=False).argmax())
    d = caffe.Detector('x', 'y', context_pad=16)
    print(d.detect_windows([('x', [(1, 2, 3, 4)])]))
    caffe.draw.draw_net_to_file(m, 'x', 'LR')
    print(caffe.coord_map.crop, swcaffe.Net)
    same: swcaffe.Net = caffe.Net('x', 1)
    print(same, swcaffe.io.load_image('x').mean())


def dnn(image: npt.NDArray[np.uint8]) -> None:
    net = caffe.dnn.readNetFromCaffe('x', b'y')
    net.setInput(caffe.dnn.blobFromImage(image, 1 / 255, (300, 300), (104, 117, 123), swapRB=True))
    print(net.forward().shape, [a.shape for a in net.forward(net.getUnconnectedOutLayersNames())])
    net.getLayer('x').blobs = [np.ones(3)]
    print(caffe.dnn.NMSBoxes([[0, 0, 1, 1]], [1.0], 0.5, 0.4), net.getPerfProfile()[0] / 1e6, swcaffe.dnn.readNet('x', 'y').empty())
    print(caffe.dnn.ClassificationModel(net).setInputScale(2).classify(image)[1] + 1.0)
    caffe.dnn.install()
