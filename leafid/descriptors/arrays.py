"""Names of the arrays that descriptors take and return."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: float32, as vectors are: half the memory, and as exact as a pixel.
Singles = NDArray[np.float32]
#: Grey levels, or shares of pixels from 0 to 255: uint8 (H, W), or (H, W, C).
Plane = NDArray[np.uint8]
Indices = NDArray[np.intp]
#: Points of contours: float64 (n, 2), rows and columns.
Points = NDArray[np.float64]
