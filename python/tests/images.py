"""Image files for the tests, written without the engine."""

import base64
import struct
import zlib

import numpy as np

# A photograph of 12 x 8 pixels whose corners differ.
PHOTOGRAPH = base64.b64decode('''
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMU
FRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU
FBQUFBQUFBT/wAARCAAIAAwDAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAB//EABsQAAEEAwAAAAAAAAAAAAAAACQAAgii
BQYy/8QAFQEBAQAAAAAAAAAAAAAAAAAABwj/xAAdEQACAQQDAAAAAAAAAAAAAAAABiICBAcyBSMk/9oADAMBAAIRAxEAPwA+1ONP
AlU9M2RNph+nO2shXxsaRGCVU03+RO+qZYfFuvlpkf/Z
''')

# How a picture is turned upright whose orientation is the key.
UPRIGHT = {
    1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
    5: lambda p: np.swapaxes(p, 0, 1), 6: lambda p: np.rot90(p, -1), 7: lambda p: np.swapaxes(p[::-1, ::-1], 0, 1), 8: np.rot90,
}


def photograph(orientation):
    """Return PHOTOGRAPH with an orientation of Exif."""
    exif = b'Exif\0\0MM\0*\0\0\0\x08\0\x01' + struct.pack('>HHIHHI', 0x112, 3, 1, orientation, 0, 0)
    return PHOTOGRAPH[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2) + exif + PHOTOGRAPH[2:]


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
