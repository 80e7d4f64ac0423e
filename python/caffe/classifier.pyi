import os
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from .io import Transformer
from .pycaffe import Net

TEST: int

_Array = npt.NDArray[Any]
_Path = Union[str, os.PathLike[str]]

def make_transformer(net: Net, mean: Optional[_Array] = ..., input_scale: Optional[float] = ..., raw_scale: Optional[float] = ..., channel_swap: Optional[Sequence[int]] = ...) -> Transformer: ...

class Classifier(Net):
    transformer: Transformer
    crop_dims: _Array
    image_dims: Sequence[int]
    def __init__(self, model_file: _Path, pretrained_file: _Path, image_dims: Optional[Sequence[int]] = ..., mean: Optional[_Array] = ..., input_scale: Optional[float] = ..., raw_scale: Optional[float] = ..., channel_swap: Optional[Sequence[int]] = ...) -> None: ...
    def predict(self, inputs: Sequence[_Array], oversample: bool = ...) -> npt.NDArray[np.float32]: ...
