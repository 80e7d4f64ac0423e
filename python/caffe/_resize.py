"""Resampling of images with splines, in numpy. resize is what io.resize_image needs of scikit-image and scipy.

Each axis is resampled alone: every new position is a weighted sum of up to four old ones. Orders 2 and 3 first turn samples into
the coefficients of a B-spline that passes through them (Unser, Aldroubi and Eden, "B-spline signal processing", 1993).
"""

import functools

import numpy as np

_POLE = {2: np.sqrt(8) - 3, 3: np.sqrt(3) - 2}
_MARGIN = 12  # zeros around the image before a spline is fitted: the poles' powers have vanished there


def resize(image, shape, order, grid):
    """Return the image with its first two axes resampled to shape, in double precision. order is 0 (nearest) to 3 (cubic).

    grid says where samples lie. True: samples are the centres of pixels, the borders of both images coincide, and the surroundings
    are 0. False: the first and last samples of both images coincide, and the image is mirrored at them.
    """
    if order not in (0, 1, 2, 3):
        raise ValueError('interpolation order %r: must be 0, 1, 2 or 3' % (order,))
    image = np.asarray(image, dtype=np.float64)
    for axis in (0, 1):
        image = np.moveaxis(_resample(np.moveaxis(image, axis, 0), shape[axis], order, grid), 0, axis)
    return image


def _resample(a, size, order, grid):
    old = a.shape[0]
    if order > 1:
        if grid:
            a = np.pad(a, [(_MARGIN, _MARGIN)] + [(0, 0)] * (a.ndim - 1))
        a = _coefficients(a, _POLE[order])
    result = np.zeros((size,) + a.shape[1:])
    for index, weight in _sources(old, size, order, grid):
        result += weight.reshape((-1,) + (1,) * (a.ndim - 1)) * a[index]
    return result


@functools.lru_cache(maxsize=64)
def _sources(old, size, order, grid):
    """Return pairs of positions in an axis of old samples, or of their coefficients, and their weights, for each of size new positions.

    Pictures of few sizes are resized again and again, so pairs are kept. Nobody may change them.
    """
    length = old
    if grid:
        at = (np.arange(size) + 0.5) * (old / size) - 0.5
        if order > 1:
            at, length = at + _MARGIN, old + 2 * _MARGIN
    else:
        at = np.arange(size) * ((old - 1) / (size - 1) if size > 1 else 1)
    pairs = []
    for index, weight in _taps(at, order):
        if grid:
            weight = np.where((index >= 0) & (index < length), weight, 0)
            index = np.clip(index, 0, length - 1)
        pairs.append((_mirrored(index, length), weight))
    return pairs


def _taps(at, order):
    """Return pairs of old positions and their weights, for each new position: a B-spline of that order around `at`."""
    if order == 0:
        return [(np.floor(at + 0.5).astype(int), np.ones(len(at)))]
    if order == 2:
        near = np.floor(at + 0.5).astype(int)
        t = at - near
        return [(near - 1, (0.5 - t) ** 2 / 2), (near, 0.75 - t ** 2), (near + 1, (0.5 + t) ** 2 / 2)]
    low = np.floor(at).astype(int)
    t = at - low
    if order == 1:
        return [(low, 1 - t), (low + 1, t)]
    u = 1 - t
    return [(low - 1, u ** 3 / 6), (low, 2 / 3 - t ** 2 * (2 - t) / 2), (low + 1, 2 / 3 - u ** 2 * (2 - u) / 2), (low + 2, t ** 3 / 6)]


def _mirrored(index, size):
    """Return positions inside an axis that is mirrored at its first and last sample."""
    if size == 1:
        return np.zeros_like(index)
    index = np.abs(index) % (2 * size - 2)
    return np.minimum(index, 2 * size - 2 - index)


def _coefficients(a, pole):
    """Return the B-spline coefficients of samples along the first axis: a filter forward and one backward."""
    size = len(a)
    if size == 1:
        return a
    c = a * ((1 - pole) * (1 - 1 / pole))
    period = 2 * size - 2
    start = c[_mirrored(np.arange(period), size)]
    c[0] = np.tensordot(pole ** np.arange(period), start, 1) / (1 - pole ** period)
    for k in range(1, size):
        c[k] += pole * c[k - 1]
    c[-1] = pole / (pole ** 2 - 1) * (c[-1] + pole * c[-2])
    for k in range(size - 2, -1, -1):
        c[k] = pole * (c[k + 1] - c[k])
    return c
