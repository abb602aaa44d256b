"""Fourier descriptors of the outline [1]_, and the nearest neighbour.

References
----------
.. [1] D. Zhang, G. Lu, "A comparative study of Fourier descriptors for shape
   representation and retrieval", ACCV 2002
"""

import cv2
import numpy as np
from nearest_species import NearestSpecies
from peers import evaluate_on_folds

import leafid

#: Points along the outline, at equal distances.
POINTS = 128


def describe(picture):
    """Describe the distance to the centroid, along the blade's outline; float (64,).

    The values are magnitudes of harmonics, as parts of the mean distance, which no turn
    and no size of the leaf changes; 0 without a leaf.
    """
    blade = leafid.segment(leafid.read_image(picture.file), picture.type).blade
    if not blade.any():
        return np.zeros(POINTS // 2)
    outlines, _ = cv2.findContours(
        blade.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    outline = max(outlines, key=cv2.contourArea)[:, 0]
    return describe_outline(outline)


def describe_outline(outline):
    """Describe a closed outline, (n, 2), by its harmonics."""
    closed = np.append(outline, outline[:1], axis=0).astype(float)
    lengths = np.hypot(*np.diff(closed, axis=0).T)
    positions = np.append(0, lengths.cumsum())
    steps = np.linspace(0, positions[-1], POINTS, endpoint=False)
    points = np.stack([np.interp(steps, positions, axis) for axis in closed.T])
    distances = np.hypot(*(points - points.mean(axis=1, keepdims=True)))
    harmonics = abs(np.fft.rfft(distances))
    return harmonics[1:] / harmonics[0]


if __name__ == "__main__":
    evaluate_on_folds(describe, NearestSpecies())
