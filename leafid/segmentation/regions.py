"""Which of the regions that stand out from a sheet are the leaf."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

# A petiole one pixel wide covers about a third of a reduced pixel.
_COVERED = 50
# Leaflets whose rachis was lost are still one leaf when the gap is below this part of √area.
_GAP = 0.05
_LEAST_GROUP = 0.05  # of the largest group's area
_LEAST_SPECK = 0.0015  # of the leaf's area
_PINHOLE = 0.002  # of the leaf's area
_REFLECTION = 0.2  # of the leaf's area
_CLOSED_SOLIDITY = 0.8  # area over the convex hull's: a compound leaf has less
# A region whose mean distance from the sheet is below this part of the largest one's is a shadow.
_FAINT = 0.4
# Contact with the picture's border over √area: a half disc cut by the edge has 1.6, a filled corner 2.8.
_RIM_CONTACT, _RIM_SHARE = 2.4, 0.3


def select_leaf_regions(share: NDArray[np.uint8], distance: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Keep the leaf of a thresholded picture.

    Dust goes, rims and corners along the picture's border go, leaflets stay, pin-holes are filled.

    Parameters
    ----------
    share : ndarray of uint8, shape (H, W)
        Which part of each reduced pixel is of another colour than the sheet, 0 to 255.
    distance : ndarray of uint8, shape (H, W)
        How far each reduced pixel's colour is from the sheet's; faint regions are dropped by it.

    Returns
    -------
    ndarray of uint8, shape (H, W)
        1 for leaf, 0 for none.

    Notes
    -----
    The method is leafid's own. Connected regions are dropped that touch much of the picture's border for their size,
    are specks beside the largest, or are faint beside it (a shadow). Those that are left are grouped where the gaps
    between them are narrow, as between leaflets, and small groups are dropped.
    """
    kept = _choose((share > _COVERED).view(np.uint8), distance)
    return _fill_pinholes(kept) if kept.any() else kept


def _choose(small: NDArray[np.uint8], distance: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # Counting the labels takes a fraction of the time of OpenCV's statistics.
    count, labels = cv2.connectedComponents(small, connectivity=8)
    if count == 1:
        return small
    if count == 2:
        # Mostly there is but one region, and OpenCV counts its pixels in a tenth of the time.
        marked = cv2.countNonZero(small)
        pixels = np.array([small.size - marked, marked])
    else:
        pixels = np.bincount(labels.ravel(), minlength=count)
    area = pixels.astype(float)
    area[0] = 0
    contact = _border_contact(labels, count)
    rim = (contact > _RIM_CONTACT * np.sqrt(area)) & (area < _RIM_SHARE * small.size)
    area[rim] = 0
    if not area.any():
        return np.zeros_like(small)
    # Of the many specks of a noisy sheet none can be leaf, whatever else is.
    area[area < _LEAST_SPECK * area.max()] = 0
    if np.count_nonzero(area) == 1:
        return small if count == 2 else (labels == area.argmax()).view(np.uint8)
    strength = np.bincount(labels.ravel(), weights=distance.ravel(), minlength=count) / pixels
    area[strength < _FAINT * strength[area.argmax()]] = 0
    good = (area > 0)[labels].view(np.uint8)
    if np.count_nonzero(area) == 1:
        return good

    reach = max(1, round(_GAP * np.sqrt(area.max())))
    joined = cv2.dilate(good, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach | 1, reach | 1)))
    groups, group_labels = cv2.connectedComponents(joined, connectivity=8)
    first = np.zeros(count, np.intp)
    first[labels.ravel()] = group_labels.ravel()  # each region lies in one group
    group_area = np.bincount(first, weights=area, minlength=groups)
    keep = (area > 0) & (group_area[first] >= _LEAST_GROUP * group_area.max())
    keep &= area >= _LEAST_SPECK * area[keep].sum()
    return keep[labels].view(np.uint8)


def _border_contact(labels: NDArray[np.int32], count: int) -> NDArray[np.intp]:
    edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    return np.bincount(edge, minlength=count)


def _fill_pinholes(kept: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Fill pin-holes; in a leaf with a closed outline also larger ones, which are reflections of light."""
    curves, hierarchy = cv2.findContours(kept, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    inner = [place for place, parent in enumerate(hierarchy[0, :, 3]) if parent >= 0]
    if not inner:
        return kept
    outer = [curve for curve, parent in zip(curves, hierarchy[0, :, 3], strict=True) if parent < 0]
    # A hole's curve runs through the leaf around it; Pick's theorem counts the pixels within.
    holes = {place: cv2.contourArea(curves[place]) - len(curves[place]) / 2 + 1 for place in inner}
    area = cv2.countNonZero(kept)
    hull = cv2.contourArea(cv2.convexHull(np.concatenate(outer)))
    closed = area + sum(holes.values()) > _CLOSED_SOLIDITY * hull
    most = (_REFLECTION if closed else _PINHOLE) * area
    # All at once, as OpenCV reads through the whole list at every call.
    chosen = [curves[place] for place, size in holes.items() if size <= most]
    return cv2.drawContours(kept.copy(), chosen, -1, 1, cv2.FILLED) if chosen else kept
