import os
from typing import Any, Iterable, Optional, Sequence, Union

import numpy.typing as npt

from .io import Transformer
from .pycaffe import Net

_Array = npt.NDArray[Any]
_Path = Union[str, os.PathLike[str]]
_Window = Sequence[float]

class Detector(Net):
    transformer: Transformer
    crop_dims: _Array
    crop_mean: _Array
    context_pad: Optional[int]
    def __init__(self, model_file: _Path, pretrained_file: _Path, mean: Optional[_Array] = ..., input_scale: Optional[float] = ..., raw_scale: Optional[float] = ..., channel_swap: Optional[Sequence[int]] = ..., context_pad: Optional[int] = ...) -> None: ...
    def detect_windows(self, images_windows: Iterable[tuple[_Path, Iterable[_Window]]]) -> list[dict[str, Any]]: ...
    def detect_selective_search(self, image_fnames: Iterable[_Path]) -> list[dict[str, Any]]: ...
    def crop(self, im: _Array, window: _Window) -> _Array: ...
    def configure_crop(self, context_pad: Optional[int]) -> None: ...
