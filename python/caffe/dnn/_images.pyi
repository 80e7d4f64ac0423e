from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[Any]
_Scalar = Union[float, Sequence[float], _Array, None]
_Size = Sequence[int]

CV_8U: int
CV_32F: int

def blobFromImage(image: _Array, scalefactor: float = ..., size: _Size = ..., mean: _Scalar = ..., swapRB: bool = ..., crop: bool = ..., ddepth: int = ...) -> _Array: ...
def blobFromImages(images: Union[_Array, Sequence[_Array]], scalefactor: float = ..., size: _Size = ..., mean: _Scalar = ..., swapRB: bool = ..., crop: bool = ..., ddepth: int = ...) -> _Array: ...
def imagesFromBlob(blob_: _Array) -> tuple[_Array, ...]: ...
def scalar(values: _Scalar) -> list[float]: ...
def resize(image: _Array, shape: _Size, factors: Sequence[float]) -> _Array: ...
