#!/usr/bin/env python3
"""Finetune a net for a task with few images.

A net learns seven kinds of shapes from thousands of images. Three other kinds come with only 30 images each. One net for these starts from
the first net's weights: its layers have the same names but for the last, whose name and number of outputs are new, and which learns ten
times as fast. Another net starts from random weights. Nets are written with NetSpec, so this needs python3-protobuf. The picture is
fine_tuning.svg.
"""

import os

import numpy as np

import caffe
import common
from caffe import layers as L
from caffe import params as P
from pictures import Picture, tiles

OLD, NEW = [0, 1, 2, 3, 4, 5, 6], [7, 8, 9]


def net(last, classes, batch, rate=1, deploy=False):
    """Return CIFAR-10 quick with a last layer of its own, for images that Python puts into the blob data. With deploy it ends in
    probabilities, otherwise in the loss."""
    learned = dict(param=[dict(lr_mult=1), dict(lr_mult=2)])

    def conv(bottom, outputs, std):
        return L.Convolution(bottom, num_output=outputs, pad=2, kernel_size=5, weight_filler=dict(type='gaussian', std=std), **learned)

    def pool(bottom, kind):
        return L.Pooling(bottom, pool=kind, kernel_size=3, stride=2)

    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[batch, 3, 32, 32]))
    n.conv1 = conv(n.data, 32, 0.0001)
    n.pool1 = pool(n.conv1, P.Pooling.MAX)
    n.relu1 = L.ReLU(n.pool1, in_place=True)
    n.conv2 = conv(n.relu1, 32, 0.01)
    n.relu2 = L.ReLU(n.conv2, in_place=True)
    n.pool2 = pool(n.relu2, P.Pooling.AVE)
    n.conv3 = conv(n.pool2, 64, 0.01)
    n.relu3 = L.ReLU(n.conv3, in_place=True)
    n.pool3 = pool(n.relu3, P.Pooling.AVE)
    n.ip1 = L.InnerProduct(n.pool3, num_output=64, weight_filler=dict(type='gaussian', std=0.1), **learned)
    n[last] = L.InnerProduct(n.ip1, num_output=classes, weight_filler=dict(type='gaussian', std=0.1),
                             param=[dict(lr_mult=rate), dict(lr_mult=2 * rate)])
    if deploy:
        n.prob = L.Softmax(n[last])
    else:
        n.label = L.Input(shape=dict(dim=[batch]))
        n.loss = L.SoftmaxWithLoss(n[last], n.label)
        n.acc = L.Accuracy(n[last], n.label)
    return n.to_proto()


class Task:
    """Images of some classes, which are numbered from 0, at most so many of each."""

    def __init__(self, images, labels, classes, most=None):
        keep = np.concatenate([np.flatnonzero(labels == c)[:most] for c in classes])
        self.images, self.labels = images[keep], np.searchsorted(classes, labels[keep])
        self.random = np.random.RandomState(1)

    def fill(self, net):
        """Put a random batch into a net."""
        pick = self.random.randint(0, len(self.images), net.blobs['data'].data.shape[0])
        net.blobs['data'].data[...] = self.images[pick]
        net.blobs['label'].data[...] = self.labels[pick]

    def accuracy(self, net):
        """Return the share of all images that a net classifies correctly, in whole batches."""
        batch, right = net.blobs['data'].data.shape[0], []
        for i in range(0, len(self.images) - batch + 1, batch):
            net.blobs['data'].data[...] = self.images[i:i + batch]
            net.blobs['label'].data[...] = self.labels[i:i + batch]
            right.append(float(net.forward()['acc']))
        return float(np.mean(right))


def learn(args, name, spec, task, test, iterations, weights=None, rate=0.001, kind=caffe.SGDSolver, tests=20):
    """Train a net; return it, and iterations and test accuracies on the way: those of the beginning and of about so many tests."""
    solver = kind(common.solver(args, name, spec, base_lr=rate, weight_decay=0.004))
    if weights:
        solver.net.copy_from(weights)
    tested, accuracies = [0], [test.accuracy(solver.net)]
    for i in range(iterations):
        task.fill(solver.net)
        solver.step(1)
        if (i + 1) % max(1, iterations // tests) == 0:
            tested.append(i + 1)
            accuracies.append(test.accuracy(solver.net))
    return solver.net, tested, accuracies


def main():
    args = common.arguments(__doc__)
    common.dataset(args, 'shapes')
    train = common.read_images(args, 'shapes_train_lmdb', 600 if args.small else 10000)
    test = common.read_images(args, 'shapes_test_lmdb', 200 if args.small else 2000)
    mean = train[0].mean(0)
    train, test = (train[0] - mean, train[1]), (test[0] - mean, test[1])

    long, short = (20, 10) if args.small else (1200, 300)
    old = Task(*train, OLD)
    base, _, accuracies = learn(args, 'seven_shapes', net('ip2', len(OLD), 100), old, Task(*test, OLD), long)
    print('%d images of seven shapes: test accuracy %.4f' % (len(old.images), accuracies[-1]))
    weights = os.path.join(args.out, 'seven_shapes.caffemodel')
    base.save(weights)

    few, new_test = Task(*train, NEW, most=30), Task(*test, NEW)
    spec = net('ip2_new', len(NEW), 30, rate=10)
    curves = []
    for title, start in (('finetuned', weights), ('from random weights', None)):
        tuned, tested, accuracies = learn(args, 'three_shapes', spec, few, new_test, short, start, rate=0.0003)
        print('%-20s on %d images of three other shapes: test accuracy %.4f' % (title, len(few.images), accuracies[-1]))
        curves.append((title, tested, accuracies))
        if start:
            filters = tuned.params['conv1'][0].data[:, ::-1].transpose(0, 2, 3, 1).copy()

    p = Picture(940, 440, 'Finetuning with thirty images of each class')
    p.text(20, 60, 'all images of the new classes')
    shown = (few.images + mean)[:, ::-1].transpose(0, 2, 3, 1) / 255
    p.image(20, 70, tiles(shown, columns=12, scale=1, gap=2))
    p.text(20, 365, 'filters of conv1, finetuned')
    p.image(20, 375, tiles(filters, columns=16, scale=4, gap=2))
    p.plot(460, 70, 440, 300, curves, 'test accuracy on the new classes', 'iteration', ys=(0, 1), low=True)
    p.save(os.path.join(args.out, 'fine_tuning.svg'))


if __name__ == '__main__':
    main()
