#!/usr/bin/env python3
"""Classifies windows of images and writes the scores of every window.

    detect.py --crop_mode list --model_def deploy.prototxt --pretrained_model net.caffemodel windows.csv scores.csv

windows.csv has a line of names, filename,ymin,xmin,ymax,xmax in any order, and a line for each window. The flags are those of Caffe's
detect.py.
"""

import argparse
import csv
import os
import time

import numpy as np

import caffe
from classify import check_output, numbers

SIDES = ['ymin', 'xmin', 'ymax', 'xmax']


def flags():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('input_file', help='a .csv file with windows, or a .txt file with the names of images for selective_search')
    p.add_argument('output_file', help='the file to write: .csv, .npz, or .h5 (needs pandas and PyTables)')
    p.add_argument('--model_def', required=True, help='the net for classifying')
    p.add_argument('--pretrained_model', required=True, help='its weights')
    p.add_argument('--crop_mode', default='selective_search', choices=['list', 'selective_search'], help='where windows come from')
    p.add_argument('--gpu', action='store_true', help='accepted; nets run on CPUs')
    p.add_argument('--mean_file', default='', help='.npy file of the mean image (K x H x W), which is subtracted')
    p.add_argument('--input_scale', type=float, help='factor after the mean is subtracted')
    p.add_argument('--raw_scale', type=float, default=255.0, help='factor before the mean is subtracted (255)')
    p.add_argument('--channel_swap', default='2,1,0', help='order of the channels; the default turns RGB into BGR')
    p.add_argument('--context_pad', type=int, default=16, help="pixels of the net's input that show a window's surroundings (16)")
    return p


def windows_of(path):
    """Return pairs of an image's name and its windows, in the order of the file."""
    images = {}
    with open(path, newline='') as f:
        reader = csv.DictReader(f, skipinitialspace=True)
        missing = set(['filename'] + SIDES) - set(reader.fieldnames or [])
        if missing:
            raise SystemExit('%s: its first line names no %s' % (path, ', '.join(sorted(missing))))
        for row in reader:
            images.setdefault(row['filename'], []).append([int(float(row[side])) for side in SIDES])
    return list(images.items())


def save(path, detections):
    """Write detections in the format of the file's ending."""
    files = [d['filename'] for d in detections]
    windows = np.array([d['window'] for d in detections])
    scores = np.array([d['prediction'] for d in detections])
    classes = ['class%d' % i for i in range(scores.shape[1])]
    if path.lower().endswith('.csv'):
        with open(path, 'w', newline='') as f:
            writer = csv.writer(f)
            writer.writerow(['filename'] + SIDES + classes)
            for name, window, row in zip(files, windows.tolist(), scores.tolist()):
                writer.writerow([name] + window + row)
    elif path.lower().endswith('.npz'):
        np.savez(path, filename=files, window=windows, prediction=scores)
    else:
        import pandas
        frame = pandas.DataFrame(windows, index=pandas.Index(files, name='filename'), columns=SIDES)
        frame.insert(0, 'prediction', list(scores))
        frame.to_hdf(path, 'df', mode='w')


def main():
    p = flags()
    args = p.parse_args()
    if os.path.splitext(args.output_file)[1].lower() not in ('.csv', '.npz', '.h5'):
        p.error('%s: the name must end in .csv, .npz or .h5' % args.output_file)
    check_output(p, args.output_file)
    if args.output_file.lower().endswith('.h5'):
        try:
            import pandas, tables
        except ImportError as error:
            p.error('%s: files .h5 need pandas and PyTables: %s' % (args.output_file, error))
    if args.gpu:
        caffe.set_mode_gpu()
    else:
        caffe.set_mode_cpu()
    mean = np.load(args.mean_file) if args.mean_file else None
    if mean is not None and mean.shape[1:] != (1, 1):
        mean = mean.mean(1).mean(1)
    detector = caffe.Detector(args.model_def, args.pretrained_model, mean=mean, input_scale=args.input_scale,
                              raw_scale=args.raw_scale, channel_swap=numbers(args.channel_swap), context_pad=args.context_pad)
    start = time.time()
    if args.crop_mode == 'list':
        detections = detector.detect_windows(windows_of(args.input_file))
    else:
        with open(args.input_file) as f:
            detections = detector.detect_selective_search([line.strip() for line in f if line.strip()])
    print('Processed %d windows in %.3f s.' % (len(detections), time.time() - start))
    if not detections:
        p.error('%s: no windows' % args.input_file)
    save(args.output_file, detections)
    print('Saved to %s.' % args.output_file)


if __name__ == '__main__':
    main()
