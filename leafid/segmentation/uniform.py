"""Cuts a leaf from a plain sheet: scans and scan-likes."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.background import fit_sheet_surface
from leafid.segmentation.regions import select_leaf_regions
from leafid.segmentation.result import Image, Mask, downsample2

# Regions are chosen in a picture halved to at most this size; only their edge is followed back to the full one.
REGION_SIZE = 256

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

# A mask of a small picture that is no surer than this is looked for again, more thoroughly.
LOW_CONFIDENCE = 0.35
# Of a picture too small to be reduced, the local cut along lines: they are thinner than a pixel there, and so paler.
_SMALL_LINE_CUT = 0.5

# Reduced pixels are sheet (or leaf) as a whole when they and their neighbours are below (above) these parts of the cut.
_SURELY_SHEET, _SURELY_LEAF = 0.5, 1.5


class LeafMask(NamedTuple):
    """A leaf found on a sheet, as in `Segmentation`."""

    mask: Mask
    confidence: float
    #: None where the picture is large enough to do without.
    coverage: NDArray[np.uint8] | None


def segment_uniform(image: Image, *, by_lightness: bool = False) -> LeafMask:
    """Find the leaf on a plain sheet of any tint.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    by_lightness : bool, default False
        Let lightness count as much as chroma: a leaf of the sheet's hue, with its shadow.

    Returns
    -------
    mask : ndarray of bool, shape (H, W)
        All False where nothing stands out from the sheet.
    confidence : float
        From 0 to 1.
    coverage : ndarray of uint8, shape (H, W), or None
        Where the edge lies between the pixels, as in `Segmentation`; None where the picture is large enough to do
        without.

    Notes
    -----
    The method is leafid's own. The sheet's colour is fitted as a surface; what lies far enough from it, in chroma more
    than in lightness (a shadow), stands out. How far is far enough is found around each pixel, within bounds that
    Otsu's threshold [1]_ of the whole picture gives, and more leniently along thin lines. Regions are chosen in a
    reduced picture, and their edge is followed back to the full one.

    References
    ----------
    .. [1] N. Otsu, "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979,
       doi:10.1109/TSMC.1979.4310076
    """
    share = 1.0 if by_lightness else _LIGHTNESS_SHARE
    pictures = [image]
    while max(pictures[-1].shape[:2]) > REGION_SIZE and min(pictures[-1].shape[:2]) > 1:
        pictures.append(downsample2(pictures[-1]))
    small = pictures.pop()
    if not pictures:
        found = _small_mask(small, share, quick=True)
        # Where a quick look at the sheet takes the leaf for it, a thorough one is worth its time.
        return found if found.confidence > LOW_CONFIDENCE else _small_mask(small, share, quick=False)
    look = _looked_at(small, _LOCAL_CUT, share)
    if not look.share.any():
        return LeafMask(np.zeros(image.shape[:2], bool), 0.0, None)
    cells = _places(_undecided(look.distance, look.cuts))
    places, above = _within(pictures[-1], cells, small.shape[1], look)
    look.share.ravel()[cells] = above.sum(axis=0, dtype=np.uint8) * 63
    leaf = select_leaf_regions(look.share, cv2.add(look.distance, look.thin))
    edge = np.flatnonzero(_rim(leaf).view(bool).take(cells))
    mask = _doubled(leaf, pictures.pop())
    mask.ravel()[places.take(edge, axis=1)] = above.take(edge, axis=1)
    while pictures:
        places, above = _within(pictures[-1], _places(_rim(mask)), mask.shape[1], look)
        mask = _doubled(mask, pictures.pop())
        mask.ravel()[places] = above
    return LeafMask(mask.view(bool), _confidence(leaf, look.distance, look.spread), None)


def _small_mask(image: Image, lightness_share: float, *, quick: bool) -> LeafMask:
    look = _looked_at(image, _SMALL_LINE_CUT, lightness_share, quick=quick)
    if not look.share.any():
        return LeafMask(np.zeros(image.shape[:2], bool), 0.0, None)
    leaf = select_leaf_regions(look.share, cv2.add(look.distance, look.thin))
    confidence = _confidence(leaf, look.distance, look.spread)
    return LeafMask(leaf.view(bool), confidence, _cover(leaf, look.distance, look.cuts))


class _Look(NamedTuple):
    """What the colours of a picture tell, pixel by pixel; all of shape (H, W) but for the sheet's three channels."""

    #: The sheet's colour behind each pixel, in 8-bit Lab.
    sheet: Image
    #: The sheet's own scatter.
    spread: float
    distance: NDArray[np.uint8]
    thin: NDArray[np.uint8]
    cuts: NDArray[np.uint8]
    #: 255 where the distance exceeds the cut.
    share: NDArray[np.uint8]
    #: What lightness counts beside chroma, as in `measure_sheet_distance`.
    lightness_share: float


