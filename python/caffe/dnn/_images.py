"""Images as the inputs of nets: what blobFromImage and its kin do, in numpy, with the values of OpenCV 4.6."""

import numpy as np

CV_8U, CV_32F = 0, 5


def blobFromImage(image, scalefactor=1.0, size=(0, 0), mean=(), swapRB=False, crop=False, ddepth=CV_32F):
    """Return an image (H x W x C, C = 1, 3 or 4, or H x W; uint8 or float32) as a blob, 1 x C x height x width.

    size is (width, height); (0, 0) keeps the image's. crop fills size and cuts off what is outside, instead of changing the
    proportions. swapRB exchanges the first and the third channel. mean, up to four numbers in the order of the blob's channels, is
    subtracted; the result is multiplied by scalefactor. ddepth CV_8U (0) gives bytes, of images in bytes without mean and factor.

    TypeError: no image, or another type of values. ValueError: another number of channels, or a size that is impossible.
    """
    return blobFromImages([image], scalefactor, size, mean, swapRB, crop, ddepth)


def blobFromImages(images, scalefactor=1.0, size=(0, 0), mean=(), swapRB=False, crop=False, ddepth=CV_32F):
    """Return images as a blob, N x C x height x width; see blobFromImage. Size (0, 0) is the first image's size, to which the others are
    resized."""
    if ddepth not in (CV_8U, CV_32F):
        raise ValueError('ddepth %r: must be CV_32F (5) or CV_8U (0)' % (ddepth,))
    mean = scalar(mean)
    if ddepth == CV_8U and (scalefactor != 1 or any(mean)):
        raise ValueError('a blob of bytes (ddepth CV_8U) takes neither a scalefactor nor a mean: %g and %s are given' % (scalefactor, mean))
    images = [_image(image) for image in images]
    if not images:
        raise ValueError('there are no images')
    width, height = _pair(size)
    if width == 0 and height == 0:
        height, width = images[0].shape[:2]
    channels = images[0].shape[2]
    blob = np.empty((len(images), channels, height, width), np.uint8 if ddepth == CV_8U else np.float32)
    order = [2, 1, 0, 3] if swapRB else [0, 1, 2, 3]
    for plane, image in zip(blob, images):
        if image.shape[2] != channels:
            raise ValueError('an image has %d channels, the first one has %d' % (image.shape[2], channels))
        if ddepth == CV_8U and image.dtype != np.uint8:
            raise TypeError('a blob of bytes (ddepth CV_8U) is made of images of uint8, not %s' % image.dtype)
        image = _fit(image, height, width, crop)
        for c in range(channels):
            source = order[c] if channels > 1 else 0
            plane[c] = image[:, :, source]
            subtract = mean[order[0] if channels == 1 else c]
            if subtract:
                plane[c] -= np.float32(subtract)
    if scalefactor != 1:
        blob *= np.float32(scalefactor)
    return blob


def imagesFromBlob(blob_):
    """Return the images of a blob (N x C x H x W, float32): a tuple of N arrays, H x W x C, or H x W for one channel."""
    blob_ = np.asarray(blob_)
    if blob_.dtype != np.float32 or blob_.ndim != 4:
        raise ValueError('a blob is float32 with 4 axes, this is %s with shape %s' % (blob_.dtype, blob_.shape))
    return tuple(np.ascontiguousarray(image[0] if len(image) == 1 else image.transpose(1, 2, 0)) for image in blob_)


def scalar(values):
    """Return up to four numbers, or one, as a list of four: those left out are 0, as in OpenCV's Scalar."""
    if values is None:
        values = ()
    values = [float(v) for v in np.asarray(values, dtype=np.float64).reshape(-1)]
    if len(values) > 4:
        raise ValueError('a mean has at most 4 numbers, %d are given' % len(values))
    return values + [0.0] * (4 - len(values))


def _pair(size):
    try:
        width, height = size
        if width != int(width) or height != int(height):
            raise ValueError
    except (TypeError, ValueError):
        raise TypeError('size %r: must be (width, height), two integers' % (size,)) from None
    if (width <= 0 or height <= 0) and (width, height) != (0, 0):
        raise ValueError('size %r: both must be positive, or both 0' % (size,))
    return int(width), int(height)


