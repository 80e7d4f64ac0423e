"""Nets with the methods of cv2.dnn's."""

import os
import tempfile

import numpy as np

from .. import _caffe
from .._library import call, path
from ..pycaffe import TEST
from ..pycaffe import Net as _Engine
from ._images import scalar


class Layer:
    """A layer of a Net: its name, type and weights."""

    def __init__(self, name, type, layer):
        self.name, self.type, self._layer = name, type, layer

    @property
    def blobs(self):
        """The weights: copies, in the shapes of OpenCV, whose arrays have two axes or more. Assign a list of arrays to change them; each
        needs as many values as the blob it replaces."""
        values = [np.array(b.data) for b in self._layer.blobs] if self._layer else []
        row = self.type in ('InnerProduct', 'InnerProductTranspose')
        return tuple(v.reshape(1, -1) if v.ndim == 1 and row and i else _two(v) for i, v in enumerate(values))

    @blobs.setter
    def blobs(self, values):
        blobs = self._layer.blobs if self._layer else []
        if len(values) != len(blobs):
            raise ValueError('layer %r (%s) has %d blobs, %d are given' % (self.name, self.type, len(blobs), len(values)))
        values = [np.asarray(v, np.float32) for v in values]
        for blob, value in zip(blobs, values):
            if value.size != blob.count:
                raise ValueError('layer %r (%s): a blob of shape %s, given for one of shape %s' % (self.name, self.type, value.shape, blob.shape))
        for blob, value in zip(blobs, values):
            blob.data[...] = value.reshape(blob.shape)

    def outputNameToIndex(self, outputName):
        """Return the number of an input of the net if this is layer 0, and -1 for other names; 0 for another layer."""
        if self._layer:
            return 0
        return self._inputs.index(outputName) if outputName in self._inputs else -1

    def __repr__(self):
        return '<caffe.dnn.Layer %r, %s>' % (self.name, self.type)


def _two(array):
    """Return an array with two axes at least."""
    return array.reshape(-1, 1) if array.ndim < 2 else array


def _padded(found, rows):
    """Return Caffe's detections (1 x 1 x N x 7) as OpenCV has them: those of an image in descending order of scores, whatever their labels,
    and behind all of them zeros, up to the number of rows that the layer can have. A label of -1 says that Caffe has none."""
    found = found[0, 0, found[0, 0, :, 1] != -1]
    found = found[np.lexsort((-found[:, 2], found[:, 0]))]
    return np.concatenate([found, np.zeros((max(rows - len(found), 0), 7), np.float32)])[np.newaxis, np.newaxis]


