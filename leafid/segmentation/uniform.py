"""Cuts a leaf from a plain sheet: scans and scan-likes."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.background import sheet_surface
from leafid.segmentation.regions import leaf_regions
from leafid.segmentation.result import Image, Mask, block_mean, filled_blocks

# Regions are chosen at this size; only the edge is taken from the full one.
REGION_SIZE = 320

# A shadow changes the lightness far more than the chroma; a leaf changes both.
_LIGHTNESS_SHARE = 0.15
# Beyond what a soft shadow takes away, lightness counts more: a dark leaf has little chroma.
_DEEP, _DEEP_SHARE = 90.0, 0.25
# The edge lies where the distance is this part of its local maximum: near half for a sharp edge, and somewhat higher
# because a leaf's own shadow makes the step look wider than it is.
_LOCAL_CUT = 0.66
_LOCAL_REACH = 0.012  # of the picture's longer side
# The local cut stays between these parts of Otsu's global one, and above what the sheet itself scatters.
_LEAST_OF_GLOBAL, _MOST_OF_GLOBAL = 0.55, 1.2
_LEAST_CUT = 8.0
# Lines up to twice this part of the picture's longer side wide (rachis, petiole) may be fainter than the rest.
_LINE_REACH, _LEAST_LINE = 0.012, 0.25

# Reduced pixels are sheet (or leaf) as a whole when they and their neighbours are below (above) these parts of the cut.
_SURELY_SHEET, _SURELY_LEAF = 0.5, 1.5


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
    surface, spread = sheet_surface(image)
    factor = max(1, -(-max(image.shape[:2]) // REGION_SIZE))
    blocks = filled_blocks(image, factor)
    small = block_mean(blocks, factor)
    sheet = cv2.resize(np.clip(surface + 0.5, 0, 255).astype(np.uint8), small.shape[1::-1])
    distance = sheet_distance(small, sheet)
    thin = _thin(distance)
    cuts = _cuts(distance, thin, spread)
    share = cv2.compare(distance, cuts, cv2.CMP_GT)
    if not share.any():
        return np.zeros(image.shape[:2], bool), 0.0
    if factor == 1:
        full = leaf_regions(share, cv2.add(distance, thin))
    else:
        rows, cols = _undecided(distance, cuts)
        places = _places(rows, cols, factor, small.shape[1])
        pixels = blocks.reshape(-1, 3 * factor).view(f"V{3 * factor}").take(places).view(np.uint8)
        behind = np.repeat(sheet[rows, cols, None], factor * factor, axis=1)
        above = sheet_distance(pixels.reshape(behind.shape), behind) > cuts[rows, cols, None]
        share[rows, cols] = above.mean(axis=1) * 255
        full = _enlarged(leaf_regions(share, cv2.add(distance, thin)), factor, rows, cols, places, above)
    mask = np.ascontiguousarray(full[: image.shape[0], : image.shape[1]]).view(bool)
    return mask, _confidence(mask[::factor, ::factor], distance, spread)


def sheet_distance(image: Image, sheet: Image) -> NDArray[np.uint8]:
    """Measure how far each pixel's colour is from the sheet's.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    sheet : ndarray of uint8, shape (H, W, 3)
        The sheet's colour there, in 8-bit Lab.

    Returns
    -------
    ndarray of uint8, shape (H, W)
        0.15 |ΔL| + 0.25 max(|ΔL| − 90, 0) + √(Δa² + Δb²), in 8-bit Lab units. The root is replaced by the
        octagonal norm max + 0.4 min, which is at most 8 % off and needs no floating point.
    """
    lightness, a, b = cv2.split(cv2.absdiff(cv2.cvtColor(image, cv2.COLOR_BGR2LAB), sheet))
    chroma = cv2.addWeighted(cv2.max(a, b), 1.0, cv2.min(a, b), 0.4, 0)
    deep = cv2.addWeighted(lightness, _LIGHTNESS_SHARE, cv2.subtract(lightness, _DEEP), _DEEP_SHARE, 0)
    return cv2.add(chroma, deep)


def _undecided(distance: NDArray[np.uint8], cuts: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the reduced pixels whose own pixels have to be looked at: those near the cut, or beside one across it."""
    square = np.ones((3, 3), np.uint8)
    least = cv2.convertScaleAbs(cuts, alpha=_SURELY_SHEET)
    most = cv2.convertScaleAbs(cuts, alpha=_SURELY_LEAF)
    open_ = cv2.compare(cv2.dilate(distance, square), least, cv2.CMP_GT) & cv2.compare(
        cv2.erode(distance, square), most, cv2.CMP_LT
    )
    rows, cols = np.nonzero(open_)
    return rows, cols


