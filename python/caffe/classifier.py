"""Classifier, a net that classifies images."""

import numpy as np

from . import io
from .pycaffe import Net

TEST = 1


def make_transformer(net, mean=None, input_scale=None, raw_scale=None, channel_swap=None):
    """Return the Transformer from images to the first input of a net."""
    name = net.inputs[0]
    transformer = io.Transformer({name: net.blobs[name].data.shape})
    transformer.set_transpose(name, (2, 0, 1))
    if mean is not None:
        transformer.set_mean(name, mean)
    if input_scale is not None:
        transformer.set_input_scale(name, input_scale)
    if raw_scale is not None:
        transformer.set_raw_scale(name, raw_scale)
    if channel_swap is not None:
        transformer.set_channel_swap(name, channel_swap)
    return transformer


class Classifier(Net):
    """A net in the TEST phase whose first input is an image and whose first output holds probabilities of classes.

    Images are resized to image_dims, (height, width), before crops of the input's size are taken; by default to the input's size.
    The other arguments are those of io.Transformer: mean is an array.
    """

    def __init__(self, model_file, pretrained_file, image_dims=None, mean=None, input_scale=None, raw_scale=None,
                 channel_swap=None):
        Net.__init__(self, model_file, TEST, weights=pretrained_file)
        self.transformer = make_transformer(self, mean, input_scale, raw_scale, channel_swap)
        self.crop_dims = np.array(self.blobs[self.inputs[0]].data.shape[2:])
        self.image_dims = self.crop_dims if image_dims is None or len(image_dims) == 0 else image_dims

    def predict(self, inputs, oversample=True):
        """Return the outputs for images (each H x W x K), one row an image.

        With oversample each row is the average over ten crops (io.oversample), otherwise it belongs to the crop from the centre.
        """
        inputs = list(inputs)
        if not inputs:
            raise ValueError('predict needs a list of images, it has none')
        for i, image in enumerate(inputs):
            if np.ndim(image) != 3:
                raise ValueError('image {} has shape {}: predict needs a list of images, each of height x width x channels'.format(i, np.shape(image)))
        images = np.array([io.resize_image(image, self.image_dims) for image in inputs])
        if oversample:
            crops = io.oversample(images, self.crop_dims)
        else:
            h, w = self.crop_dims
            y, x = (int(d / 2.0 - c / 2.0) for d, c in zip(self.image_dims, self.crop_dims))
            crops = images[:, y:y + h, x:x + w, :]
        name = self.inputs[0]
        outputs = self.forward_all(**{name: np.array([self.transformer.preprocess(name, crop) for crop in crops])})
        predictions = outputs[self.outputs[0]]
        if oversample:
            predictions = predictions.reshape(len(inputs), 10, -1).mean(1)
        return predictions