class Net:
    """A net that is fed by setInput and run by forward. readNetFromCaffe and readNet make nets; Net() is empty.

    Layers are counted from 1 in the order of the prototxt, without Input layers, which together are layer 0, _input. As in OpenCV 4.6, a
    Convolution has the name of its top, any other layer its own, with _1, _2 and so on if earlier layers have that name. Where no layer
    has a name asked for, the prototxt's names are tried.

    net is the engine's caffe.Net; its blobs and params are at hand, too.
    """

    def __init__(self):
        self._wire(None)

    @classmethod
    def _of(cls, engine):
        net = cls.__new__(cls)
        net._wire(engine)
        return net

    def _wire(self, engine):
        self.net = engine
        self._names, self._own, self._indices, self._ends = ['_input'], [None], [-1], {0}
        self._given = set()
        if engine is None:
            return
        self._most_found = call('most_found', {'handle': engine._handle})
        tops, bottoms = engine._tops, engine._bottoms
        maker, split, times = {}, {}, {}  # by blob: the layer that has written it last, and the name of the engine's Split of it; by name: its count
        for i, (name, layer) in enumerate(zip(engine._layer_names, engine.layers)):
            splits = layer.type == 'Split' and name == split[bottoms[i][0]]
            split.update((top, '%s_%s_%d_split' % (engine._blob_names[top], name, k)) for k, top in enumerate(tops[i]))
            if layer.type == 'Input':
                maker.update(dict.fromkeys(tops[i], 0))
                continue
            if splits:
                maker.update(dict.fromkeys(tops[i], maker[bottoms[i][0]]))
                continue
            self._ends -= {maker[b] for b in bottoms[i]}
            number = len(self._names)
            maker.update(dict.fromkeys(tops[i], number))
            self._ends.add(number)
            repeated = times.get(name, 0)
            times[name] = repeated + 1
            shown = '%s_%d' % (name, repeated) if repeated else name
            self._names.append(engine._blob_names[tops[i][0]] if layer.type == 'Convolution' and tops[i] else shown)
            self._own.append(name)
            self._indices.append(i)
        if not engine.inputs:
            self._ends.discard(0)

    # Inputs.

    def setInput(self, blob, name='', scalefactor=1.0, mean=()):
        """Set an input, the first one or that of a name, to (blob - mean) * scalefactor. blob is an array of numbers with as many axes as
        the prototxt's shape; other extents than before reshape the net. mean has up to four numbers, one for each channel.

        ValueError: no such input, another number of axes, or no values.
        """
        inputs = self._engine().inputs
        if not inputs or name and name not in inputs:
            raise ValueError('the net has no input %r: its inputs are %s' % (name, inputs))
        name = name or inputs[0]
        if hasattr(blob, 'get') and not isinstance(blob, np.ndarray):  # a cv2.UMat
            blob = blob.get()
        values = np.asarray(blob)
        if values.dtype.kind not in 'buif' or values.size == 0:
            raise ValueError('input %r needs an array of numbers, not %r' % (name, blob))
        target = self.net.blobs[name]
        old = target.shape
        if values.ndim != len(old):
            raise ValueError('input %r has %d axes, as in the prototxt, the blob has the shape %s' % (name, len(old), values.shape))
        mean = scalar(mean)
        if any(mean):
            if values.ndim < 2 or values.shape[1] > 4:
                raise ValueError('a mean is subtracted from up to 4 channels, the blob has the shape %s' % (values.shape,))
            mean = np.array(mean[:values.shape[1]], np.float32)
            values = values.astype(np.float32) - mean.reshape((1, -1) + (1,) * (values.ndim - 2))
        if scalefactor != 1:
            values = values.astype(np.float32) * np.float32(scalefactor)
        if values.shape != old:
            target.reshape(*values.shape)
        target.data[...] = values
        self._given.add(name)

    def setInputsNames(self, inputBlobNames):
        """Not there: the names are those of the prototxt."""
        raise NotImplementedError('setInputsNames: a net of Caffe has the input names of its prototxt, %s' % (self._engine().inputs,))

    # Running.

    def forward(self, outputName='', outBlobNames=None):
        """Run the net and return the first top of a layer: the last one, or that of a name. For a list of names return a tuple of arrays,
        one for each. The arrays are copies.

        A layer's values are its own: those before layers that work in place on the same blob. Of a net whose hidden layers are asked for,
        only the layers up to the last of them run.

        RuntimeError: an input that has not been set, or shapes that layers cannot take. ValueError: an unknown layer.
        """
        names = outputName if outBlobNames is None else outBlobNames
        if isinstance(names, str):
            return self._run([names])[0]
        return tuple(self._run(list(names) or ['']))

    def forwardAndRetrieve(self, outBlobNames):
        """Run the net and return for each name of a layer the tuple of all its tops."""
        return tuple(self._run(list(outBlobNames), whole=True))

    def forwardAsync(self, outputName=''):
        """Not there, as in OpenCV without OpenVINO: RuntimeError says what to use instead."""
        raise RuntimeError('forwardAsync is not there: OpenCV has it only with OpenVINO. forward releases Python\'s lock, so that '
                           'concurrent.futures.ThreadPoolExecutor().submit(net.forward) runs it beside other work')

    def _run(self, names, whole=False):
        engine = self._engine()
        missing = [name for name in engine.inputs if name not in self._given]
        if missing:
            raise RuntimeError('forward: setInput has not set the input %s' % ', '.join(missing))
        if len(self._names) == 1:
            raise RuntimeError('forward: net %r has no layers' % engine.name)
        numbers = [self._number(name) if name else len(self._names) - 1 for name in names]
        if 0 in numbers:
            raise ValueError('forward: _input is no layer that runs')
        last = len(engine.layers) - 1
        if all(n in self._ends for n in numbers):
            engine._forward(0, last)
            taken = {n: self._take(n) for n in numbers}
        else:
            begin, taken = 0, {}
            for n in sorted(set(numbers)):  # a later layer may overwrite the blob
                engine._forward(begin, self._indices[n])
                begin = self._indices[n] + 1
                taken[n] = self._take(n)
        return [tuple(taken[n]) if whole else self._first(n, taken[n]) for n in numbers]

    def _take(self, number):
        index = self._indices[number]
        values = [_two(np.array(self.net._blobs[t].data)) for t in self.net._tops[index]]
        if self.net.layers[index].type == 'DetectionOutput':
            images = self.net._blobs[self.net._bottoms[index][0]].shape[0]
            values[0] = _padded(values[0], images * self._most_found[index])
        return values

    def _first(self, number, values):
        if not values:
            raise ValueError('layer %r (%s) has no top' % (self._names[number], self.getLayer(number).type))
        return values[0]

    # Layers.

    def empty(self):
        """Return whether the net has no layers."""
        return self.net is None or len(self._names) == 1

    def getLayerNames(self):
        """Return the names of the layers, without _input."""
        return tuple(self._names[1:])

    def getLayerId(self, layer):
        """Return the number of the layer of a name, 0 for _input, -1 if there is none."""
        for names in self._names, self._own:
            if layer in names:
                return names.index(layer)
        return -1

    def getLayer(self, layerId):
        """Return the Layer of a number or name. ValueError: there is none."""
        number = self._number(layerId)
        index = self._indices[number]
        if index < 0:
            input_ = Layer('_input', '', None)
            input_._inputs = self.net.inputs if self.net else []
            return input_
        return Layer(self._names[number], self._type(index), self.net.layers[index])

    def getUnconnectedOutLayers(self):
        """Return the numbers of the layers whose tops no layer reads, an array of int32."""
        return np.array(sorted(self._ends), np.int32)

    def getUnconnectedOutLayersNames(self):
        """Return the names of the layers whose tops no layer reads."""
        return tuple(self._names[n] for n in sorted(self._ends))

    def getLayerTypes(self):
        """Return the types of the layers, sorted."""
        return tuple(sorted({'__NetInputLayer__', *map(self._type, self._indices[1:])}))

    def getLayersCount(self, layerType):
        """Return the number of layers of a type."""
        return sum(self._type(i) == layerType for i in self._indices[1:])

    def getParam(self, layer, numParam=0):
        """Return the weights numParam of a layer, a number or name."""
        blobs = self.getLayer(layer).blobs
        if not 0 <= numParam < len(blobs):
            raise ValueError('layer %r has %d blobs: there is no blob %r' % (layer, len(blobs), numParam))
        return blobs[numParam]

    def setParam(self, layer, numParam, blob):
        """Set the weights numParam of a layer, a number or name, to as many values."""
        self.getParam(layer, numParam)
        layer = self.getLayer(layer)
        layer.blobs = [blob if i == numParam else b for i, b in enumerate(layer.blobs)]

    def getPerfProfile(self):
        """Return the ticks (nanoseconds) of the last forward, and an array of those of each layer, float64. A layer that was computed along
        with another one has hardly any."""
        timings = np.zeros(len(self._names) - 1)
        if self.net:
            spent = call('spent', {'handle': self.net._handle})
            for number, index in enumerate(self._indices[1:]):
                timings[number] = sum(spent[index:self._indices[number + 2] if number + 2 < len(self._indices) else None])  # with the Splits behind it
        return int(timings.sum()), timings

    # What has no effect.

    def setPreferableBackend(self, backendId):
        """Accept OpenCV's backends. Nets run on CPUs by this engine; another backend than OpenCV's and the default one warns once."""
        if backendId not in (0, 3):
            _caffe._without_gpu('setPreferableBackend', 'setPreferableBackend(%d)' % backendId)

    def setPreferableTarget(self, targetId):
        """Accept OpenCV's targets. Nets run on CPUs in float32; another target than the CPU warns once."""
        if targetId != 0:
            _caffe._without_gpu('setPreferableTarget', 'setPreferableTarget(%d)' % targetId)

    def enableFusion(self, fusion):
        """Accept both: the engine computes layers along with others where values stay the same."""

    def _engine(self):
        if self.net is None:
            raise RuntimeError('the net is empty: read one with readNetFromCaffe')
        return self.net

    def _type(self, index):
        """Return the type of one of the engine's layers in OpenCV's words."""
        kind = self.net.layers[index].type
        return 'Convolution' if kind == 'ConvolutionDepthwise' else kind

    def _number(self, layer):
        number = self.getLayerId(layer) if isinstance(layer, str) else int(layer)
        if not 0 <= number < len(self._names) or number == 0 and self.net is None:
            raise ValueError('the net has no layer %r: its layers are %s' % (layer, ', '.join(self._names)))
        return number

    def __repr__(self):
        return '<caffe.dnn.Net, empty>' if self.net is None else '<caffe.dnn.Net %r, %d layers>' % (self.net.name, len(self._names) - 1)


