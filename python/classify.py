#!/usr/bin/env python3
"""Classifies images and writes the scores of every class as a numpy file.

    classify.py --model_def deploy.prototxt --pretrained_model net.caffemodel --mean_file mean.npy cat.jpg scores.npy

The flags are those of Caffe's classify.py.
"""

import argparse
import glob
import os
import time

import numpy as np

import caffe


def numbers(text):
    """Return the whole numbers of a text like '256,256', None of an empty one."""
    return [int(s) for s in text.split(',')] if text else None


def check_output(p, path):
    """End the program, of argument parser p, if the file cannot be written when all is computed."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        p.error('%s: there is no folder %s' % (path, folder))
    if os.path.isdir(path):
        p.error('%s is a folder; a file is to be written' % path)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        p.error('%s: it may not be written' % path)


def flags():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('input_file', help='an image, a folder of images, or a .npy file with images (N x H x W x K)')
    p.add_argument('output_file', help='the .npy file to write, one row of scores an image')
    p.add_argument('--model_def', required=True, help='the net for classifying')
    p.add_argument('--pretrained_model', required=True, help='its weights')
    p.add_argument('--gpu', action='store_true', help='accepted; nets run on CPUs')
    p.add_argument('--center_only', action='store_true', help='classify the centre only, instead of averaging over ten crops')
    p.add_argument('--images_dim', default='256,256', help="'height,width' to which images are resized before cropping (256,256)")
    p.add_argument('--mean_file', default='', help='.npy file of the mean image (K x H x W), whose mean over pixels is subtracted')
    p.add_argument('--input_scale', type=float, help='factor after the mean is subtracted')
    p.add_argument('--raw_scale', type=float, default=255.0, help='factor before the mean is subtracted (255)')
    p.add_argument('--channel_swap', default='2,1,0', help="order of the channels; the default turns RGB into BGR; '' for grey nets")
    p.add_argument('--ext', default='jpg', help='ending of the images in a folder (jpg)')
    p.add_argument('--labels_file', help='file with the name of each class on a line, for --print_results')
    p.add_argument('--print_results', action='store_true', help='print the five best classes of each image')
    return p


def main():
    p = flags()
    args = p.parse_args()
    check_output(p, args.output_file)
    labels = None
    if args.print_results and args.labels_file:
        with open(args.labels_file) as f:
            labels = f.read().splitlines()
    mean = np.load(args.mean_file).mean(1).mean(1) if args.mean_file else None
    if args.gpu:
        caffe.set_mode_gpu()
    else:
        caffe.set_mode_cpu()
    classifier = caffe.Classifier(args.model_def, args.pretrained_model, image_dims=numbers(args.images_dim), mean=mean,
                                  input_scale=args.input_scale, raw_scale=args.raw_scale, channel_swap=numbers(args.channel_swap))
    if labels is not None:
        classes = classifier.blobs[classifier.outputs[0]].data[0].size
        if len(labels) < classes:
            p.error('%s: %d labels for %d classes' % (args.labels_file, len(labels), classes))
    color = classifier.blobs[classifier.inputs[0]].data.shape[1] != 1

    path = os.path.expanduser(args.input_file)
    if path.endswith('.npy'):
        names, images = None, np.load(path)
        names = ['%s[%d]' % (path, i) for i in range(len(images))]
    else:
        names = sorted(glob.glob(os.path.join(path, '*.' + args.ext))) if os.path.isdir(path) else [path]
        images = [caffe.io.load_image(name, color) for name in names]
    if len(images) == 0:
        p.error('%s: no images%s' % (path, ' ending in .' + args.ext if os.path.isdir(path) else ''))
    print('Classifying %d inputs.' % len(images))
    start = time.time()
    scores = classifier.predict(images, not args.center_only)
    print('Done in %.2f s.' % (time.time() - start))

    if args.print_results:
        for name, row in zip(names, scores.reshape(len(scores), -1)):
            print(name)
            for i in row.argsort()[:-6:-1]:
                print('  %.5f  %s' % (row[i], labels[i] if labels else i))
    print('Saving results into %s' % args.output_file)
    np.save(args.output_file, scores)


if __name__ == '__main__':
    main()