def _image(image):
    if hasattr(image, 'get') and not isinstance(image, np.ndarray):  # a cv2.UMat
        image = image.get()
    if not isinstance(image, np.ndarray):
        raise TypeError('an image is a numpy array, not %s: has the file been read?' % type(image).__name__)
    if image.dtype not in (np.uint8, np.float32):
        raise TypeError('an image is uint8 or float32, this one is %s' % image.dtype)
    if image.ndim == 2:
        image = image[:, :, np.newaxis]
    if image.ndim != 3 or image.shape[2] not in (1, 3, 4) or image.size == 0:
        raise ValueError('an image has the shape H x W, or H x W x C with 1, 3 or 4 channels, this one has %s' % (image.shape,))
    return image


def _fit(image, height, width, crop):
    """Return an image in another size."""
    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image
    if not crop:
        return resize(image, (height, width), (height / rows, width / columns))
    factor = float(max(np.float32(width) / np.float32(columns), np.float32(height) / np.float32(rows)))
    image = resize(image, (int(np.rint(rows * factor)), int(np.rint(columns * factor))), (factor, factor))
    top, left = int(0.5 * (image.shape[0] - height)), int(0.5 * (image.shape[1] - width))
    cut = image[top:top + height, left:left + width]
    if cut.shape[:2] != (height, width):
        raise ValueError('an image of %d x %d pixels cannot be cropped to %d x %d' % (columns, rows, width, height))
    return cut


def resize(image, shape, factors):
    """Return an image (H x W x C) with its axes resized to shape, (height, width), as cv2.resize does with INTER_LINEAR. Positions follow the
    factors by which height and width grow. Bytes are interpolated with weights of 11 bits."""
    if min(shape) < 1:
        raise ValueError('an image of %d x %d pixels cannot become %d x %d' % (image.shape[1], image.shape[0], shape[1], shape[0]))
    if tuple(factors) == (0.5, 0.5):
        return _halved(image, shape)
    upper, lower, up, low = _taps(image.shape[0], shape[0], factors[0])
    left, right, first, second = _taps(image.shape[1], shape[1], factors[1])
    first, second = np.where(left == right, first + second, first), np.where(left == right, np.float32(0), second)
    used, index = np.unique(np.concatenate([upper, lower]), return_inverse=True)
    rows = image[used]
    exact = image.dtype == np.uint8
    if exact:
        up, low, first, second = [np.rint(w * np.float32(2048)).astype(np.int32) for w in (up, low, first, second)]
    rows = rows[:, left] * first[:, np.newaxis] + rows[:, right] * second[:, np.newaxis]
    if exact:
        rows >>= 4
    a = rows[index[:len(upper)]] * up[:, np.newaxis, np.newaxis]
    b = rows[index[len(upper):]] * low[:, np.newaxis, np.newaxis]
    return (((a >> 16) + (b >> 16) + 2) >> 2).astype(np.uint8) if exact else a + b


def _taps(old, new, factor):
    """Return the two old positions, and their weights in float32, for each of new positions."""
    at = ((np.arange(new) + 0.5) * (1 / factor) - 0.5).astype(np.float32)
    low = np.floor(at).astype(np.int64)
    f = at - low.astype(np.float32)
    return np.clip(low, 0, old - 1), np.clip(low + 1, 0, old - 1), np.float32(1) - f, f


def _halved(image, shape):
    """Return an image of half the size, in which a pixel is the mean of four, or of those of the four that exist."""
    height, width = shape
    total = np.zeros((height, width, image.shape[2]), np.int32 if image.dtype == np.uint8 else np.float32)
    count = np.zeros((height, width, 1), np.int32)
    for y in 0, 1:
        for x in 0, 1:
            part = image[y:2 * height:2, x:2 * width:2]
            total[:part.shape[0], :part.shape[1]] += part
            count[:part.shape[0], :part.shape[1]] += 1
    if image.dtype == np.uint8:
        return np.where(count == 4, (total + 2) >> 2, np.rint(total / count.astype(np.float32)).astype(np.int32)).astype(np.uint8)
    return total / count.astype(np.float32)
