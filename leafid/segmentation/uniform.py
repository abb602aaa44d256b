"""Cuts a leaf from a plain sheet: scans and scan-likes."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.background import sheet_surface
from leafid.segmentation.regions import leaf_regions
from leafid.segmentation.result import Image, Mask

# Regions are chosen at this size; only the edge is taken from the full one.
REGION_SIZE = 320

# Lightness counts half: a shadow changes it far more than it changes the chroma, a leaf changes both.
_LIGHTNESS_SHARE = 0.2
# A leaf's thin parts mix with the sheet: the cut lies nearer to the sheet than halfway.
_CUT = 0.8
_LEAST_CUT, _GREATEST_CUT = 8.0, 45.0


def uniform_mask(image: Image) -> tuple[Mask, float]:
    """Find the leaf on a plain sheet of any tint.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.

    Returns
    -------
    mask : ndarray of bool, shape (H, W)
        All False where nothing stands out from the sheet.
    confidence : float
        From 0 to 1.
    """
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB)
    surface, spread = sheet_surface(lab)
    distance = sheet_distance(lab, surface)
    cut, contrast = _threshold(distance, spread)
    above = cv2.threshold(distance, cut, 255, cv2.THRESH_BINARY)[1]
    mask = leaf_regions(above, REGION_SIZE)
    confidence = min(1.0, contrast / 3) if mask.any() else 0.0
    return mask, confidence


def sheet_distance(lab: NDArray[np.uint8], surface: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Measure how far each pixel's colour is from the sheet's.

    Parameters
    ----------
    lab : ndarray of uint8, shape (H, W, 3)
        8-bit Lab.
    surface : ndarray of float32, shape (h, w, 3)
        The sheet's colour on a coarse grid.

    Returns
    -------
    ndarray of uint8, shape (H, W)
        0.2 |ΔL| + the chroma distance √(Δa² + Δb²), in 8-bit Lab units. The root is replaced by the octagonal
        norm max + 0.4 min, which is at most 8 % off and needs no floating point.
    """
    sheet = cv2.resize(np.clip(surface + 0.5, 0, 255).astype(np.uint8), lab.shape[1::-1])
    lightness, a, b = cv2.split(cv2.absdiff(lab, sheet))
    chroma = cv2.addWeighted(cv2.max(a, b), 1.0, cv2.min(a, b), 0.4, 0)
    return cv2.addWeighted(chroma, 1.0, lightness, _LIGHTNESS_SHARE, 0)


def _threshold(distance: NDArray[np.uint8], spread: float) -> tuple[float, float]:
    """Choose where the leaf begins, and say how clearly it stands out (1: barely)."""
    step = max(1, max(distance.shape) // 300)
    sample = np.ascontiguousarray(distance[::step, ::step])
    otsu, _ = cv2.threshold(sample, 0, 255, cv2.THRESH_OTSU)
    cut = float(np.clip(_CUT * otsu, max(_LEAST_CUT, 3 * spread), _GREATEST_CUT))
    leaf = sample[sample > cut]
    contrast = float(np.median(leaf)) / cut if leaf.size else 0.0
    return cut, contrast