def _places(rows: NDArray[np.intp], cols: NDArray[np.intp], factor: int, width: int) -> NDArray[np.intp]:
    """Index the rows of blocks in a picture seen as a list of pieces, `factor` pixels each; shape (n, factor)."""
    return (rows[:, None] * factor + np.arange(factor)) * width + cols[:, None]


def _enlarged(
    leaf: NDArray[np.uint8],
    factor: int,
    rows: NDArray[np.intp],
    cols: NDArray[np.intp],
    places: NDArray[np.intp],
    above: NDArray[np.bool_],
) -> NDArray[np.uint8]:
    """Bring the chosen regions to full size, with the edge as the pixels' own colour has it."""
    square = np.ones((3, 3), np.uint8)
    # One reduced pixel of margin on both sides: the edge may lie just outside the region, or inside.
    core, near = cv2.erode(leaf, square), cv2.dilate(leaf, square)
    full = np.repeat(np.repeat(leaf, factor, axis=1), factor, axis=0)
    edge = np.flatnonzero((near & ~core)[rows, cols])
    pieces = np.ascontiguousarray(above[edge]).view(f"V{factor}").reshape(-1, factor)
    full.reshape(-1, factor).view(f"V{factor}")[places[edge], 0] = pieces
    return full


def _thin(small: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bring out lines: the distance above that of its surroundings without anything narrow (a white top-hat)."""
    side = 2 * max(1, round(_LINE_REACH * max(small.shape))) + 1
    return cv2.morphologyEx(small, cv2.MORPH_TOPHAT, np.ones((side, side), np.uint8))


def _cuts(small: NDArray[np.uint8], thin: NDArray[np.uint8], spread: float) -> NDArray[np.uint8]:
    """Choose, place by place, where the leaf begins."""
    otsu, _ = cv2.threshold(small.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    floor = max(_LEAST_CUT, 3 * spread)
    side = 2 * max(1, round(_LOCAL_REACH * max(small.shape))) + 1
    square = np.ones((side, side), np.uint8)
    highest = cv2.blur(cv2.dilate(small, square), (side, side))
    # A pale rachis is nearer to the sheet's colour than any shadow that one would want; only its narrowness tells it.
    line = cv2.dilate(cv2.threshold(thin, max(_LEAST_CUT, _LEAST_LINE * otsu), 255, cv2.THRESH_BINARY)[1], square)
    least, most = max(floor, _LEAST_OF_GLOBAL * otsu), max(floor, _MOST_OF_GLOBAL * otsu)
    least_here = np.where(line, np.uint8(min(floor, 255)), np.uint8(min(round(least), 255)))
    cuts = np.minimum(
        cv2.max(cv2.convertScaleAbs(highest, alpha=_LOCAL_CUT), least_here), np.uint8(min(round(most), 255))
    )
    return cuts


def _confidence(mask: Mask, distance: NDArray[np.uint8], spread: float) -> float:
    """Say how sure it is that the mask is a whole leaf: it stands out, all of it does, and the edge doesn't cut it."""
    area = np.count_nonzero(mask)
    if area in (0, mask.size):
        return 0.0
    inside, outside = (
        cv2.meanStdDev(distance, mask=mask.view(np.uint8)),
        cv2.meanStdDev(distance, mask=(~mask).view(np.uint8)),
    )
    step = float(inside[0].item() - outside[0].item())
    scatter = float(inside[1].item() + outside[1].item())
    # Both are 1 for a leaf on a clean sheet: a step of several times the least cut, well above the scatter.
    contrast = np.clip(step / (3 * max(_LEAST_CUT, 3 * spread)), 0, 1)
    separation = np.clip(step / (1.5 * scatter + 1e-6), 0, 1)
    border = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
    return float(contrast * separation * (1 - border.mean()))
