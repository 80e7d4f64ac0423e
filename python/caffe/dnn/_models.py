"""Nets with what is done to images before and to outputs after them: cv2.dnn's models."""

import numpy as np

from ._images import blobFromImage
from ._net import Net


class Model:
    """A net that is run on images. network is a Net, or the file of its weights, whose prototxt is config (or the other way round).

    An image (H x W x C) is resized to the size, by default the input's in the prototxt, and cropped or its channels swapped if asked for.
    Then the mean, in the order of the net's channels, is subtracted and the result multiplied by the scale.
    """

    def __init__(self, network, config=''):
        if not isinstance(network, Net):
            from . import readNet
            network = readNet(network, config)
        self._net = network
        self._outputs = network.getUnconnectedOutLayersNames()
        shape = network.net.blobs[network.net.inputs[0]].shape if network.net and network.net.inputs else ()
        self._size = (shape[3], shape[2]) if len(shape) == 4 else (0, 0)
        self._scale, self._mean, self._swap, self._crop = 1.0, (), False, False

    def setInputSize(self, size, height=None):
        """Set the size of the net's input, (width, height), or both as two arguments. Return the model, as all of these methods."""
        self._size = (size, height) if height is not None else tuple(size)
        return self

    def setInputMean(self, mean):
        """Set the mean that is subtracted from each channel."""
        self._mean = mean
        return self

    def setInputScale(self, scale):
        """Set the factor that comes after the mean."""
        self._scale = scale
        return self

    def setInputCrop(self, crop):
        """Set whether an image is cropped rather than its proportions changed."""
        self._crop = crop
        return self

    def setInputSwapRB(self, swapRB):
        """Set whether the first and the third channel are exchanged."""
        self._swap = swapRB
        return self

    def setInputParams(self, scale=1.0, size=(0, 0), mean=(), swapRB=False, crop=False):
        """Set all of these at once. What is left out gets its default here, the size too."""
        self._scale, self._size, self._mean, self._swap, self._crop = scale, tuple(size), mean, swapRB, crop

    def setPreferableBackend(self, backendId):
        """Accept OpenCV's backends; see Net."""
        self._net.setPreferableBackend(backendId)
        return self

    def setPreferableTarget(self, targetId):
        """Accept OpenCV's targets; see Net."""
        self._net.setPreferableTarget(targetId)
        return self

    def predict(self, frame):
        """Return the values of the layers that no layer reads, for an image: a tuple of arrays."""
        if tuple(self._size) == (0, 0):
            raise ValueError('the size of the input is not known: use setInputSize or setInputParams')
        blob = blobFromImage(frame, 1.0, self._size, (), self._swap, self._crop)
        self._net.setInput(blob, '', self._scale, self._mean)
        if 'im_info' in self._net.net.inputs:
            self._net.setInput(np.array([[self._size[1], self._size[0], 1.6]], np.float32), 'im_info')
        return self._net.forward(self._outputs)


class ClassificationModel(Model):
    """A Model whose only output has a value for each class."""
    _softmax = False

    def setEnableSoftmaxPostProcessing(self, enable):
        """Set whether the softmax of the output is taken. Return the model."""
        self._softmax = enable
        return self

    def getEnableSoftmaxPostProcessing(self):
        """Return whether the softmax of the output is taken."""
        return self._softmax

    def classify(self, frame):
        """Return the class of the largest value for an image, and that value."""
        outputs = self.predict(frame)
        if len(outputs) != 1:
            raise ValueError('classify needs a net with one output, this one has %s' % (self._outputs,))
        values = outputs[0].reshape(-1)
        if self._softmax:
            values = np.exp(values - values.max())
            values /= values.sum()
        best = int(values.argmax())
        return best, float(values[best])


class DetectionModel(Model):
    """A Model whose last layer is a DetectionOutput."""
    _across = False

    def setNmsAcrossClasses(self, value):
        """Set a property that OpenCV has for nets that leave the suppression of boxes to it, which those of Caffe do not. Return the model."""
        self._across = value
        return self

    def getNmsAcrossClasses(self):
        """Return what setNmsAcrossClasses has set."""
        return self._across

    def detect(self, frame, confThreshold=0.5, nmsThreshold=0.0):
        """Return classes (int32), confidences (float32) and boxes (int32, N x 4: x, y, width, height, in pixels of the image) of what is
        found in an image with at least a confidence; each () if nothing is. As in OpenCV, nmsThreshold has no effect: the DetectionOutput
        has suppressed boxes already, as its nms_param says. Use NMSBoxes for more."""
        last = self._net.getLayer(len(self._net.getLayerNames()))
        if last.type != 'DetectionOutput':
            raise NotImplementedError('detect needs a net whose last layer is a DetectionOutput, not %r (%s)' % (last.name, last.type))
        found = np.concatenate([o.reshape(-1, 7) for o in self.predict(frame)])
        found = found[found[:, 2] >= np.float32(confThreshold)]
        height, width = self._size[::-1] if 'im_info' in self._net.net.inputs else frame.shape[:2]
        classes, scores = found[:, 1].astype(np.int32), found[:, 2]
        boxes = _boxes(found[:, 3:], width, height)
        return (classes, scores, boxes) if len(classes) else ((), (), ())


def _boxes(corners, width, height):
    """Return (x, y, width, height) inside an image for corners, which are in pixels, or in fractions of the image if pixels would make a box
    at most two wide or high."""
    whole = corners.astype(np.int32)
    sides = whole[:, 2:] - whole[:, :2] + 1
    parts = (sides <= 2).any(axis=1, keepdims=True)
    limits = np.array([width, height], np.int32)
    whole = np.where(parts, (corners * np.tile(limits, 2).astype(np.float32)).astype(np.int32), whole)
    sides = whole[:, 2:] - whole[:, :2] + 1
    begin = np.clip(whole[:, :2], 0, limits - 1)
    return np.concatenate([begin, np.clip(sides, 1, limits - begin)], axis=1).astype(np.int32)
