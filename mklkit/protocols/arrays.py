"""The array type of all protocols.

Shapes: ``n`` new rows, ``N`` training rows, ``M`` kernels (views), ``p`` columns of a map.
Labels ``y`` are −1 and +1 (paper symbol φ) as float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array"]

Array = NDArray[np.floating[Any]]
