"""Detector, a net that classifies windows of images, as R-CNN does (Girshick, Donahue, Darrell and Malik, 2014)."""

import os

import numpy as np

from . import io
from .classifier import TEST, make_transformer
from .pycaffe import Net


class Detector(Net):
    """A net in the TEST phase that classifies windows of images, each warped to the net's input.

    context_pad is the width of the border, in pixels of the net's input, that shows the surroundings of a window. What lies outside
    the image is filled with the mean. The other arguments are those of io.Transformer.
    """

    def __init__(self, model_file, pretrained_file, mean=None, input_scale=None, raw_scale=None, channel_swap=None,
                 context_pad=None):
        Net.__init__(self, model_file, TEST, weights=pretrained_file)
        self.transformer = make_transformer(self, mean, input_scale, raw_scale, channel_swap)
        self.configure_crop(context_pad)

    def detect_windows(self, images_windows):
        """Classify windows (ymin, xmin, ymax, xmax) of images, given as pairs of an image's file and a list of its windows.

        Return a list of dicts, one a window: 'window', 'prediction' (the net's first output) and 'filename'.
        """
        detections, crops = [], []
        for filename, windows in images_windows:
            image = io.load_image(filename)
            for window in windows:
                crops.append(self.crop(image, window))
                detections.append({'window': window, 'filename': filename})
        if not detections:
            return detections
        name = self.inputs[0]
        outputs = self.forward_all(**{name: np.array([self.transformer.preprocess(name, crop) for crop in crops])})
        for detection, prediction in zip(detections, outputs[self.outputs[0]]):
            detection['prediction'] = prediction.reshape(-1)
        return detections

    def detect_selective_search(self, image_fnames):
        """Classify the windows that Selective Search proposes for images. The proposals come from MATLAB by way of the module
        selective_search_ijcv_with_python, which must be installed."""
        try:
            import selective_search_ijcv_with_python as selective_search
        except ImportError as e:
            raise ImportError('detect_selective_search needs the module selective_search_ijcv_with_python '
                              '(github.com/sergeyk/selective_search_ijcv_with_python) and MATLAB; '
                              'detect_windows takes windows from any other source') from e
        # MATLAB needs absolute paths.
        image_fnames = [os.path.abspath(f) for f in image_fnames]
        windows = selective_search.get_windows(image_fnames, cmd='selective_search_rcnn')
        return self.detect_windows(zip(image_fnames, windows))

    def crop(self, im, window):
        """Return the part of an image in a window (ymin, xmin, ymax, xmax).

        With context_pad it is widened by the context and already warped to the input's size, for there its mean fills what lies
        outside the image.
        """
        window = [int(w) for w in window]
        if len(window) != 4:
            raise ValueError('window {} has {} numbers, not 4: ymin, xmin, ymax, xmax'.format(tuple(window), len(window)))
        if not self.context_pad:
            if min(window) < 0 or any(window[a] >= min(window[a + 2], im.shape[a]) for a in (0, 1)):
                raise ValueError('window {} (ymin, xmin, ymax, xmax) is empty or begins outside the image of height {} and width {}'.format(
                    tuple(window), *im.shape[:2]))
            return im[window[0]:window[2], window[1]:window[3]]
        size = int(self.crop_dims[0])  # of a square input
        inside, target = [], []
        for axis in (0, 1):
            low, pad, old, new = _with_context(window[axis], window[axis + 2], im.shape[axis], size, self.context_pad)
            inside.append(slice(low, low + old))
            target.append(slice(pad, pad + new))
        crop = np.ones(self.crop_dims, dtype=np.float32) * self.crop_mean
        shape = tuple(s.stop - s.start for s in target)
        crop[target[0], target[1]] = io.resize_image(im[inside[0], inside[1]], shape)
        return crop

    def configure_crop(self, context_pad):
        """Set the width of the context around windows, and the mean that fills it outside images, in the images' own units."""
        name = self.inputs[0]
        inverse = np.argsort(self.transformer.transpose[name])
        self.crop_dims = np.array(self.blobs[name].data.shape[1:])[inverse]
        self.context_pad = context_pad
        if not context_pad:
            return
        height, width = self.crop_dims[:2]
        if height != width:
            raise ValueError('context_pad needs a square input, not %d x %d' % (height, width))
        if 2 * context_pad >= height:
            raise ValueError('context_pad %d leaves nothing of an input of %d pixels' % (context_pad, height))
        mean = self.transformer.mean.get(name)
        if mean is None:
            self.crop_mean = np.zeros(self.crop_dims, dtype=np.float32)
            return
        swap = self.transformer.channel_swap.get(name)
        if swap is not None:
            mean = mean[np.argsort(swap)]
        self.crop_mean = mean.transpose(inverse) / self.transformer.raw_scale.get(name, 1)


def _with_context(low, high, extent, size, pad):
    """Widen the interval [low, high) of an axis so that it fills `size` pixels but a border of `pad` pixels on both sides.

    Return where the part inside the image's extent begins, how many of the size pixels lie before the image, the length of the part
    inside, and the number of the size pixels that show it.
    """
    half = (high - low + 1) / 2.0
    wide = half * size / (size - 2.0 * pad)
    first, last = (int(round(low + half + d)) for d in (-wide, wide))
    scale = size / (last - first + 1.0)
    before = int(round(max(0, -first) * scale))
    first, last = max(first, 0), min(last, extent)
    if last <= first:
        raise ValueError('window [%d, %d) lies outside an image of %d pixels' % (low, high, extent))
    shown = min(int(round((last - first + 1) * scale)), size - before)
    return first, before, last - first, shown
