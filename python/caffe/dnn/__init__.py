"""The names of OpenCV's module cv2.dnn over this engine, for nets of Caffe, which OpenCV reads no longer from version 5 on.

    import caffe.dnn
    net = caffe.dnn.readNetFromCaffe('deploy.prototxt', 'weights.caffemodel')
    net.setInput(caffe.dnn.blobFromImage(image, 1.0, (300, 300), (104, 177, 123)))
    found = net.forward()

Scripts for cv2.dnn run with one more line, which puts these functions in cv2.dnn's place:

    import caffe.dnn; caffe.dnn.install()

Names, arguments, defaults, shapes and types are those of OpenCV 4.6. The module needs numpy; only install needs cv2.
"""

import os as _os

from ._boxes import NMSBoxes
from ._images import CV_8U, CV_32F, blobFromImage, blobFromImages, imagesFromBlob
from ._install import install
from ._models import ClassificationModel, DetectionModel, Model
from ._net import Layer, Net
from ._net import open_caffe as _open_caffe
from ._net import open_onnx as _open_onnx

DNN_BACKEND_DEFAULT, DNN_BACKEND_HALIDE, DNN_BACKEND_INFERENCE_ENGINE, DNN_BACKEND_OPENCV = 0, 1, 2, 3
DNN_BACKEND_VKCOM, DNN_BACKEND_CUDA, DNN_BACKEND_WEBNN, DNN_BACKEND_TIMVX = 4, 5, 6, 7
DNN_TARGET_CPU, DNN_TARGET_OPENCL, DNN_TARGET_OPENCL_FP16, DNN_TARGET_MYRIAD, DNN_TARGET_VULKAN = 0, 1, 2, 3, 4
DNN_TARGET_FPGA, DNN_TARGET_CUDA, DNN_TARGET_CUDA_FP16, DNN_TARGET_HDDL, DNN_TARGET_NPU = 5, 6, 7, 8, 9


def readNetFromCaffe(prototxt=None, caffeModel=None, bufferProto=None, bufferModel=None):
    """Return the Net of a prototxt and its weights. Each is a path (str) or a buffer: bytes, a bytearray or an array of uint8.

    Without weights, layers have what their fillers give, and zeros. Layers and blobs are those of phase TEST.

    RuntimeError: a file that cannot be read, or a fault in it; the text has the file, the line and the layer. ValueError: no prototxt.
    """
    return _open_caffe(bufferProto if prototxt is None else prototxt, bufferModel if caffeModel is None else caffeModel)


def readNetFromONNX(onnxFile=None, buffer=None):
    """Return the Net of an ONNX model, a path or a buffer, as python -m caffe import_onnx makes it. Layers have that net's names. An open batch is 1.

    RuntimeError: a file that cannot be read, an operator that no layer computes, or another open extent.
    """
    return _open_onnx(buffer if onnxFile is None else onnxFile)


def readNet(model, config='', framework=''):
    """Return the Net of files: model and config are a .caffemodel and its .prototxt, in any order, or model is an .onnx. With the name of the framework first,
    readNet('caffe', weights, prototxt), both are buffers; as the third argument it says what files with other endings are.

    ValueError: files of another framework.
    """
    if isinstance(model, str) and model == 'caffe':
        return readNetFromCaffe(framework if len(framework) else None, config)
    if isinstance(model, (str, _os.PathLike)) and (_os.fspath(model).lower().endswith('.onnx') or framework == 'onnx'):
        return readNetFromONNX(model)
    kind = _kind(model, config, framework)
    if kind is None:
        raise ValueError('readNet: the net %r, %r is none of Caffe: the endings must be .caffemodel and .prototxt, or .onnx, or the framework "caffe"' % (model, config))
    return readNetFromCaffe(*kind)


def _kind(model, config, framework):
    """Return prototxt and weights if the files are Caffe's, else None."""
    if not all(isinstance(f, (str, _os.PathLike)) for f in (model, config)):
        return None
    endings = [_os.path.splitext(_os.fspath(f))[1].lower() for f in (model, config)]
    if endings[0] == '.prototxt' or endings[1] == '.caffemodel':
        return model, config
    if endings[0] == '.caffemodel' or endings[1] == '.prototxt' or str(framework).lower() == 'caffe':
        return config, model
    return None