def _looked_at(image: Image, line_cut: float, lightness_share: float, *, quick: bool = False) -> _Look:
    surface, spread = fit_sheet_surface(image, quick=quick)
    sheet = cv2.resize(np.clip(surface + 0.5, 0, 255).astype(np.uint8), image.shape[1::-1])
    distance = measure_sheet_distance(image, sheet, lightness_share)
    thin = _thin(distance)
    cuts = _cuts(distance, thin, spread, line_cut)
    return _Look(sheet, spread, distance, thin, cuts, cv2.compare(distance, cuts, cv2.CMP_GT), lightness_share)


def measure_sheet_distance(image: Image, sheet: Image, lightness_share: float = _LIGHTNESS_SHARE) -> NDArray[np.uint8]:
    """Measure how far each pixel's colour is from the sheet's.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    sheet : ndarray of uint8, shape (H, W, 3)
        The sheet's colour there, in 8-bit Lab.
    lightness_share : float, default 0.15

    Returns
    -------
    ndarray of uint8, shape (H, W)
        `lightness_share` |ΔL| + 0.25 max(|ΔL| − 90, 0) + √(Δa² + Δb²), in 8-bit Lab units. The root is replaced by the
        octagonal norm max + 0.4 min, which is at most 8 % off and needs no floating point.
    """
    lightness, a, b = cv2.split(cv2.absdiff(cv2.cvtColor(image, cv2.COLOR_BGR2LAB), sheet))
    chroma = cv2.addWeighted(cv2.max(a, b), 1.0, cv2.min(a, b), 0.4, 0)
    deep = cv2.addWeighted(lightness, lightness_share, cv2.subtract(lightness, _DEEP), _DEEP_SHARE, 0)
    return cv2.add(chroma, deep)


