#!/usr/bin/env python3
"""Detect shapes on pages by classifying windows, as R-CNN does.

models/cifar10_quick knows ten shapes, but not what no shape looks like. So it is finetuned first, with an eleventh class: windows of pages
that show no shape, or only a part. Then windows of three sizes slide over a new page. The Detector warps each to the net's input
and classifies it. Of windows that overlap, the one with the best score is kept. The picture, detection.svg, shows the page with the
boxes, and the best score around each place. Nets are messages, so this needs python3-protobuf.
"""

import os

import numpy as np

import caffe
import classification
import common
import fine_tuning
from pictures import COLOURS, Picture, heat, png

NAMES = classification.NAMES
NONE = len(NAMES)  # the class of windows without a shape
SIZES = (32, 48, 64)
FEW = [NAMES.index(name) for name in ('square', 'star', 'ring')]  # the shapes on the pages of --small


def shapes(args, name, count):
    """Return the images of shapes for pages, and their labels."""
    images, labels = common.read_images(args, name, count)
    keep = np.isin(labels, FEW if args.small else np.arange(NONE))
    return images[keep], labels[keep]


def page_of(random, images, labels):
    """Return a page (H x W x 3, values from 0 to 1) with shapes in three rows, and the shapes' windows (ymin, xmin, ymax, xmax, label)."""
    page = np.full((210, 340, 3), random.uniform(0.3, 0.7), dtype=np.float32)
    places = []
    for row in range(3):
        x = random.randint(4, 40)
        while x < 270:
            i, size = random.randint(len(images)), SIZES[random.randint(3)]
            y = row * 70 + random.randint(0, 70 - size)
            shape = images[i][::-1].transpose(1, 2, 0) / 255
            page[y:y + size, x:x + size] = caffe.io.resize_image(shape, (size, size))
            places.append((y, x, y + size, x + size, labels[i]))
            x += size + random.randint(8, 30)
    return page, places


def overlap(a, b):
    """Return the area that two windows share, as a part of their union."""
    inner = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    both = sum((w[2] - w[0]) * (w[3] - w[1]) for w in (a, b))
    return inner / (both - inner)


def examples_of(random, images, labels, pages):
    """Return the images and classes of windows of some pages: each shape, slightly shifted, and as many without a shape."""
    crops, classes = [], []

    def add(page, window, label):
        y0, x0, y1, x1 = window
        crops.append(caffe.io.resize_image(page[y0:y1, x0:x1], (32, 32)))
        classes.append(label)

    for _ in range(pages):
        page, places = page_of(random, images, labels)
        for y0, x0, y1, x1, label in places:
            dy, dx = random.randint(-2, 3, 2)
            y, x = np.clip((y0 + dy, x0 + dx), 0, (page.shape[0] - (y1 - y0), page.shape[1] - (x1 - x0)))
            add(page, (y, x, y + y1 - y0, x + x1 - x0), label)
        for _ in range(2 * len(places)):
            size = SIZES[random.randint(3)]
            y, x = random.randint(page.shape[0] - size + 1), random.randint(page.shape[1] - size + 1)
            window = (y, x, y + size, x + size)
            if max(overlap(window, place[:4]) for place in places) < 0.4:
                add(page, window, NONE)
    return np.array(crops), np.array(classes)


def finetuned(args, mean, images, labels):
    """Return the file of a net for classifying windows, and the file of its weights."""
    random = np.random.RandomState(1)
    crops, classes = examples_of(random, images, labels, 80 if args.small else 250)
    inputs = crops[..., ::-1].transpose(0, 3, 1, 2) * 255 - mean
    split = len(inputs) * 9 // 10
    every = range(NONE + 1)
    learned, _, accuracies = fine_tuning.learn(
        args, 'windows', fine_tuning.net('ip2_windows', NONE + 1, 50, rate=10), fine_tuning.Task(inputs[:split], classes[:split], every),
        fine_tuning.Task(inputs[split:], classes[split:], every), 300 if args.small else 800, classification.trained(args),
        kind=caffe.AdamSolver if args.small else caffe.SGDSolver, tests=1)
    print('%d windows to learn from; of others, %.1f %% are classified correctly' % (split, 100 * accuracies[-1]))
    weights = os.path.join(args.out, 'windows.caffemodel')
    learned.save(weights)
    return common.write(args, 'windows_deploy.prototxt', fine_tuning.net('ip2_windows', NONE + 1, 50, deploy=True)), weights


