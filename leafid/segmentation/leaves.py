"""Every leaf of a picture of a sheet, and the holes in a leaf."""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.background import interpolate_sheet
from leafid.segmentation.merging import split_leaves
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.pixels import Image, Mask, get_window, shrink
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment
from leafid.segmentation.uniform import measure_sheet_distance

# Longest side of the picture in which the sheet's colour is estimated, in pixels.
_SIDE = 256
# Width of the rim around an erased leaf, which holds its shadow, as a part of the picture's longer side.
_RIM = 0.01
# Width of the sheet around a leaf that is cut out, as a part of its longer side.
_MARGIN = 0.15
# A hole is nearer to the sheet's colour than this part of the leaf's mean distance, and has this part of its area.
_NEAR = 0.4
_LEAST_HOLE = 2e-4


def segment_leaves(
    image: Image, acquisition_type: AcquisitionType
) -> list[Segmentation]:
    """Cut every leaf out of a picture, as `segment` does: a list, the largest leaf first, empty without a leaf.

    Each further leaf is what `segment` finds where those before have been erased. A photo has one at most. A compound
    leaf is one leaf; leaves so near to each other that `segment` takes them for one are split. All have the number of
    the leaves.
    """
    leaves: list[Segmentation] = []
    n_further = 1
    while n_further:
        leaf = segment(image, acquisition_type)
        if not leaf.mask.any():
            break
        n_further = leaf.n_leaves - 1
        leaves += _split(image, leaf) if acquisition_type.lies_on_sheet else [leaf]
        image = erase(image, leaf.mask) if n_further else image
    ordered = sorted(leaves, key=lambda leaf: -np.count_nonzero(leaf.blade))
    return [replace(leaf, n_leaves=len(leaves)) for leaf in ordered]


def _split(image: Image, leaf: Segmentation) -> list[Segmentation]:
    masks = split_leaves(leaf.mask)
    if len(masks) == 1:
        return [leaf]
    return [
        replace(
            leaf,
            mask=mask,
            blade=remove_petiole(mask),
            coverage=None,
            picture=erase(image, leaf.mask & ~mask, mask),
        )
        for mask in masks
    ]


def erase(image: Image, mask: Mask, kept: Mask | None = None) -> Image:
    """Paint what a mask shows, and its rim, in the colour of the sheet around it, except for what is `kept`."""
    width = 2 * max(1, round(_RIM * max(mask.shape))) + 1
    wide = cv2.dilate(mask.view(np.uint8), np.ones((width, width), np.uint8))
    kept = np.zeros_like(mask) if kept is None else kept
    sheet = _estimate_sheet(image, wide.view(bool) | kept)
    wide[kept] = 0
    return cv2.copyTo(sheet, wide, image.copy())


def isolate_leaf(image: Image, leaves: Sequence[Segmentation], index: int) -> Image:
    """Cut one of several leaves out of a picture with some of the sheet around it; the other leaves are erased."""
    erased = np.any(
        [leaf.mask for number, leaf in enumerate(leaves) if number != index], axis=0
    )
    image = erase(image, erased, leaves[index].mask)
    row0, row1, col0, col1 = box = leaves[index].box
    margin = round(_MARGIN * max(row1 - row0, col1 - col0))
    return image[get_window(box, margin)]


def find_holes(image: Image, leaf: Segmentation) -> Mask:
    """Mark the parts of a leaf that look like the sheet: holes, or else reflections of light."""
    window = get_window(leaf.box)
    sheet = _estimate_sheet(image, leaf.mask)
    planes = [cv2.cvtColor(part[window], cv2.COLOR_BGR2LAB) for part in (image, sheet)]
    distance = measure_sheet_distance(*planes)
    mask = leaf.mask[window].view(np.uint8)
    inside = cv2.erode(mask, np.ones((3, 3), np.uint8), borderValue=0)
    near = (distance < _NEAR * cv2.mean(distance, inside)[0]).view(np.uint8) & inside
    _, labels, stats, _ = cv2.connectedComponentsWithStats(near, connectivity=4)
    is_hole = stats[:, cv2.CC_STAT_AREA] >= max(4, _LEAST_HOLE * mask.sum())
    is_hole[0] = False
    holes = np.zeros_like(leaf.mask)
    holes[window] = is_hole[labels]
    return holes


def _estimate_sheet(image: Image, mask: Mask) -> Image:
    """Estimate the colour of the sheet everywhere from what lies outside a mask."""
    small = shrink(image, _SIDE)
    size = small.shape[1::-1]
    share = cv2.resize(mask.view(np.uint8), size, interpolation=cv2.INTER_AREA)
    sheet = interpolate_sheet(small, share == 0).clip(0, 255)
    return cv2.resize(sheet.astype(np.uint8), image.shape[1::-1])
