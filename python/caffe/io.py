"""Images and arrays on their way into and out of nets.

Transformer turns images into the inputs of a net. load_image, resize_image and oversample read, resample and crop images. The other
functions convert arrays to Caffe's messages and back; only they need Python's protobuf.
"""

import numpy as np

from . import _pictures
from . import proto as _proto
from ._resize import resize as _resize


def __getattr__(name):
    if name == 'caffe_pb2':  # Caffe's module has this name of its import, and scripts use it
        return _proto.caffe_pb2
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


# Messages

def blobproto_to_array(blob, return_diff=False):
    """Return the values of a BlobProto, or its gradients, in the blob's shape."""
    if return_diff:
        values = blob.diff or blob.double_diff
    else:
        values = blob.data or blob.double_data
    values = np.array(values)
    old = ('num', 'channels', 'height', 'width')
    if any(blob.HasField(name) for name in old):
        return values.reshape([getattr(blob, name) for name in old])
    return values.reshape(tuple(blob.shape.dim))


def array_to_blobproto(arr, diff=None):
    """Return a BlobProto with the values of an array of any shape and, optionally, gradients of the same number."""
    blob = _proto.caffe_pb2.BlobProto()
    blob.shape.dim.extend(arr.shape)
    blob.data.extend(arr.astype(float).flat)
    if diff is not None:
        blob.diff.extend(diff.astype(float).flat)
    return blob


def arraylist_to_blobprotovector_str(arraylist):
    """Return a list of arrays as the bytes of a BlobProtoVector."""
    vector = _proto.caffe_pb2.BlobProtoVector()
    vector.blobs.extend(array_to_blobproto(arr) for arr in arraylist)
    return vector.SerializeToString()


def blobprotovector_str_to_arraylist(str):
    """Return the arrays of a BlobProtoVector from its bytes."""
    vector = _proto.caffe_pb2.BlobProtoVector()
    vector.ParseFromString(str)
    return [blobproto_to_array(blob) for blob in vector.blobs]


def array_to_datum(arr, label=None):
    """Return a Datum with an array of shape (channels, height, width): bytes if its type is uint8, else floats."""
    if arr.ndim != 3:
        raise ValueError('Incorrect array shape: %s, need (channels, height, width)' % (arr.shape,))
    datum = _proto.caffe_pb2.Datum()
    datum.channels, datum.height, datum.width = arr.shape
    if arr.dtype == np.uint8:
        datum.data = arr.tobytes()
    else:
        datum.float_data.extend(arr.astype(float).flat)
    if label is not None:
        datum.label = label
    return datum


def datum_to_array(datum):
    """Return the values of a Datum in the shape (channels, height, width): uint8 or, from float_data, doubles."""
    if len(datum.data):
        values = np.frombuffer(datum.data, dtype=np.uint8).copy()
    else:
        values = np.array(datum.float_data).astype(float)
    return values.reshape(datum.channels, datum.height, datum.width)


# Inputs of nets

class Transformer:
    """Turns images, as load_image returns them, into the inputs of a net, and back.

    inputs maps the name of each input to its shape (N, K, H, W). preprocess resizes an image to H x W and then does those steps
    that were set, in this order: transpose the axes, swap channels, multiply by the raw scale, subtract the mean, multiply by the
    input scale.
    """

    def __init__(self, inputs):
        self.inputs = inputs
        self.transpose = {}
        self.channel_swap = {}
        self.raw_scale = {}
        self.mean = {}
        self.input_scale = {}

    def __check_input(self, in_):
        if in_ not in self.inputs:
            raise Exception('{} is not one of the net inputs: {}'.format(in_, self.inputs))

    def preprocess(self, in_, data):
        """Return the input (K x H x W) that an image (any height x any width x K) gives. The image stays as it is."""
        self.__check_input(in_)
        result = np.array(data, dtype=np.float32)
        axes = len(self.transpose.get(in_, (0, 1, 2)))
        if result.size == 0 or in_ in self.transpose and result.ndim != axes:
            raise ValueError('an image of shape {} for {}: it needs {} axes (height, width and channels), none of them empty'.format(
                result.shape, in_, axes))
        size = tuple(self.inputs[in_][2:])
        if result.shape[:2] != size:
            result = resize_image(result, size)
        if in_ in self.transpose:
            result = result.transpose(self.transpose[in_])
        if in_ in self.channel_swap:
            if max(self.channel_swap[in_]) >= len(result):
                raise ValueError('an image of {} channels for {}, whose channel swap is {}'.format(len(result), in_, tuple(self.channel_swap[in_])))
            result = result[list(self.channel_swap[in_]), :, :]
        if in_ in self.raw_scale:
            result *= self.raw_scale[in_]
        if in_ in self.mean:
            result -= self.mean[in_]
        if in_ in self.input_scale:
            result *= self.input_scale[in_]
        return result

    def deprocess(self, in_, data):
        """Return the image (H x W x K) that gives this input: the steps of preprocess but resizing, undone. Floats keep their type."""
        self.__check_input(in_)
        result = np.array(data)
        kind = result.dtype
        if in_ in self.transpose:
            result = result.reshape(result.shape[-len(self.transpose[in_]):])  # one image of a batch, of one channel too
        else:
            result = result.squeeze()
        if in_ in self.input_scale:
            result = result / self.input_scale[in_]
        if in_ in self.mean:
            result = result + self.mean[in_]
        if in_ in self.raw_scale:
            result = result / self.raw_scale[in_]
        if in_ in self.channel_swap:
            result = result[np.argsort(self.channel_swap[in_]), :, :]
        if in_ in self.transpose:
            result = result.transpose(np.argsort(self.transpose[in_]))
        return result.astype(kind, copy=False) if kind.kind == 'f' else result

    def set_transpose(self, in_, order):
        """Set the order of the image's axes in the input: (2, 0, 1) turns H x W x K into K x H x W."""
        self.__check_input(in_)
        if len(order) != len(self.inputs[in_]) - 1:
            raise Exception('Transpose order needs to have the same number of dimensions as the input.')
        self.transpose[in_] = order

    def set_channel_swap(self, in_, order):
        """Set the order of the image's channels in the input, after transposing: (2, 1, 0) turns RGB into BGR."""
        self.__check_input(in_)
        if len(order) != self.inputs[in_][1]:
            raise Exception('Channel swap needs to have the same number of dimensions as the input channels.')
        self.channel_swap[in_] = order

    def set_raw_scale(self, in_, scale):
        """Set the factor before the mean is subtracted: 255 for images in [0, 1] and nets that were trained with bytes."""
        self.__check_input(in_)
        self.raw_scale[in_] = scale

    def set_mean(self, in_, mean):
        """Set the mean that is subtracted: one value for each channel, or one for each element.

        A mean of H' x W' or K x H' x W' is resized to the input's H x W.
        """
        self.__check_input(in_)
        shape = tuple(self.inputs[in_][1:])
        if mean.ndim == 1:
            if mean.shape[0] != shape[0]:
                raise ValueError('Mean channels incompatible with input: %d values, %d channels.' % (mean.shape[0], shape[0]))
            mean = mean[:, np.newaxis, np.newaxis]
        else:
            if mean.ndim == 2:
                mean = mean[np.newaxis]
            if mean.ndim != 3:
                raise ValueError('Mean shape invalid: %s' % (mean.shape,))
            if mean.shape[0] != shape[0]:
                raise ValueError('Mean shape incompatible with input shape: %s and %s.' % (mean.shape, shape))
            if mean.shape != shape:
                mean = resize_image(mean.transpose((1, 2, 0)), shape[1:]).transpose((2, 0, 1))
        self.mean[in_] = mean

    def set_input_scale(self, in_, scale):
        """Set the factor after the mean is subtracted."""
        self.__check_input(in_)
        self.input_scale[in_] = scale


