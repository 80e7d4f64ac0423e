#!/usr/bin/env python3
"""Classify an image file, and look inside the net: its filters, what every layer makes of the image, and the scores.

The net is models/cifar10_quick, which knows ten shapes. It is trained first unless that was done before. The picture is
classification.svg. The mean image is a message, so this needs python3-protobuf.
"""

import os

import caffe
import common
from caffe.proto import caffe_pb2
from pictures import Picture, png, stretched, tiles

NAMES = ['disc', 'square', 'triangle', 'star', 'cross', 'ring', 'crescent', 'hexagon', 'heart', 'arrow']


def main():
    args = common.arguments(__doc__)
    common.dataset(args, 'shapes')
    weights = trained(args)

    # The database holds B, G, R from 0 to 255, image files R, G, B, which load_image returns from 0 to 1.
    images, labels = common.read_images(args, 'shapes_test_lmdb', 100)
    files = []
    for i, image in enumerate(images):
        files.append(os.path.join(args.out, 'shape_%02d.png' % i))
        with open(files[-1], 'wb') as f:
            f.write(png(image[::-1].transpose(1, 2, 0) / 255))

    net = caffe.Classifier(os.path.join(common.ROOT, 'models/cifar10_quick/deploy.prototxt'), weights, mean=mean_image(args),
                           raw_scale=255, channel_swap=(2, 1, 0))
    prob = net.predict([caffe.io.load_image(f) for f in files], oversample=False)
    right = int((prob.argmax(1) == labels).sum())
    print('%d of %d images are classified correctly' % (right, len(labels)))

    # The transformer and the blobs, one image by hand.
    shown = next((i for i, label in enumerate(labels) if NAMES[label] == 'star'), 0)
    net.blobs['data'].reshape(1, *net.blobs['data'].data.shape[1:])
    net.blobs['data'].data[...] = net.transformer.preprocess('data', caffe.io.load_image(files[shown]))
    out = net.forward()
    for name, blob in net.blobs.items():
        print('%-6s %s' % (name, blob.data.shape))
    draw(args, net, images, prob, labels, shown, out['prob'][0])


def trained(args):
    """Return the file of the trained weights."""
    path = os.path.join(args.out, 'cifar10_quick%s.caffemodel' % ('_small' if args.small else ''))
    if not os.path.exists(path):
        # In few iterations Adam gets further: the net's first weights are tiny. At higher rates conv2 ends with no output above 0.
        iterations, kind, rate = (100, caffe.AdamSolver, 0.0005) if args.small else (1500, caffe.SGDSolver, 0.001)
        solver = kind(common.solver(
            args, 'cifar10_quick', common.model(args, 'cifar10_quick/train_val.prototxt'), base_lr=rate, weight_decay=0.004,
            lr_policy='"step"', gamma=0.1, stepsize=iterations * 4 // 5, test_iter=1, test_interval=1000000))
        solver.step(iterations)
        solver.net.save(path)
    return path


def mean_image(args):
    """Return the mean of the training images, (3, 32, 32)."""
    with open(os.path.join(args.data, 'shapes_mean.binaryproto'), 'rb') as f:
        return caffe.io.blobproto_to_array(caffe_pb2.BlobProto.FromString(f.read()))[0]


def draw(args, net, images, prob, labels, shown, scores):
    def colours(a):
        return a[:, ::-1].transpose(0, 2, 3, 1)

    p = Picture(980, 600, 'Inside CIFAR-10 quick')
    p.text(20, 60, 'input: %s' % NAMES[labels[shown]])
    p.image(20, 70, stretched(colours(images[shown:shown + 1])[0]), 4)
    p.bars(20, 250, 110, 220, NAMES, scores, 'probabilities')
    p.text(220, 60, 'filters of conv1')
    p.image(220, 70, tiles(colours(net.params['conv1'][0].data), columns=8, scale=4, gap=2))
    for x, y, name, count, columns, scale in ((430, 60, 'conv1', 16, 8, 2), (220, 230, 'pool1', 32, 8, 2), (520, 230, 'conv2', 32, 8, 2),
                                              (220, 400, 'pool2', 32, 8, 4), (520, 400, 'conv3', 64, 16, 3), (810, 230, 'pool3', 64, 8, 4)):
        of = '' if count == net.blobs[name].data.shape[1] else '%d of the ' % count
        p.text(x, y, '%s: %s%d maps of %d x %d' % ((name, of) + net.blobs[name].data.shape[1:]))
        p.image(x, y + 10, tiles(net.blobs[name].data[0, :count], columns=columns, scale=scale, gap=2, each=True))
    p.text(220, 575, 'black and white: the least and the greatest value of each map; all black: a map of one value')
    p.save(os.path.join(args.out, 'classification.svg'))


if __name__ == '__main__':
    main()
