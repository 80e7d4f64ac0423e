#!/usr/bin/env python3
"""Learn LeNet with a solver that is stepped by hand.

Between two steps everything is open to Python: this example notes the loss of every iteration, tests the net when it likes, and
follows how the scores of ten digits develop. Its picture, learn_lenet.svg, shows digits of the training set, the filters
of the first layer, the loss and the test accuracy over the iterations, and these scores. Needs numpy only.
"""

import numpy as np

import caffe
import common
from pictures import Picture, heat, tiles


def flags(parser):
    parser.add_argument('--until', type=float, default=2, metavar='ACCURACY', help='stop as soon as the test accuracy is as high')


def main():
    args = common.arguments(__doc__, flags)
    common.dataset(args, 'digits')
    iterations, every, batches = (150, 50, 4) if args.small else (2000, 100, 40)
    solver = caffe.SGDSolver(common.solver(
        args, 'lenet', common.model(args, 'lenet/train_val.prototxt'), lr_policy='"inv"', gamma=0.0001, power=0.75,
        test_iter=1, test_interval=1000000))

    for name, blob in solver.net.blobs.items():
        print('%-8s %s' % (name, blob.data.shape))
    for name, params in solver.net.params.items():
        print('%-8s %s' % (name, [p.data.shape for p in params]))

    solver.net.forward()
    solver.test_nets[0].forward()
    first = solver.net.blobs['data'].data[:8, 0].copy()
    watched = solver.test_nets[0].blobs['data'].data[:10, 0].copy()

    losses, tested, accuracies, scores = [], [], [], []
    for i in range(iterations):
        solver.step(1)
        losses.append(float(solver.net.blobs['loss'].data))
        if i < 30:
            scores.append(scores_of(solver, watched))
        if (i + 1) % every == 0:
            tested.append(i + 1)
            accuracies.append(common.accuracy(solver.test_nets[0], batches))
            print('iteration %d: loss %.4f, test accuracy %.4f' % (i + 1, losses[-1], accuracies[-1]))
            if accuracies[-1] >= args.until:
                break
    draw(args, first, watched, losses, tested, accuracies, np.array(scores), solver.net.params['conv1'][0].data[:, 0])
    print('test accuracy: %.4f' % accuracies[-1])


def scores_of(solver, images):
    """Return the scores of ten images, by the net that is being trained: test nets share its weights."""
    net = solver.test_nets[0]
    net.blobs['data'].data[:len(images), 0] = images
    net.forward(start='conv1')
    return net.blobs['ip2'].data[:len(images)].copy()


def draw(args, first, watched, losses, tested, accuracies, scores, filters):
    p = Picture(900, 670, 'LeNet on rendered digits, stepped from Python')
    p.image(20, 50, tiles(first, columns=8, scale=3, gap=4))
    p.text(20, 155, 'the first training images')
    p.image(740, 50, tiles(filters, columns=5, scale=5, gap=3))
    p.text(740, 175, 'filters of conv1')
    p.plot(60, 215, 430, 230, [('loss', range(1, len(losses) + 1), losses)], 'loss of the training batch', 'iteration')
    p.plot(570, 215, 300, 230, [('accuracy', tested, accuracies)], 'test accuracy, %.2f %% at the end' % (100 * accuracies[-1]),
           'iteration', ys=(0.8, 1))
    p.text(20, 520, 'ten test images, and the probabilities of 0 to 9 (down) in the first 30 iterations (across)')
    for i, image in enumerate(watched):
        x, y = 20 + i % 5 * 175, 535 + i // 5 * 65
        p.image(x, y + 11, image, 1)
        probability = np.exp(scores[:, i] - scores[:, i].max(1, keepdims=True))
        p.image(x + 35, y, heat((probability / probability.sum(1, keepdims=True)).T), 4)
    p.save(args.out + '/learn_lenet.svg')


if __name__ == '__main__':
    main()
