"""LeafSnap's histograms of curvature over scale, and the nearest neighbour [1]_.

The curvature at a point of the outline is the share of a disc around it, and of a
circle, that lies inside the leaf. The sizes are those of a published program [2]_.

References
----------
.. [1] N. Kumar et al., "Leafsnap: a computer vision system for automatic plant species
   identification", ECCV 2012, doi:10.1007/978-3-642-33709-3_36
.. [2] https://github.com/cafarm/leaf, calculateHocs.m
"""

import cv2
import numpy as np
from leaf_area import cut_out_leaf
from nearest_species import NearestSpecies
from numpy.lib.stride_tricks import sliding_window_view
from peers import evaluate_on_folds

#: Radii of the discs and circles, in pixels of a leaf of the common area.
RADII = np.arange(2, 27)
BINS = 21
REACH = RADII.max()


def make_kernels():
    """Make the weights of all discs, then of all circles; float32 (n_pixels, 50)."""
    steps = np.arange(-REACH, REACH + 1)
    distances = np.hypot(steps, steps[:, None]).ravel()[:, None]
    discs = distances <= RADII
    circles = abs(distances - RADII) <= 0.5
    kernels = np.concatenate([discs, circles], axis=1).astype(np.float32)
    return kernels / kernels.sum(axis=0)


KERNELS = make_kernels()


def describe(picture):
    """Describe the outline by histograms of 25 areas and 25 arcs; float (1050,).

    It is 0 without a leaf.
    """
    leaf = cut_out_leaf(picture, margin=REACH)
    if leaf is None:
        return np.zeros(KERNELS.shape[1] * BINS)
    shares = measure_shares(leaf[1])
    # A share between two bins counts for both.
    positions = shares * (BINS - 1)
    counts = np.maximum(1 - abs(positions[..., None] - np.arange(BINS)), 0)
    return counts.mean(axis=0).ravel()


def measure_shares(mask):
    """Measure the share of each disc and circle in the leaf; float (n_points, 50).

    The points are on the outline of the largest part, whose holes are filled. `mask`
    has a margin as wide as the largest radius.
    """
    outlines, _ = cv2.findContours(
        mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    outline = max(outlines, key=cv2.contourArea)
    filled = np.zeros(mask.shape, np.float32)
    cv2.drawContours(filled, [outline], -1, 1.0, cv2.FILLED)
    columns, rows = outline[:, 0].T - REACH
    windows = sliding_window_view(filled, (2 * REACH + 1, 2 * REACH + 1))
    return windows[rows, columns].reshape(len(outline), -1) @ KERNELS


if __name__ == "__main__":
    # Of histograms, this distance is what their intersection lacks, twice.
    evaluate_on_folds(describe, NearestSpecies("cityblock"))
