#!/usr/bin/env python3
"""Brew logistic regression from HDF5 files, then a net with a hidden layer.

Both nets of models/hdf5_classification learn to tell two classes of points with four coordinates. Each class has two clusters, so a line
is not enough. The picture, brew_logistic_regression.svg, shows the points, those that each net gets wrong, and how the test accuracy
grows. Needs numpy only.
"""

import os

import numpy as np

import caffe
import common
from pictures import COLOURS, Picture


def learn(args, name):
    """Train one of the nets; return its solver, and iterations and test accuracies on the way."""
    rounds, steps, batches = (5, 100, 4) if args.small else (20, 500, 40)
    text = common.model(args, 'hdf5_classification/%strain_val.prototxt' % name)
    for part in ('train', 'test'):
        text = text.replace(os.path.join(args.data, 'points_%s.txt' % part), points_list(args, part))
    solver = caffe.SGDSolver(common.solver(
        args, name + 'logistic', text, lr_policy='"step"', gamma=0.1, stepsize=rounds * steps // 2, test_iter=1,
        test_interval=1000000))
    tested, accuracies = [], []
    for i in range(rounds):
        solver.step(steps)
        tested.append((i + 1) * steps)
        accuracies.append(common.accuracy(solver.test_nets[0], batches))
    return solver, tested, accuracies


def points_list(args, part):
    """Return a list file with the absolute path of a set's HDF5 file: lists of `swcaffe dataset` name files relative to the place
    where it ran."""
    with open(os.path.join(args.data, 'points_%s.txt' % part)) as f:
        files = [os.path.join(args.data, os.path.basename(line.strip())) for line in f if line.strip()]
    return common.write(args, 'points_%s.txt' % part, ''.join(name + '\n' for name in files))


def classified(net, batches):
    """Return points, labels and the classes that the net gives them."""
    scores = next(name for name in reversed(net.blobs) if net.blobs[name].data.shape == (100, 2))
    parts = []
    for _ in range(batches):
        net.forward()
        parts.append(np.column_stack([net.blobs['data'].data, net.blobs['label'].data.ravel(), net.blobs[scores].data.argmax(1)]))
    rows = np.concatenate(parts)
    return rows[:, :4], rows[:, 4], rows[:, 5]


def main():
    args = common.arguments(__doc__)
    common.dataset(args, 'points')
    curves, results = [], []
    for title, name in (('logistic regression', ''), ('40 hidden units', 'nonlinear_')):
        solver, tested, accuracies = learn(args, name)
        print('%-20s test accuracy %.4f' % (title, accuracies[-1]))
        curves.append((title, tested, accuracies))
        results.append((title, classified(solver.test_nets[0], 4 if args.small else 10)))

    p = Picture(1000, 420, 'Logistic regression on points from HDF5 files')
    for i, (title, (points, labels, found)) in enumerate(results):
        # The two directions in which the points spread most.
        _, _, axes = np.linalg.svd(points - points.mean(0), full_matrices=False)
        u, v = axes[:2] @ (points - points.mean(0)).T
        wrong = found != labels
        limits = [(a.min() - 0.3, a.max() + 0.3) for a in (u, v)]
        place = p.axes(50 + i * 320, 80, 260, 260, *limits,
                       '%s: %.1f %% right' % (title, 100 * (1 - wrong.mean())))
        for c in (0, 1):
            p.dots(np.transpose(place(u, v))[(labels == c) & ~wrong], COLOURS[c])
        p.dots(np.transpose(place(u, v))[wrong], '#111', 2.5)
    p.plot(720, 80, 250, 260, curves, 'test accuracy', 'iteration', ys=(0.7, 1), low=True)
    p.text(50, 400, 'blue and orange: the two classes; black: classified wrongly')
    p.save(os.path.join(args.out, 'brew_logistic_regression.svg'))


if __name__ == '__main__':
    main()
