"""Blobs: arrays of float32 with a gradient of the same shape, in the engine's memory."""

import ctypes
import html
import operator

import numpy as np

from ._library import Memory, Unique, View, call, check, functions

_new_view = View
_asarray = np.asarray
_float32 = np.dtype(np.float32)


class Blob(Unique):
    """Values (data) and their gradient (diff). Nets, layers and solvers make blobs; data and diff are numpy arrays of type float32 that
    show the engine's own memory, without a copy. Write to it with blob.data[...] = values.

    An array stays valid after its blob and net are gone. If the blob grows in a reshape, the array keeps the old memory with its last
    values; ask for blob.data again.
    """
    __slots__ = ('_handle', '_name', '__weakref__')

    def __init__(self, *_, **__):
        raise RuntimeError('this class cannot be instantiated from Python: blobs are made by nets, and by blobs.add_blob of a layer')

    @classmethod
    def _of(cls, handle, name=''):
        b = object.__new__(cls)
        b._handle, b._name = handle, name
        return b

    def __del__(self, functions=functions):
        try:
            handle = self._handle
        except AttributeError:
            return
        functions.release(handle)

    def _look(self, diff):
        view = _new_view()
        check(functions.look(self._handle, diff, view))
        shape = tuple(view.shape[:view.axes])
        if not view.address:
            return np.empty(shape, _float32)
        return _asarray(Memory(view.address, shape))

    @property
    def data(self):
        """The values: a float32 array of the blob's shape, a view of the engine's memory."""
        return self._look(0)

    @property
    def diff(self):
        """The gradient: a float32 array of the blob's shape, a view of the engine's memory."""
        return self._look(1)

    @property
    def shape(self):
        """The extents of the axes, a tuple."""
        view = _new_view()
        check(functions.shape(self._handle, view))
        return tuple(view.shape[:view.axes])

    @property
    def count(self):
        """The number of values."""
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    def _legacy(self, axis):
        shape = self.shape
        if len(shape) > 4:
            raise ValueError('num, channels, height and width are for blobs of at most 4 axes, this one has %d' % len(shape))
        return shape[axis] if axis < len(shape) else 1

    @property
    def num(self):
        """The extent of axis 0; 1 if there is none. ValueError for more than 4 axes."""
        return self._legacy(0)

    @property
    def channels(self):
        """The extent of axis 1; 1 if there is none. ValueError for more than 4 axes."""
        return self._legacy(1)

    @property
    def height(self):
        """The extent of axis 2; 1 if there is none. ValueError for more than 4 axes."""
        return self._legacy(2)

    @property
    def width(self):
        """The extent of axis 3; 1 if there is none. ValueError for more than 4 axes."""
        return self._legacy(3)

    def reshape(self, *shape, **kwargs):
        """Change the shape: b.reshape(10, 3, 32, 32). A blob that grows gets new memory, filled with zeros. Net.reshape, or the next
        forward, passes the shape on to later layers.

        ValueError: a negative extent, more than 32 axes or 2^31 - 1 values. TypeError: an extent that is no integer. MemoryError: more
        values than the computer has memory for.
        """
        if kwargs:
            raise RuntimeError('Blob.reshape takes no kwargs')
        extents = [operator.index(n) for n in shape]
        if any(abs(n) >= 1 << 62 for n in extents):
            raise ValueError('shape %r has an extent that no blob can have' % (tuple(shape),))
        check(functions.reshape(self._handle, (ctypes.c_int64 * len(extents))(*extents), len(extents)))

    def __repr__(self):
        name = ' %r' % self._name if self._name else ''
        try:
            shape = 'shape %s' % (' x '.join(map(str, self.shape)) or '()')
        except RuntimeError:
            shape = 'in use by another thread'
        except ValueError:
            shape = 'of a closed net'
        return '<caffe.Blob%s, %s>' % (name, shape)

    def _repr_html_(self):
        """A table of the values' range, for notebooks. While another thread uses the net, or if the blob is
        gone, only its repr."""
        try:
            values = self.data
        except (RuntimeError, ValueError):
            return '<p>%s</p>' % html.escape(repr(self))
        finite = values[np.isfinite(values)]
        row = ['%g' % f for f in (finite.min(), finite.mean(dtype=np.float64), finite.max())] if finite.size else ['', '', '']
        return _table(['count', 'least', 'mean', 'largest', 'not finite'], [[str(values.size), *row, str(values.size - finite.size)]], repr(self))


def _table(head, rows, caption):
    """Return a table in HTML. Its cells and the caption are plain text."""
    def line(kind, cells):
        return '<tr>%s</tr>' % ''.join('<%s>%s</%s>' % (kind, html.escape(cell), kind) for cell in cells)
    return '<table><caption>%s</caption>%s%s</table>' % (html.escape(caption), line('th', head), ''.join(line('td', row) for row in rows))


class BlobVec(list):
    """The blobs of a layer: its weights."""

    def __init__(self, blobs=(), layer=0):
        super().__init__(blobs)
        self._layer = layer

    def add_blob(self, *shape, **kwargs):
        """Add a weight of a shape, filled with zeros. Only for a layer written in Python, in its setup.

        RuntimeError: another layer. ValueError, TypeError: as for Blob.reshape.
        """
        if kwargs:
            raise RuntimeError('BlobVec.add_blob takes no kwargs')
        handle = call('add_blob', {'layer': self._layer, 'shape': [operator.index(n) for n in shape]})
        self.append(Blob._of(handle))
