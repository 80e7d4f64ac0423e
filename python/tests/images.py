"""Image files for the tests, written without the engine."""

import struct
import zlib


def png(pixels):
    """Return a PNG file of bytes or 16-bit numbers: H x W, H x W x 2 (grey, alpha), x 3 (R, G, B) or x 4."""
    height, width = pixels.shape[:2]
    channels = pixels.size // (height * width)
    bits = 8 * pixels.itemsize
    pixels = pixels.astype(pixels.dtype.newbyteorder('>'))
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    header = struct.pack('>IIBBBBB', width, height, bits, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