def best(detections, least):
    """Return the detections of shapes above a score, best first, without those that overlap a better one."""
    kept = []
    for d in sorted(detections, key=lambda d: -d['prediction'][:NONE].max()):
        if d['prediction'][:NONE].max() >= least and all(overlap(d['window'], k['window']) < 0.2 for k in kept):
            kept.append(d)
    return kept


def main():
    args = common.arguments(__doc__)
    common.dataset(args, 'shapes')
    mean = classification.mean_image(args)
    model, weights = finetuned(args, mean, *shapes(args, 'shapes_train_lmdb', 1000 if args.small else 4000))

    page, places = page_of(np.random.RandomState(2), *shapes(args, 'shapes_test_lmdb', 400))
    path = os.path.join(args.out, 'page.png')
    with open(path, 'wb') as f:
        f.write(png(page))
    steps = 4 if args.small else 8  # windows of a size overlap so many times in a row
    windows = [(y, x, y + size, x + size) for size in SIZES for y in range(0, page.shape[0] - size + 1, size // steps)
               for x in range(0, page.shape[1] - size + 1, size // steps)]
    detector = caffe.Detector(model, weights, mean=mean, raw_scale=255, channel_swap=(2, 1, 0))
    detections = detector.detect_windows([(path, windows)])
    kept = best(detections, 0.5 if args.small else 0.8)
    right = [d for d in kept if is_right(d, places)]
    print('%d windows, %d boxes; %d of them name one of the %d shapes' % (len(windows), len(kept), len(right), len(places)))
    draw(args, page, places, detections, kept)


def is_right(detection, places):
    """Report whether a detection is on a shape and has its name."""
    name = detection['prediction'][:NONE].argmax()
    return any(overlap(place[:4], detection['window']) > 0.5 and name == place[4] for place in places)


def draw(args, page, places, detections, kept):
    height, width = page.shape[:2]
    score = np.zeros((height, width))
    for d in detections:
        y, x = (d['window'][0] + d['window'][2]) // 2, (d['window'][1] + d['window'][3]) // 2
        part = score[y - 4:y + 4, x - 4:x + 4]
        np.maximum(part, d['prediction'][:NONE].max(), out=part)
    p = Picture(60 + 3 * width + width, 80 + 3 * height, 'Windows on a page, classified by a net')
    p.text(20, 52, 'green: a shape under its name; red: another name, or a box that shares less than half with the shape')
    p.image(20, 62, page, 3)
    for d in kept:
        y0, x0, y1, x1 = d['window']
        colour = COLOURS[2 if is_right(d, places) else 4]
        p.box(20 + 3 * x0, 62 + 3 * y0, 3 * (x1 - x0), 3 * (y1 - y0), colour, line=3)
        p.box(20 + 3 * x0, 62 + 3 * y0, 92, 18, colour, colour)
        name = NAMES[int(d['prediction'][:NONE].argmax())]
        p.text(25 + 3 * x0, 62 + 3 * y0 + 14, '%s %.2f' % (name, d['prediction'][:NONE].max()), 12, colour='white')
    p.text(40 + 3 * width, 34, 'best score of the windows centred around')
    p.text(40 + 3 * width, 52, 'each place: dark 0, yellow 1')
    p.image(40 + 3 * width, 62, heat(score))
    p.save(os.path.join(args.out, 'detection.svg'))


if __name__ == '__main__':
    main()
