"""Sizes and traits of leaves as they are tabulated, each with a confidence.

Lengths are in pixels, millimetres or centimetres.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from leafid.descriptors.landmarks import Landmarks
from leafid.descriptors.traits import (
    drop_misfits,
    measure_cut,
    measure_reliable_traits,
)
from leafid.segmentation.condition import measure_condition
from leafid.segmentation.pixels import (
    Mask,
    add_margin,
    find_bounding_box,
    find_convex_hull,
    get_window,
)
from leafid.segmentation.result import Segmentation

_POWERS = {"length": 1, "length²": 2}
_MM_PER_UNIT = {"mm": 1, "cm": 10}
# Share of the confidence where the leaf may be several.
_SEVERAL = 0.5
# The sharpness (`leafid.segmentation.condition.Condition`) that shows fine teeth.
_SHARP = 0.6


@cache
def list_measures() -> dict[str, dict[str, str]]:
    """List all measures by name.

    Each has ``unit``, ``what it is``, ``source``, and what its confidence ``depends
    on`` besides the outline. A unit ``length`` is pixels or millimetres.
    """
    text = Path(__file__).with_name("measures.csv").read_text(encoding="utf-8")
    return {row.pop("measure"): row for row in csv.DictReader(text.splitlines())}


@dataclass(frozen=True, eq=False)
class LeafMeasures:
    """What was measured of one leaf."""

    #: Values by the names that `list_measures` lists, lengths in pixels; None where one
    #: can't be measured.
    values: Mapping[str, float | None]
    #: From 0 to 1, by the same names: the confidence of the outline, and less for
    #: measures that depend on more than it.
    confidence: Mapping[str, float]
    landmarks: Landmarks
    #: Number of leaves in the picture.
    n_leaves: int
    #: The blade without its holes, whose area is measured: (H, W) of the picture.
    surface: Mask
    #: Whether it may be several leaves that touch: nothing is counted then, and
    #: confidences are halved.
    may_be_several: bool

    def doubt(self, p_leaf: float) -> "LeafMeasures":
        """Multiply all confidences by the probability that this is a leaf."""
        confidence = {name: p_leaf * value for name, value in self.confidence.items()}
        return replace(self, confidence=confidence)

    def to_record(
        self,
        mm_per_pixel: float | None = None,
        unit: str = "mm",
        scale_confidence: float | None = None,
    ) -> dict[str, Any]:
        """Return a row of a table.

        Parameters
        ----------
        mm_per_pixel : float, optional
            Size of a pixel; without it, lengths are in pixels.
        unit : {"mm", "cm"}
        scale_confidence : float, optional
            How sure the size of a pixel is, from 0 to 1: lengths and areas are as sure
            at most.

        Returns
        -------
        dict
            ``unit``, ``mm_per_pixel``, each measure, ``…_confidence`` of each, and
            columns and rows of base and tip.
        """
        size = 1.0
        if mm_per_pixel:
            size = mm_per_pixel / _MM_PER_UNIT[unit]
        else:
            unit = "px"
        record: dict[str, Any] = {"unit": unit, "mm_per_pixel": mm_per_pixel}
        confidences = {}
        for name, row in list_measures().items():
            value = self.values[name]
            confidence = self.confidence[name]
            if power := _POWERS.get(row["unit"]):
                value = value and value * size**power
                confidence *= scale_confidence or 1
            record[name] = value
            confidences[f"{name}_confidence"] = confidence
        record |= confidences
        for name in ("base", "tip"):
            place = [None, None]
            if self.landmarks.has_base:
                place = (getattr(self.landmarks, name) + 0.5).tolist()
            record[f"{name}_column"] = place[1]
            record[f"{name}_row"] = place[0]
        return record


def measure_leaf(
    leaf: Segmentation, holes: Mask | None = None, is_compound: float | None = None
) -> LeafMeasures:
    """Measure a leaf, whose mask is not empty, with its holes, bool (H, W).

    What doesn't fit a species with compound (1) or simple (0) leaves is left out.
    `leafid.descriptors.traits` counts leaflets, lobes and teeth and measures angles,
    and leaves out what isn't sure, or can't be seen in the picture. An empty mask
    raises a `ValueError`.
    """
    # It takes half a second to import.
    from skimage.measure import perimeter as measure_perimeter

    traits, landmarks = measure_reliable_traits(leaf)
    if landmarks is None:
        raise ValueError("leaf: expected a blade of pixels, found an empty mask")
    traits = drop_misfits(traits, is_compound)
    window = get_window(find_bounding_box(leaf.blade))
    blade = add_margin(leaf.blade[window].view(np.uint8), 1)
    contours, _ = cv2.findContours(blade, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(blade.copy(), contours, -1, 1, cv2.FILLED)
    hull = cv2.fillConvexPoly(np.zeros_like(blade), find_convex_hull(blade), 1)
    surface = leaf.blade if holes is None else leaf.blade & ~holes
    area = float(np.count_nonzero(surface))
    filled_area = float(filled.sum())
    perimeter = float(measure_perimeter(filled))
    length, width = landmarks.extent.tolist()
    measured = traits | {
        "area": area,
        "hole_area": filled_area - area,
        "perimeter": perimeter,
        "length": length,
        "width": width,
        "petiole_length": landmarks.petiole,
        "cut": float(measure_cut(leaf.mask)),
        "aspect": length / width,
        "circularity": min(1.0, 4 * np.pi * filled_area / max(perimeter, 1.0) ** 2),
        "solidity": filled_area / float(hull.sum()),
    }
    if landmarks.has_base:
        measured["symmetry"] = _measure_symmetry(leaf.blade, landmarks)
    if "tooth_depth" in traits:
        measured["tooth_height"] = traits["tooth_depth"] / 100 * width
    for name in traits.keys() & {"leaflets", "lobes", "teeth"}:
        measured[name] = int(traits[name])
    values = {name: measured.get(name) for name in list_measures()}
    return LeafMeasures(
        values=values,
        confidence=compose_confidence(leaf, values, landmarks.confidence),
        landmarks=landmarks,
        n_leaves=leaf.n_leaves,
        surface=surface,
        may_be_several=leaf.may_be_several,
    )


def compose_confidence(
    leaf: Segmentation, values: Mapping[str, float | None], direction: float
) -> dict[str, float]:
    """Compose the confidence of each value, from 0 to 1.

    It is the confidence of the outline, times the confidences of what else the measure
    depends on (in ``measures.csv``), such as the `direction` of the midrib. A value
    that is None has the confidence 0.
    """
    sharpness = 1.0
    if leaf.picture is not None:
        sharpness = min(measure_condition(leaf.picture, leaf).sharpness / _SHARP, 1.0)
    cut = measure_cut(leaf.blade) / (values["width"] or 1.0)
    factors = {
        # Of what the border of the picture cuts, there is at least as much.
        "completeness": max(1 - cut, 0.0),
        "petiole": float(not measure_cut(leaf.petiole)),
        "direction": direction,
        # The longest extent is nearly the same in directions that are near each other.
        "extent": direction**0.5,
        "sharpness": sharpness,
    }
    outline = leaf.outline_confidence * (_SEVERAL if leaf.may_be_several else 1)
    confidence = dict.fromkeys(values, 0.0)
    for name, value in values.items():
        if value is not None:
            needs = list_measures().get(name, {}).get("depends on", "")
            parts = [factors[part] for part in needs.split()]
            confidence[name] = outline * float(np.prod(parts))
    return confidence


def _measure_symmetry(blade: Mask, landmarks: Landmarks) -> float:
    """Measure the share of a blade that is blade on the other side of the midrib."""
    axis = (landmarks.tip - landmarks.base) / landmarks.length
    # A mirror image about the midrib, in columns and rows.
    mirror = 2 * np.outer(axis[::-1], axis[::-1]) - np.eye(2)
    base = landmarks.base[::-1]
    matrix = np.column_stack([mirror, base - mirror @ base])
    plane = blade.view(np.uint8)
    size = plane.shape[::-1]
    mirrored = cv2.warpAffine(plane, matrix, size, flags=cv2.INTER_NEAREST)
    return float(np.count_nonzero(mirrored & plane) / np.count_nonzero(plane))
