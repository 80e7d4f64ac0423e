#!/usr/bin/env python3
"""Net surgery: weights are arrays, so they can be written and moved.

First, a convolution gets its filters by hand: a blur and the two derivatives of Sobel. Second, LeNet, which classifies 28 x 28 pixels, is
cast into a fully convolutional net: its inner products become convolutions with the same numbers. This net slides over a page of any
size at once, and gives a map of scores. The picture is net_surgery.svg. LeNet is trained first unless that was done before. Needs
numpy only.
"""

import os

import numpy as np

import caffe
import common
from pictures import COLOURS, Picture, heat, stretched

FILTERS = '''
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 28 dim: 28 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 3 kernel_size: 3 pad: 1 bias_term: false } }
'''

# LeNet with inner products as convolutions: ip1 saw 50 maps of 4 x 4, ip2 one position of 500 maps.
CONVOLUTIONAL = '''
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 28 dim: 28 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" convolution_param { num_output: 20 kernel_size: 5 } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2" convolution_param { num_output: 50 kernel_size: 5 } }
layer { name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip1-conv" type: "Convolution" bottom: "pool2" top: "ip1-conv" convolution_param { num_output: 500 kernel_size: 4 } }
layer { name: "relu1" type: "ReLU" bottom: "ip1-conv" top: "ip1-conv" }
layer { name: "ip2-conv" type: "Convolution" bottom: "ip1-conv" top: "ip2-conv" convolution_param { num_output: 10 kernel_size: 1 } }
layer { name: "prob" type: "Softmax" bottom: "ip2-conv" top: "prob" }
'''


def main():
    args = common.arguments(__doc__)
    common.dataset(args, 'digits')
    images, labels = common.read_images(args, 'digits_test_lmdb', 100, scale=1 / 256)

    filters = caffe.Net(common.write(args, 'filters.prototxt', FILTERS), caffe.TEST)
    sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    filters.params['conv'][0].data[:, 0] = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16, sobel, sobel.T
    filters.blobs['data'].data[...] = images[0]
    filtered = filters.forward()['conv'][0].copy()

    weights = common.lenet(args)
    lenet = caffe.Net(os.path.join(common.ROOT, 'models/lenet/deploy.prototxt'), weights, caffe.TEST)
    whole = caffe.Net(common.write(args, 'lenet_convolutional.prototxt', CONVOLUTIONAL), weights, caffe.TEST)
    for old, new in (('ip1', 'ip1-conv'), ('ip2', 'ip2-conv')):
        for i in (0, 1):
            print('%s %s -> %s %s' % (old, lenet.params[old][i].data.shape, new, whole.params[new][i].data.shape))
            whole.params[new][i].data.flat = lenet.params[old][i].data.flat

    lenet.blobs['data'].reshape(len(images), 1, 28, 28)
    lenet.blobs['data'].data[...] = images
    one = lenet.forward()['prob']
    whole.blobs['data'].reshape(len(images), 1, 28, 28)
    whole.blobs['data'].data[...] = images
    same = whole.forward()['prob'][:, :, 0, 0]
    print('greatest difference of a probability between both nets: %.1e' % np.abs(one - same).max())
    print('%d of %d digits are classified correctly' % ((same.argmax(1) == labels).sum(), len(labels)))

    page, places = page_of(images, labels)
    whole.blobs['data'].reshape(1, 1, *page.shape)
    whole.blobs['data'].data[0, 0] = page
    prob = whole.forward()['prob'][0].copy()
    print('page of %d x %d pixels: map of %d x %d positions' % (page.shape + prob.shape[1:]))
    draw(args, images[0, 0], filtered, page, places, prob)


def page_of(images, labels):
    """Return a page with digits in three rows, and their places (y, x, label)."""
    page, places = np.zeros((112, 224), dtype=np.float32), []
    for i in range(15):
        y, x = 4 + i // 5 * 36, 8 + i % 5 * 44 + i // 5 * 4
        page[y:y + 28, x:x + 28] = images[i, 0]
        places.append((y, x, labels[i]))
    return page, places


def draw(args, digit, filtered, page, places, prob):
    p = Picture(900, 480, 'Net surgery')
    for i, (name, image) in enumerate([('image', digit), ('blur', filtered[0]), ('d/dx', filtered[1]), ('d/dy', filtered[2])]):
        p.text(20 + i * 115, 60, name)
        p.image(20 + i * 115, 68, stretched(image), 3)
    p.text(20, 180, 'a page, and what the convolutional LeNet reads where a digit is')
    p.image(20, 190, page, 2)
    for y, x, label in places:
        found = int(prob[:, y // 4, x // 4].argmax())
        p.box(20 + 2 * x, 190 + 2 * y, 56, 56, COLOURS[2 if found == label else 4])
        p.text(22 + 2 * x, 190 + 2 * y + 12, str(found), 12, colour='#ffd24a')
    p.text(20, 430, 'green: read correctly; red: wrongly. LeNet never learned what no digit')
    p.text(20, 446, 'looks like, so it also sees digits between them.')
    p.text(500, 60, 'probability of 0 to 9 at every position: dark 0, yellow 1')
    for d in range(10):
        x, y = 500 + d // 5 * 190, 68 + d % 5 * 78
        p.text(x, y + 38, str(d), 14)
        p.image(x + 16, y, heat(prob[d]), 3)
    p.save(os.path.join(args.out, 'net_surgery.svg'))


if __name__ == '__main__':
    main()
