#!/usr/bin/env python3
"""Models the six nets of the benchmark on processors of many cores, and writes docs/cores.csv, the table of docs/cores.md and docs/cores.svg.

  scripts/cores.py [-swcaffe FILE] [-before FILE]

Runs "swcaffe time -cores LIST -processor NAME -json -" for every net, batch, pass and precision; nothing is measured, so that a busy machine does no harm. With
-before, the same with an older build that has the command, in fp32 on the first processor. Without it the rows "before" of docs/cores.csv stay."""
import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE, PLOT, DOCUMENT = (os.path.join(ROOT, 'docs', 'cores.' + e) for e in ('csv', 'svg', 'md'))
NETS = {'lenet': 'LeNet', 'cifar10_quick': 'CIFAR-10 quick', 'alexnet': 'AlexNet', 'googlenet': 'GoogLeNet', 'resnet50': 'ResNet-50', 'vgg16': 'VGG-16'}
BATCHES = [1, 16, 64, 256]
PROCESSORS = {'epyc9654': [1, 8, 16, 32, 64, 128, 192], 'xeon8480': [1, 8, 16, 32, 64, 112], 'ft2000plus': [1, 8, 16, 32, 64]}
FIELDS = ['build', 'processor', 'net', 'pass', 'precision', 'batch', 'cores', 'ms', 'ms_low', 'ms_high', 'images_per_s', 'idle_share', 'single_core_share', 'bound']
COLOURS = ['#888888', '#b07800', '#c03030', '#207020', '#2050b0', '#703090']


def rows(program, build, processors, precisions, nets):
    """Models every case of a build, some at a time."""
    cases = []
    for processor in processors:
        for net in NETS:
            for inference in [False, True]:
                for precision in precisions if processor == 'epyc9654' else ['fp32']:
                    for batch in BATCHES:
                        cases.append((processor, net, inference, precision, batch))
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for some in pool.map(lambda c: case(program, build, nets, *c), cases):
            yield from some


def plain(v):
    """Returns four digits of a number, or all before the point."""
    return '%.0f' % v if v >= 1000 else '%.4g' % v


def case(program, build, nets, processor, net, inference, precision, batch):
    """Models one case on every number of cores."""
    model = os.path.join(ROOT, 'models', net, 'deploy.prototxt') if inference else os.path.join(nets, net + '.prototxt')
    command = [program, 'time', '-model', model, '-batch', str(batch), '-cores', ','.join(map(str, PROCESSORS[processor])), '-processor', processor,
               '-precision', precision, '-json', '-']
    command += ['-forward_only', '-phase', 'TEST'] if inference else []
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit('%s\n%s' % (' '.join(command), run.stderr))
    return [{'build': build, 'processor': processor, 'net': net, 'pass': 'inference' if inference else 'training', 'precision': precision, 'batch': batch,
             'cores': t['cores'], 'ms': plain(t['ms']), 'ms_low': plain(t['ms_range']['low']), 'ms_high': plain(t['ms_range']['high']),
             'images_per_s': plain(t['images_per_s']), 'idle_share': '%.4f' % t['idle_share'], 'single_core_share': '%.5f' % t['single_core_share'],
             'bound': max(t['bounds'], key=lambda b: (t['bounds'][b], b))} for t in json.loads(run.stdout)['times']]


def table(known):
    """Returns the table of docs/cores.md: times the speed of one core of the same build."""
    def speed(build, net, pass_, precision, batch, cores):
        of = {n: known.get((build, 'epyc9654', net, pass_, precision, str(batch), str(n))) for n in (1, cores)}
        return '%.1f' % (float(of[1]['ms']) / float(of[cores]['ms'])) if all(of.values()) else '-'

    def images(net, pass_, precision, batch, cores):
        return known[('after', 'epyc9654', net, pass_, precision, str(batch), str(cores))]['images_per_s']

    lines = ['| net | images | training, 64 cores: before | after | 192 cores | images/s of 64 | in bf16 | inference, 64 cores: before | after | images/s of 64 | in bf16 |',
             '|---|---|---|---|---|---|---|---|---|---|---|']
    for net, title in NETS.items():
        for batch in BATCHES:
            cells = [title, str(batch), speed('before', net, 'training', 'fp32', batch, 64), speed('after', net, 'training', 'fp32', batch, 64),
                     speed('after', net, 'training', 'fp32', batch, 192), images(net, 'training', 'fp32', batch, 64), images(net, 'training', 'bf16', batch, 64),
                     speed('before', net, 'inference', 'fp32', batch, 64), speed('after', net, 'inference', 'fp32', batch, 64),
                     images(net, 'inference', 'fp32', batch, 64), images(net, 'inference', 'bf16', batch, 64)]
            lines.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines) + '\n'


