#!/usr/bin/env python3
"""A loss layer in Python: the Euclidean loss, and one that a net in a prototxt cannot name, Huber's.

A line is fitted to points of which some are far off. The Python copy of EuclideanLoss gives the same line as the engine's layer. Huber's
loss grows only linearly, so that the outliers pull less. The picture is python_loss.svg. Needs numpy only.
"""

import os
import sys

import numpy as np

import caffe
import common
from pictures import COLOURS, Picture

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # the net imports this file by its name


class EuclideanLoss(caffe.Layer):
    """sum (x - y)^2 / 2N over N examples."""

    def setup(self, bottom, top):
        if len(bottom) != 2:
            raise Exception('need two inputs, predictions and targets, not %d' % len(bottom))

    def reshape(self, bottom, top):
        if bottom[0].count != bottom[1].count:
            raise Exception('%d predictions, but %d targets' % (bottom[0].count, bottom[1].count))
        self.diff = np.zeros_like(bottom[0].data)
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.diff[...] = bottom[0].data - bottom[1].data.reshape(self.diff.shape)
        top[0].data[...] = np.sum(self.diff ** 2) / bottom[0].num / 2

    def backward(self, top, propagate_down, bottom):
        for i, sign in enumerate((1, -1)):
            if propagate_down[i]:
                bottom[i].diff[...] = (sign * top[0].diff.flat[0] / bottom[i].num * self.slope()).reshape(bottom[i].data.shape)

    def slope(self):
        """Return the derivative of the loss of every example by its prediction."""
        return self.diff


class HuberLoss(EuclideanLoss):
    """sum h(x - y) / N, where h(d) is d^2 / 2 up to |d| = delta, and goes on as a straight line. param_str holds delta."""

    def setup(self, bottom, top):
        EuclideanLoss.setup(self, bottom, top)
        self.delta = float(self.param_str)

    def forward(self, bottom, top):
        EuclideanLoss.forward(self, bottom, top)
        size = np.abs(self.diff)
        top[0].data[...] = np.sum(np.where(size < self.delta, size ** 2 / 2, self.delta * (size - self.delta / 2))) / bottom[0].num

    def slope(self):
        return np.clip(self.diff, -self.delta, self.delta)


NET = '''
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 100 dim: 1 } } }
layer { name: "y" type: "Input" top: "y" input_param { shape { dim: 100 dim: 1 } } }
layer { name: "line" type: "InnerProduct" bottom: "x" top: "line"
  inner_product_param { num_output: 1 weight_filler { type: "constant" value: 0 } } }
layer { name: "loss" %s bottom: "line" bottom: "y" top: "loss" loss_weight: 1 }
'''
PYTHON = 'type: "Python" python_param { module: "python_loss" layer: "%s" param_str: "%s" }'
LOSSES = [('EuclideanLoss, the engine\'s', 'type: "EuclideanLoss"'), ('EuclideanLoss in Python', PYTHON % ('EuclideanLoss', '')),
          ('HuberLoss in Python', PYTHON % ('HuberLoss', '0.2'))]


def main():
    args = common.arguments(__doc__)
    random = np.random.RandomState(1)
    x = random.uniform(-1, 1, 100)
    y = 0.8 * x - 0.3 + random.normal(0, 0.05, 100)
    y[x > 0.6] -= random.uniform(0, 2.5, int((x > 0.6).sum()))

    curves, lines = [], []
    for i, (name, layer) in enumerate(LOSSES):
        solver = caffe.SGDSolver(common.solver(args, 'loss%d' % i, NET % layer, base_lr=0.05, weight_decay=0))
        solver.net.blobs['x'].data[:, 0] = x
        solver.net.blobs['y'].data[:, 0] = y
        losses = []
        for _ in range(100 if args.small else 300):
            solver.step(1)
            losses.append(float(solver.net.blobs['loss'].data))
        w, b = (float(p.data.flat[0]) for p in solver.net.params['line'])
        print('%-27s y = %.4f x %+.4f, loss %.5f' % (name, w, b, losses[-1]))
        curves.append((name, range(1, len(losses) + 1), losses))
        lines.append((w, b))

    p = Picture(940, 400, 'A line through points with outliers, by two losses in Python')
    p.plot(70, 70, 380, 260, curves, 'loss (both Euclidean curves coincide)', 'iteration')
    place = p.axes(530, 70, 380, 260, (-1, 1), (float(y.min()) - 0.1, 1), 'points, and the lines (true: y = 0.8 x - 0.3)', 'x')
    p.dots(np.transpose(place(x, y)))
    ends = np.array([-1.0, 1])
    for i in (1, 2):
        p.line(np.transpose(place(ends, lines[i][0] * ends + lines[i][1])), COLOURS[i], 2)
        p.text(545, 90 + 16 * i, LOSSES[i][0], 11, colour=COLOURS[i])
    p.save(os.path.join(args.out, 'python_loss.svg'))


if __name__ == '__main__':
    main()
