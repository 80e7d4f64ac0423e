from typing import Optional

from ._boxes import NMSBoxes as NMSBoxes
from ._images import CV_8U as CV_8U
from ._images import CV_32F as CV_32F
from ._images import blobFromImage as blobFromImage
from ._images import blobFromImages as blobFromImages
from ._images import imagesFromBlob as imagesFromBlob
from ._install import install as install
from ._models import ClassificationModel as ClassificationModel
from ._models import DetectionModel as DetectionModel
from ._models import Model as Model
from ._net import Layer as Layer
from ._net import Net as Net
from ._net import _Source

DNN_BACKEND_DEFAULT: int
DNN_BACKEND_HALIDE: int
DNN_BACKEND_INFERENCE_ENGINE: int
DNN_BACKEND_OPENCV: int
DNN_BACKEND_VKCOM: int
DNN_BACKEND_CUDA: int
DNN_BACKEND_WEBNN: int
DNN_BACKEND_TIMVX: int
DNN_TARGET_CPU: int
DNN_TARGET_OPENCL: int
DNN_TARGET_OPENCL_FP16: int
DNN_TARGET_MYRIAD: int
DNN_TARGET_VULKAN: int
DNN_TARGET_FPGA: int
DNN_TARGET_CUDA: int
DNN_TARGET_CUDA_FP16: int
DNN_TARGET_HDDL: int
DNN_TARGET_NPU: int

def readNetFromCaffe(prototxt: Optional[_Source] = ..., caffeModel: Optional[_Source] = ..., bufferProto: Optional[_Source] = ..., bufferModel: Optional[_Source] = ...) -> Net: ...
def readNetFromONNX(onnxFile: Optional[_Source] = ..., buffer: Optional[_Source] = ...) -> Net: ...
def readNet(model: _Source, config: _Source = ..., framework: _Source = ...) -> Net: ...