def plot(known):
    """Returns a drawing: the speed of training over cores, in relation to one core, both on scales of powers of two; a panel a batch."""
    width, height, left, top, gap = 250, 230, 52, 34, 34
    numbers = PROCESSORS['epyc9654']
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">' % (left + 4 * (width + gap), height + top + 86),
           '<rect width="100%" height="100%" fill="white"/>']

    def log2(v):
        n = 0.0
        while v >= 2:
            v, n = v / 2, n + 1
        return n + v - 1  # a straight line between powers of two, which points of the plot are close to
    most = log2(256)
    for i, batch in enumerate(BATCHES):
        x0 = left + i * (width + gap)

        def at(cores, speed):
            return x0 + log2(cores) / most * width, top + height - log2(max(1, speed)) / most * height
        out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/>' % (x0, top, width, height))
        out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % (x0 + width / 2, top - 10, 'one image' if batch == 1 else '%d images' % batch))
        for n in [1, 2, 4, 8, 16, 32, 64, 128]:
            x, y = at(n, n)
            out.append('<path d="M%.1f %d v4 M%d %.1f h-4" stroke="#999"/>' % (x, top + height, x0, y))
            out.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x, top + height + 16, n))
            if i == 0:
                out.append('<text x="%d" y="%.1f" text-anchor="end">%d</text>' % (x0 - 7, y + 4, n))
        out.append('<path d="M%.1f %.1f L%.1f %.1f" stroke="#ccc"/>' % (at(1, 1) + at(192, 192)))
        for colour, net in zip(COLOURS, NETS):
            for build, dash in [('before', ' stroke-dasharray="3 3"'), ('after', '')]:
                times = [known.get((build, 'epyc9654', net, 'training', 'fp32', str(batch), str(n))) for n in numbers]
                if all(times):
                    points = ' '.join('%.1f,%.1f' % at(n, float(times[0]['ms']) / float(t['ms'])) for n, t in zip(numbers, times))
                    out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"%s/>' % (points, colour, dash))
    for i, (colour, title) in enumerate(zip(COLOURS, NETS.values())):
        x = left + i * 150
        out.append('<path d="M%d %d h24" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>' % (x, top + height + 62, colour, x + 30, top + height + 66, title))
    out.append('<text x="%d" y="%d">cores of two EPYC 9654: times the speed of one, training in fp32, modelled; dashed: before</text>' % (left, top + height + 40))
    return '\n'.join(out + ['</svg>']) + '\n'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('-swcaffe', default='swcaffe')
    p.add_argument('-before')
    a = p.parse_args()
    found = []
    if os.path.exists(TABLE):
        with open(TABLE, newline='') as f:
            found = [r for r in csv.DictReader(f) if r['build'] == 'before' and not a.before]
    with tempfile.TemporaryDirectory() as nets:
        subprocess.run([sys.executable, os.path.join(ROOT, 'scripts', 'bench', 'nets.py'), nets], check=True)
        if a.before:
            found += rows(a.before, 'before', ['epyc9654'], ['fp32'], nets)
        found += rows(a.swcaffe, 'after', PROCESSORS, ['fp32', 'bf16'], nets)
    with open(TABLE, 'w', newline='') as f:
        w = csv.DictWriter(f, FIELDS, lineterminator='\n')
        w.writeheader()
        w.writerows(found)
    known = {tuple(str(r[k]) for k in ('build', 'processor', 'net', 'pass', 'precision', 'batch', 'cores')): r for r in found}
    with open(PLOT, 'w') as f:
        f.write(plot(known))
    with open(DOCUMENT) as f:
        text = f.read()
    head, rest = text.split('<!-- scripts/cores.py writes this table -->\n')
    with open(DOCUMENT, 'w') as f:
        f.write(head + '<!-- scripts/cores.py writes this table -->\n' + table(known) + '\n' + rest.split('\n\n', 1)[1])


if __name__ == '__main__':
    main()
