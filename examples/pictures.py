"""Pictures for the examples, as SVG and PNG files, with numpy alone.

A Picture collects images, curves, bars, boxes and text at positions in pixels. tiles arranges many small images in a grid.
"""

import base64
import os
import struct
import zlib
from xml.sax.saxutils import escape

import numpy as np

COLOURS = ['#1f6fb4', '#d95f02', '#2a9d5c', '#9467bd', '#b4373a', '#7f7f7f']


def png(image):
    """Return the bytes of a PNG file: image is H x W (grey) or H x W x 3 with values from 0 to 1."""
    pixels = np.round(np.clip(image, 0, 1) * 255).astype(np.uint8)
    height, width = pixels.shape[:2]
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    header = struct.pack('>IIBBBBB', width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')


def stretched(image):
    """Return an image with its least value as 0 and its greatest as 1."""
    low, high = float(image.min()), float(image.max())
    return (image - low) / (high - low) if high > low else np.zeros_like(image)


def tiles(images, columns=None, scale=1, gap=1, each=False):
    """Return images (N x H x W or N x H x W x 3) as one image of a grid, stretched to values from 0 to 1 together or each alone.

    Every pixel becomes scale x scale pixels; gap is the white space between images, in pixels of the result.
    """
    images = np.array([stretched(image) for image in images]) if each else stretched(np.asarray(images))
    images = images.repeat(scale, 1).repeat(scale, 2)
    columns = columns or int(np.ceil(np.sqrt(len(images))))
    rows = -(-len(images) // columns)
    h, w = images.shape[1] + gap, images.shape[2] + gap
    grid = np.ones((rows * h - gap, columns * w - gap) + images.shape[3:])
    for i, image in enumerate(images):
        y, x = i // columns * h, i % columns * w
        grid[y:y + h - gap, x:x + w - gap] = image
    return grid


def heat(values):
    """Return values from 0 to 1 as colours, from dark blue over green to yellow."""
    stops = np.array([[.27, 0, .33], [.23, .32, .55], [.13, .57, .55], [.37, .79, .38], [.99, .91, .14]])
    at = np.clip(values, 0, 1) * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    t = (at - low)[..., np.newaxis]
    return stops[low] * (1 - t) + stops[low + 1] * t


def _ticks(low, high):
    """Return about five round numbers from low to high."""
    step = 10.0 ** np.floor(np.log10((high - low) / 4))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= 6)
    return np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0  # no -0


class Picture:
    """A picture of width x height pixels; save writes it as SVG."""

    def __init__(self, width, height, title=''):
        self.size = width, height
        self.parts = []
        if title:
            self.text(20, 30, title, 18)

    def text(self, x, y, text, size=12, anchor='start', colour='#222'):
        """Write text with its baseline at y. anchor is start, middle or end."""
        self.parts.append('<text x="%.1f" y="%.1f" font-size="%g" text-anchor="%s" fill="%s">%s</text>' % (
            x, y, size, anchor, colour, escape(text)))

    def image(self, x, y, image, scale=1):
        """Place an image (H x W or H x W x 3, values from 0 to 1) with its upper left corner at (x, y)."""
        image = np.asarray(image).repeat(scale, 0).repeat(scale, 1)
        self.parts.append('<image x="%.1f" y="%.1f" width="%d" height="%d" href="data:image/png;base64,%s"/>' % (
            x, y, image.shape[1], image.shape[0], base64.b64encode(png(image)).decode()))

    def box(self, x, y, width, height, colour='#222', fill='none', line=1):
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" stroke="%s" fill="%s" stroke-width="%g"/>' % (
            x, y, width, height, colour, fill, line))

    def line(self, points, colour='#222', width=1):
        self.parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="%g" stroke-linejoin="round"/>' % (
            ' '.join('%.2f,%.2f' % tuple(p) for p in points), colour, width))

    def dots(self, points, colour='#222', radius=2):
        self.parts.append('<g fill="%s" fill-opacity="0.6">%s</g>' % (
            colour, ''.join('<circle cx="%.2f" cy="%.2f" r="%g"/>' % (x, y, radius) for x, y in points)))

    def axes(self, x, y, width, height, xs, ys, title='', xlabel=''):
        """Draw axes for values from xs[0] to xs[1] and ys[0] to ys[1]; return the function from values to positions."""
        def place(u, v):
            return (x + (np.asarray(u) - xs[0]) / (xs[1] - xs[0]) * width,
                    y + height - (np.asarray(v) - ys[0]) / (ys[1] - ys[0]) * height)
        for t in _ticks(*xs):
            at, _ = place(t, ys[0])
            self.line([(at, y), (at, y + height)], '#ddd')
            self.text(at, y + height + 15, '%g' % t, 11, 'middle')
        for t in _ticks(*ys):
            _, at = place(xs[0], t)
            self.line([(x, at), (x + width, at)], '#ddd')
            self.text(x - 5, at + 4, '%g' % t, 11, 'end')
        self.box(x, y, width, height, '#888')
        self.text(x + width / 2, y - 8, title, 13, 'middle')
        self.text(x + width / 2, y + height + 32, xlabel, 12, 'middle')
        return place

    def plot(self, x, y, width, height, curves, title='', xlabel='', ys=None, low=False):
        """Plot curves, (label, x values, y values) each, with a legend above, or below if low is set."""
        values = np.concatenate([np.asarray(c[2], dtype=float) for c in curves])
        ys = ys or (min(0, values.min()), values.max() * 1.05)
        positions = np.concatenate([np.asarray(c[1], dtype=float) for c in curves])
        place = self.axes(x, y, width, height, (positions.min(), positions.max()), ys, title, xlabel)
        for i, (label, u, v) in enumerate(curves):
            colour = COLOURS[i % len(COLOURS)]
            self.line(np.transpose(place(u, np.clip(v, *ys))), colour, 1.5)
            at = y + 16 + 16 * i + (height - 16 * len(curves) - 16 if low else 0)
            if len(curves) > 1:
                self.line([(x + width - 30, at), (x + width - 10, at)], colour, 3)
                self.text(x + width - 36, at + 4, label, 11, 'end')

    def bars(self, x, y, width, height, names, values, title=''):
        """Draw horizontal bars from 0 to 1, each with its name and value."""
        self.text(x, y - 8, title, 13)
        step = height / len(values)
        for i, (name, value) in enumerate(zip(names, values)):
            self.box(x, y + i * step, width * float(value), step * 0.7, 'none', COLOURS[0])
            self.text(x + width * float(value) + 5, y + i * step + step * 0.55, '%s  %.3f' % (name, value), 11)

    def save(self, path):
        """Write the picture, over an older one too, and print its name."""
        width, height = self.size
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, 'w') as f:
            f.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
                    'font-family="Liberation Sans, Arial, sans-serif">\n<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n'
                    % (width, height, width, height, '\n'.join(self.parts)))
        print('picture: %s' % path)
