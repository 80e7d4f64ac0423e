#!/usr/bin/env python3
"""Draws a net.

    draw_net.py --rankdir TB train_val.prototxt net.svg

Pictures in svg, png and dot need no other program, those in other formats pydot and Graphviz. The flags are those of Caffe's draw_net.py.
"""

import argparse

import caffe.draw


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('input_net_proto_file', help='the net, a prototxt')
    p.add_argument('output_image_file', help='the picture, in the format of its ending')
    p.add_argument('--rankdir', default='LR', help='direction from inputs to outputs: LR (left to right), TB, BT or RL')
    p.add_argument('--phase', default='ALL', choices=['TRAIN', 'TEST', 'ALL'], help='the layers to draw (ALL)')
    p.add_argument('--display_lrm', action='store_true', help='show the learning-rate multipliers')
    args = p.parse_args()

    from caffe.proto import caffe_pb2
    from google.protobuf import text_format
    net = caffe_pb2.NetParameter()
    with open(args.input_net_proto_file) as f:
        text_format.Merge(f.read(), net)
    print('Drawing net to %s' % args.output_image_file)
    phase = {'TRAIN': caffe_pb2.TRAIN, 'TEST': caffe_pb2.TEST, 'ALL': None}[args.phase]
    caffe.draw.draw_net_to_file(net, args.output_image_file, args.rankdir, phase, args.display_lrm)


if __name__ == '__main__':
    main()