def open_caffe(prototxt, weights):
    """Return the Net of a prototxt and a caffemodel, or None, each a path or a buffer."""
    with tempfile.TemporaryDirectory(prefix='swcaffe-') as folder:
        files = [_file(source, os.path.join(folder, name)) for source, name in ((prototxt, 'prototxt'), (weights, 'caffemodel'))]
        if files[0] is None:
            raise ValueError('the prototxt is empty')
        try:
            return Net._of(_Engine(files[0], TEST, weights=files[1]))
        except RuntimeError as fault:
            text = str(fault)
            if folder not in text:
                raise
        raise RuntimeError(text.replace(folder + os.sep, 'the buffer of the '))


def open_onnx(model):
    """Return the Net of an ONNX file, a path or a buffer."""
    with tempfile.TemporaryDirectory(prefix='swcaffe-') as folder:
        file = _file(model, os.path.join(folder, 'model.onnx'))
        if file is None:
            raise ValueError('the ONNX model is empty')
        prototxt, weights = os.path.join(folder, 'prototxt'), os.path.join(folder, 'caffemodel')
        call('import_onnx', {'file': path(file), 'prototxt': prototxt, 'weights': weights})
        return open_caffe(prototxt, weights)


def _file(source, name):
    """Return the path of a file, or write a buffer to a file of a name and return that. An empty source is None."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source) or None
    if source is None:
        return None
    buffer = memoryview(source)
    if buffer.itemsize != 1:
        raise TypeError('a buffer holds bytes (uint8), this one has the type %r' % buffer.format)
    if not buffer.nbytes:
        return None
    with open(name, 'wb') as file:
        file.write(buffer.tobytes())
    return name
