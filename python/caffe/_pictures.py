"""What the engine does for io, draw and proto: it decodes images, draws nets, and describes its messages."""

import base64
import os

import numpy as np

from ._library import call


def proto_descriptor():
    """Return the description of Caffe's messages, the bytes of a FileDescriptorProto."""
    return base64.b64decode(call('describe_messages', {}))


def decode(path):
    """Return the pixels of an image file, H x W x 3 values from 0 to 1 in the order R, G, B."""
    image = call('decode_picture', os.path.abspath(path))
    shape = image['height'], image['width'], 3
    pixels = base64.b64decode(image['pixels'])
    if image['bits'] == 16:
        return np.frombuffer(pixels, dtype='<u2').reshape(shape) / 65535
    return np.frombuffer(pixels, dtype=np.uint8).reshape(shape)[:, :, ::-1] / 255


def draw_net(net, rankdir, ext, phase, rates):
    """Return a picture of a net, the bytes of a NetParameter, as svg, png or dot. phase None draws both phases."""
    return base64.b64decode(call('draw_net', {
        'net': base64.b64encode(net).decode(), 'direction': rankdir, 'format': ext, 'phase': phase, 'rates': bool(rates)}))
