#!/usr/bin/env python3
"""Trains a net, and can time its layers.

    train.py --solver models/lenet/solver.prototxt --timing

The flags are those of Caffe's train.py. One process trains on all cores; `swcaffe train -workers` trains with many workers.
"""

import argparse

import caffe


def timed(solver):
    """Print the milliseconds of every layer, of both directions, whenever the solver displays its loss."""
    forward, backward = ([caffe.Timer() for _ in solver.net.layers] for _ in range(2))
    total, display = caffe.Timer(), solver.param.display

    def show():
        total.stop()
        if not display or solver.iter % display:
            return
        lines = ['iteration %d: %.2f ms' % (solver.iter, total.ms)]
        for i, name in enumerate(solver.net._layer_names):
            lines.append('%-16s forward %8.2f ms, backward %8.2f ms' % (name, forward[i].ms, backward[i].ms))
        caffe.log('\n'.join(lines))

    solver.net.before_forward(lambda layer: forward[layer].start())
    solver.net.after_forward(lambda layer: forward[layer].stop())
    solver.net.before_backward(lambda layer: backward[layer].start())
    solver.net.after_backward(lambda layer: backward[layer].stop())
    solver.add_callback(total.start, show)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--solver', required=True, help='the solver definition')
    p.add_argument('--snapshot', help='the solver state to go on from')
    p.add_argument('--gpus', type=int, nargs='+', default=[0], help='accepted with one number; nets run on CPUs')
    p.add_argument('--timing', action='store_true', help='log the time of every layer, as often as the loss')
    args = p.parse_args()
    if len(args.gpus) > 1:
        p.error('--gpus %s: one process trains here; for many workers use swcaffe train -workers %d'
                % (' '.join(map(str, args.gpus)), len(args.gpus)))
    caffe.init_log()
    solver = caffe.get_solver(args.solver)
    if args.snapshot:
        solver.restore(args.snapshot)
    if args.timing:
        timed(solver)
    solver.step(solver.param.max_iter - solver.iter)


if __name__ == '__main__':
    main()
