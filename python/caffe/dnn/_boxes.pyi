from typing import Any, Sequence, Union

import numpy as np
import numpy.typing as npt

def NMSBoxes(bboxes: Union[Sequence[Sequence[float]], npt.NDArray[Any]], scores: Union[Sequence[float], npt.NDArray[Any]], score_threshold: float, nms_threshold: float, eta: float = ..., top_k: int = ...) -> Union[npt.NDArray[np.int32], tuple[()]]: ...
