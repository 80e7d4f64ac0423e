"""Compares training from Python with the command line: the same solver, alternately, in fresh processes. Prints the time of an iteration of each
and their ratio, all medians over rounds.

    go build -o build/bench/swcaffe ./cmd/swcaffe
    scripts/wheel.sh && /usr/bin/python3 -m venv --system-site-packages venv && venv/bin/pip install --no-index --no-deps dist/*_x86_64.whl
    venv/bin/python scripts/bench/python.py [-solver models/lenet/solver.prototxt] [-iterations 100] [-rounds 21]

A process runs the solver twice, for few and for many iterations. The difference of their times belongs to the iterations alone: loading
Python, opening nets and reading the first batch cancel out. Three ways are timed: swcaffe train, solver.step(N), and N calls of step(1)
with a look at the loss. Run it on an otherwise idle machine, in the folder of the sources.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

FEW = 20  # iterations of the short run

SCRIPT = '''
import sys, caffe
solver = caffe.get_solver(sys.argv[1])
count = solver.param.max_iter
if sys.argv[2] == 'step':
    solver.step(count)
else:
    for _ in range(count):
        solver.step(1)
        float(solver.net.blobs['loss'].data)
'''


def solvers(file, folder, iterations):
    """Write copies of a solver that run FEW, and FEW and so many more, iterations without tests and snapshots. Return their paths."""
    with open(file) as f:
        text = re.sub(r'(?m)^\s*(max_iter|test_interval|test_iter|test_initialization|snapshot|snapshot_after_train|display)\s*:.*$', '', f.read())
    paths = []
    for count in (FEW, FEW + iterations):
        paths.append(os.path.join(folder, '%d.prototxt' % count))
        with open(paths[-1], 'w') as f:
            f.write('%s\nmax_iter: %d test_iter: 1 test_interval: 1000000 test_initialization: false snapshot_after_train: false display: 0\n' % (text, count))
    return paths


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, GLOG_minloglevel='2'))
    return time.perf_counter() - start


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('-solver', default='models/lenet/solver.prototxt')
    p.add_argument('-swcaffe', default='build/bench/swcaffe')
    p.add_argument('-iterations', type=int, default=100)
    p.add_argument('-rounds', type=int, default=21)
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = solvers(args.solver, folder, args.iterations)
        ways = {'swcaffe train': lambda f: [args.swcaffe, 'train', '-solver', f],
                'solver.step(N)': lambda f: [sys.executable, '-c', SCRIPT, f, 'step'],
                'N x solver.step(1)': lambda f: [sys.executable, '-c', SCRIPT, f, 'single']}
        times = {name: [] for name in ways}
        for turn in range(args.rounds + 1):
            for name, command in ways.items():
                short, long = (seconds(command(f)) for f in files)
                if turn:  # the first round warms caches up
                    times[name].append(1000 * (long - short) / args.iterations)
    base = statistics.median(times['swcaffe train'])
    for name, list_ in times.items():
        median = statistics.median(list_)
        print('%-20s %8.3f ms an iteration (%.3f to %.3f), %5.1f %% of the speed of swcaffe train' % (
            name, median, min(list_), max(list_), 100 * base / median))


if __name__ == '__main__':
    main()