def _undecided(distance: NDArray[np.uint8], cuts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mark the reduced pixels whose own pixels have to be looked at: those near the cut, or beside one across it."""
    square = np.ones((3, 3), np.uint8)
    least = cv2.convertScaleAbs(cuts, alpha=_SURELY_SHEET)
    most = cv2.convertScaleAbs(cuts, alpha=_SURELY_LEAF)
    marked = cv2.compare(cv2.dilate(distance, square), least, cv2.CMP_GT) & cv2.compare(
        cv2.erode(distance, square), most, cv2.CMP_LT
    )
    return marked & 1


def _places(marked: NDArray[np.uint8]) -> NDArray[np.intp]:
    """List where a mask of 0 and 1 is 1; among bools numpy finds the few true ones several times as quickly."""
    return np.flatnonzero(marked.view(bool))


def _rim(mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mark one pixel on both sides of a mask's edge: in the next larger picture it may lie in either."""
    square = np.ones((3, 3), np.uint8)
    return cv2.dilate(mask, square) - cv2.erode(mask, square)


def _within(
    picture: Image, cells: NDArray[np.intp], width: int, look: _Look
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Look at the four pixels of each of some cells, which are the pixels of the picture reduced to a half.

    Parameters
    ----------
    picture : ndarray of uint8, shape (H, W, 3)
    cells : ndarray of int, shape (n,)
        Places in the reduced picture, of `width` columns.
    width : int
    look : _Look
        At the picture reduced as far as it was.

    Returns
    -------
    places : ndarray of int, shape (4, n)
        Of the pixels in the picture.
    above : ndarray of bool, shape (4, n)
        Whether they are leaf by their own colour.
    """
    if not cells.size:
        # OpenCV refuses to convert the colour of nothing.
        return np.zeros((4, 0), np.intp), np.zeros((4, 0), bool)
    # Division with remainder takes numpy several times as long as without.
    rows = cells // width
    cols = cells - rows * width
    # All first pixels, then all second ones, and so on: long rows are what numpy and OpenCV are quick with.
    places = 2 * (rows * picture.shape[1] + cols) + np.array([[0], [1], [picture.shape[1]], [picture.shape[1] + 1]])
    cuts, sheet = look.cuts, look.sheet
    if width != cuts.shape[1]:
        # What halving left out at the end has the last row's or column's.
        factor = width // cuts.shape[1]
        cells = np.minimum(rows // factor, cuts.shape[0] - 1) * cuts.shape[1]
        cells += np.minimum(cols // factor, cuts.shape[1] - 1)
    pixels = picture.reshape(-1, 3).view("V3")[:, 0].take(places).view(np.uint8).reshape(1, -1, 3)
    behind = np.tile(sheet.reshape(-1, 3).view("V3")[:, 0].take(cells), 4).view(np.uint8).reshape(1, -1, 3)
    return places, measure_sheet_distance(pixels, behind, look.lightness_share).reshape(places.shape) > cuts.take(cells)


def _doubled(mask: NDArray[np.uint8], picture: Image) -> NDArray[np.uint8]:
    """Bring a mask to the size of the picture it is half as large as; an odd end continues the row or column before."""
    rows, cols = 2 * mask.shape[0], 2 * mask.shape[1]
    mask = cv2.resize(mask, (cols, rows), interpolation=cv2.INTER_NEAREST)
    below, right = picture.shape[0] - rows, picture.shape[1] - cols
    return cv2.copyMakeBorder(mask, 0, below, 0, right, cv2.BORDER_REPLICATE) if below or right else mask


def _cover(leaf: NDArray[np.uint8], distance: NDArray[np.uint8], cuts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Tell where the edge lies between the pixels: half covered is what is at the cut, if the mask agrees."""
    parts = cv2.divide(distance, cuts, scale=127.5)
    edge = cv2.copyTo(cv2.max(parts, 128), leaf, cv2.min(parts, 127))
    return cv2.copyTo(edge, _rim(leaf), leaf * np.uint8(255))


def _thin(small: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bring out lines: the distance above that of its surroundings without anything narrow (a white top-hat)."""
    side = 2 * max(1, round(_LINE_REACH * max(small.shape))) + 1
    return cv2.morphologyEx(small, cv2.MORPH_TOPHAT, np.ones((side, side), np.uint8))


def _cuts(small: NDArray[np.uint8], thin: NDArray[np.uint8], spread: float, line_cut: float) -> NDArray[np.uint8]:
    """Choose, place by place, where the leaf begins; along lines at `line_cut` of the local maximum."""
    otsu, _ = cv2.threshold(small.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    floor = max(_LEAST_CUT, 3 * spread)
    side = 2 * max(1, round(_LOCAL_REACH * max(small.shape))) + 1
    square = np.ones((side, side), np.uint8)
    highest = cv2.blur(cv2.dilate(small, square), (side, side))
    # A pale rachis is nearer to the sheet's colour than any shadow that one would want; only its narrowness tells it.
    least_line = max(_LEAST_CUT, _LEAST_LINE * otsu * line_cut / _LOCAL_CUT)
    line = cv2.dilate(cv2.threshold(thin, least_line, 255, cv2.THRESH_BINARY)[1], square)
    least, most = max(floor, _LEAST_OF_GLOBAL * otsu), max(floor, _MOST_OF_GLOBAL * otsu)
    by_line = np.full(256, min(round(least), 255), np.uint8)
    by_line[255] = int(min(floor, 255))
    local = cv2.convertScaleAbs(highest, alpha=_LOCAL_CUT)
    if line_cut != _LOCAL_CUT:
        local = cv2.copyTo(cv2.convertScaleAbs(highest, alpha=line_cut), line, local)
    cuts = np.minimum(cv2.max(local, cv2.LUT(line, by_line)), np.uint8(min(round(most), 255)))
    return cuts


def _confidence(leaf: NDArray[np.uint8], distance: NDArray[np.uint8], spread: float) -> float:
    """Say how sure it is that the mask is a whole leaf: it stands out, all of it does, and the edge doesn't cut it."""
    if cv2.countNonZero(leaf) in (0, leaf.size):
        return 0.0
    (inside,), (inside_scatter,) = cv2.meanStdDev(distance, mask=leaf)
    (outside,), (outside_scatter,) = cv2.meanStdDev(distance, mask=1 - leaf)
    step = float(inside.item() - outside.item())
    scatter = float(inside_scatter.item() + outside_scatter.item())
    # Both are 1 for a leaf on a clean sheet: a step of several times the least cut, well above the scatter.
    contrast = min(max(step / (3 * max(_LEAST_CUT, 3 * spread)), 0), 1)
    separation = min(max(step / (1.5 * scatter + 1e-6), 0), 1)
    border = np.concatenate([leaf[0], leaf[-1], leaf[:, 0], leaf[:, -1]])
    return contrast * separation * (1 - cv2.countNonZero(border) / border.size)
