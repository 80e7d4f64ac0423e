"""What the examples share: their flags, their data, and the files that they write."""

import argparse
import os
import subprocess
import sys

import numpy as np

import caffe

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arguments(description, flags=lambda parser: None):
    """Return the flags of an example; its files go to args.out. flags adds the example's own to a parser."""
    p = argparse.ArgumentParser(description=description)
    flags(p)
    p.add_argument('--small', action='store_true', help='few images and iterations: shows in seconds that the example works')
    p.add_argument('--data', default=os.path.join(ROOT, 'data'), help='folder of the data sets, which are made if absent')
    p.add_argument('--out', default=os.path.join(ROOT, 'build', 'examples'), help='folder of pictures, nets and weights')
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    caffe.set_mode_cpu()
    caffe.set_random_seed(1)
    return args


def dataset(args, kind):
    """Make a data set of `swcaffe dataset` unless it is there."""
    train, test = (1000, 400) if args.small else (20000, 4000)
    made = os.path.join(args.data, kind + ('_train.txt' if kind == 'points' else '_train_lmdb'))
    if os.path.exists(made):
        return
    subprocess.run([sys.executable, '-m', 'caffe', 'dataset', kind, '-out', args.data, '-train', str(train), '-test', str(test)],
                   check=True)


def model(args, name):
    """Return the text of a net in models/, reading its data from args.data."""
    with open(os.path.join(ROOT, 'models', name)) as f:
        return f.read().replace('"data/', '"%s/' % args.data)


def write(args, name, text):
    """Write a text file and return its path."""
    path = os.path.join(args.out, name)
    with open(path, 'w') as f:
        f.write(str(text))
    return path


def solver(args, name, net, **fields):
    """Write a net and a solver for it; return the path of the solver. Fields hold text as the prototxt has it."""
    path = write(args, name + '_net.prototxt', net)
    fields = dict(dict(base_lr=0.01, momentum=0.9, weight_decay=0.0005, lr_policy='"fixed"', random_seed=1, snapshot=0,
                       snapshot_after_train='false', display=0), **fields)
    lines = ['net: "%s"' % path] + ['%s: %s' % item for item in fields.items()]
    return write(args, name + '_solver.prototxt', '\n'.join(lines) + '\n')


def read_images(args, name, count, scale=1.0):
    """Return the first images of a database, (N, K, H, W), and their labels, as a Data layer reads them."""
    net = caffe.Net(write(args, name + '_read.prototxt', '''
        layer {{ name: "data" type: "Data" top: "data" top: "label" transform_param {{ scale: {} }}
          data_param {{ source: "{}" backend: LMDB batch_size: 100 }} }}'''.format(
              scale, os.path.join(args.data, name))), caffe.TEST)
    images, labels = [], []
    for _ in range(-(-count // 100)):
        net.forward()
        images.append(net.blobs['data'].data.copy())
        labels.append(net.blobs['label'].data.copy())
    return np.concatenate(images)[:count], np.concatenate(labels)[:count].astype(int).ravel()


def accuracy(net, batches, name='accuracy'):
    """Return the average of a test net's output over some batches."""
    return float(np.mean([net.forward()[name].copy() for _ in range(batches)]))


def lenet(args):
    """Return the file of the weights of LeNet, trained on digits."""
    path = os.path.join(args.out, 'lenet%s.caffemodel' % ('_small' if args.small else ''))
    if not os.path.exists(path):
        dataset(args, 'digits')
        training = caffe.SGDSolver(solver(args, 'lenet', model(args, 'lenet/train_val.prototxt'), lr_policy='"inv"', gamma=0.0001,
                                          power=0.75, test_iter=1, test_interval=1000000))
        training.step(100 if args.small else 1000)
        training.net.save(path)
    return path