# Images

_LUMINANCE = np.array([0.2125, 0.7154, 0.0721])  # of R, G, B as scikit-image weighs them, by ITU-R BT.709


def load_image(filename, color=True):
    """Return an image file as floats in [0, 1]: H x W x 3 in the order R, G, B, or H x W x 1 if color is False.

    A grey image is repeated three times if color is True, and an alpha channel is dropped. JPEG, PNG, BMP, TIFF, WebP and PNM are read, by the
    decoders of the data layers: a photograph that is stored on its side is turned upright. PNG and TIFF keep all 16 bits of their values, PNM the upper 8.

    FileNotFoundError, OSError: a file that cannot be read. ValueError: contents that are no image.
    """
    image = _pictures.decode(filename)
    if not color:
        image = image.dot(_LUMINANCE)[:, :, np.newaxis]
    return np.ascontiguousarray(image, dtype=np.float32)


def resize_image(im, new_dims, interp_order=1):
    """Return an image (H x W x K) of the size new_dims, (height, width), as floats.

    interp_order is 0 (nearest), 1 (linear), 2 or 3 (splines). Shrinking does not smooth. Images of 1 or 3 channels are resampled at
    the centres of pixels, with the image's least value around it, and keep within its range, as with scikit-image. Others are
    resampled with the first and last pixels in place, as with scipy.ndimage.
    """
    shape = (int(new_dims[0]), int(new_dims[1]))
    if min(shape) < 1 or im.size == 0:
        raise ValueError('an image of shape {} cannot be resized to height {} and width {}'.format(im.shape, *shape))
    if im.shape[-1] not in (1, 3):
        return _resize(im, shape, interp_order, grid=False).astype(np.float32)
    low, high = im.min(), im.max()
    if not high > low:
        return np.full(shape + im.shape[-1:], low, dtype=np.float32)
    unit = (im - low) / (high - low)
    unit = np.clip(_resize(unit, shape, interp_order, grid=True), 0, 1)
    return (unit * (high - low) + low).astype(np.float32)


def oversample(images, crop_dims):
    """Return ten crops of each image (H x W x K): the four corners and the centre, then the mirror images of these five.

    The result has the shape (10 * number of images, height, width, K) for crop_dims (height, width).
    """
    height, width, channels = images[0].shape
    h, w = (int(d) for d in crop_dims)
    centre = (int(height / 2.0 - h / 2.0), int(width / 2.0 - w / 2.0))
    if h > height or w > width:
        raise ValueError('crops of height {} and width {} of images of height {} and width {}'.format(h, w, height, width))
    places = [(0, 0), (0, width - w), (height - h, 0), (height - h, width - w), centre]
    crops = np.empty((10 * len(images), h, w, channels), dtype=np.float32)
    for i, image in enumerate(images):
        for j, (y, x) in enumerate(places):
            crop = image[y:y + h, x:x + w, :]
            crops[10 * i + j] = crop
            crops[10 * i + 5 + j] = crop[:, ::-1, :]
    return crops
