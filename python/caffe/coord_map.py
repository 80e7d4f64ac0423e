"""How the coordinates of one blob map to those of another, through convolutions, pooling and cropping.

A map is a tuple (axis, scale, shift): position x along each axis from `axis` on is position scale * x + shift in the other blob.
The identity, (None, 1, 0), fits any axis. crop uses the map between two blobs to make a Crop layer that aligns them, as fully
convolutional nets need.
"""

import numpy as np

from .net_spec import layers as L

PASS_THROUGH_LAYERS = ['AbsVal', 'BatchNorm', 'Bias', 'BNLL', 'Dropout', 'ELU', 'Eltwise', 'Exp', 'LRN', 'Log', 'MVN', 'PReLU',
                       'Power', 'ReLU', 'Scale', 'Sigmoid', 'Split', 'TanH', 'Threshold']

_IDENTITY = (None, 1, 0)


class UndefinedMapException(Exception):
    """Raised for a layer whose coordinates have no such map, as those of an InnerProduct layer."""


class AxisMismatchException(Exception):
    """Raised for two maps that begin at different axes and so cannot be composed."""


def conv_params(fn):
    """Return (axis, stride, extent of the dilated kernel, pad) of a Convolution, Deconvolution, Im2col or Pooling layer."""
    legacy = {'kernel_h', 'kernel_w', 'pad_h', 'pad_w', 'stride_h', 'stride_w', 'hole_h', 'hole_w'}
    given = fn.params
    for message in ('convolution_param', 'pooling_param'):
        given = fn.params.get(message, given)
    assert not legacy & set(given), 'cropping does not support legacy _h/_w params'

    def extents(name, default):
        return np.array(given.get(name, default), ndmin=1)

    if 'kernel_size' not in given:
        raise UndefinedMapException('%s layer without kernel_size' % fn.type_name)
    kernel = (extents('kernel_size', None) - 1) * extents('hole' if 'hole' in given else 'dilation', 1) + 1
    return given.get('axis', 1), extents('stride', 1), kernel, extents('pad', 0)


def crop_params(fn):
    """Return (axis, offset) of a Crop layer."""
    given = fn.params.get('crop_param', fn.params)
    return given.get('axis', 2), np.array(given.get('offset', 0), ndmin=1)


def coord_map(fn):
    """Return the map of a layer, from its bottoms to its tops."""
    if fn.type_name in ('Convolution', 'Pooling', 'Im2col'):
        axis, stride, kernel, pad = conv_params(fn)
        return axis, 1 / stride, (pad - (kernel - 1) / 2) / stride
    if fn.type_name == 'Deconvolution':
        axis, stride, kernel, pad = conv_params(fn)
        return axis, stride, (kernel - 1) / 2 - pad
    if fn.type_name == 'Crop':
        axis, offset = crop_params(fn)
        # A crop from `axis` on counts as one from the axis of the maps around it: axes before the first spatial one are whole.
        return axis - 1, 1, -offset
    if fn.type_name in PASS_THROUGH_LAYERS:
        return _IDENTITY
    raise UndefinedMapException('%s layers have no map of coordinates' % fn.type_name)


def compose(base_map, next_map):
    """Return the map that applies next_map and then base_map."""
    base_axis, base_scale, base_shift = base_map
    next_axis, next_scale, next_shift = next_map
    if None not in (base_axis, next_axis) and base_axis != next_axis:
        raise AxisMismatchException('maps begin at axes %s and %s' % (base_axis, next_axis))
    return next_axis if base_axis is None else base_axis, base_scale * next_scale, base_scale * next_shift + base_shift


def inverse(coord_map):
    """Return the map in the opposite direction."""
    axis, scale, shift = coord_map
    return axis, 1 / scale, -shift / scale


def _ancestors(top):
    """Yield (blob, map from the blob to top) for top and every blob that it is computed from, as far as maps are defined."""
    maps = {top: _IDENTITY}
    pending = [top]
    for blob in pending:  # grows while it is walked
        yield blob, maps[blob]
        try:
            step = coord_map(blob.fn)
        except UndefinedMapException:
            continue
        # The second bottom of a Crop layer gives only the size.
        for bottom in blob.fn.inputs[:1 if blob.fn.type_name == 'Crop' else None]:
            if bottom not in maps:
                maps[bottom] = compose(maps[blob], step)
                pending.append(bottom)


def coord_map_from_to(top_from, top_to):
    """Return the map from the coordinates of top_from to those of top_to, by way of a blob that both are computed from."""
    to_from = dict(_ancestors(top_from))
    for blob, to_to in _ancestors(top_to):
        if blob in to_from:
            return compose(to_to, inverse(to_from[blob]))
    raise RuntimeError('Could not compute map between tops; are they connected by spatial layers?')


def crop(top_from, top_to):
    """Return the Top of a Crop layer that cuts top_from to the size of top_to, where it lies on it.

    Both must have the same scale, and top_to must begin a whole number of positions inside top_from: AssertionError otherwise.
    """
    axis, scale, shift = coord_map_from_to(top_from, top_to)
    scale, shift = np.asarray(scale), np.asarray(shift)
    assert (scale == 1).all(), 'scale mismatch on crop (a = %s)' % scale
    assert (shift <= 0).all(), 'cannot crop negative width (b = %s)' % shift
    assert (np.round(shift) == shift).all(), 'cannot crop noninteger width (b = %s)' % shift
    offset = (-shift).astype(int).ravel().tolist()
    return L.Crop(top_from, top_to, crop_param=dict(axis=2 if axis is None else axis + 1, offset=offset))
