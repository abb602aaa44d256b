"""Sizes and traits of leaves as they are tabulated: in pixels or millimetres, each with a confidence."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from skimage.measure import regionprops

from leafid.descriptors.landmarks import Landmarks
from leafid.descriptors.measure_confidence import compose_confidence
from leafid.descriptors.traits import measure_cut, measure_reliable_traits
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.leaves import find_holes, segment_leaves
from leafid.segmentation.pixels import Image, Mask, find_bounding_box, find_convex_hull
from leafid.segmentation.result import Segmentation

_POWERS = {"length": 1, "length²": 2}
_MM_PER_UNIT = {"mm": 1, "cm": 10}


@cache
def list_measures() -> dict[str, dict[str, str]]:
    """List all measures by name: ``unit``, ``what it is``, ``source``. A unit ``length`` is pixels or millimetres."""
    text = Path(__file__).with_name("measures.csv").read_text(encoding="utf-8")
    return {row.pop("measure"): row for row in csv.DictReader(text.splitlines())}


@dataclass(frozen=True, eq=False)
class LeafMeasures:
    """What was measured of one leaf."""

    #: Values by the names that `list_measures` lists, lengths in pixels; None where they can't be told.
    values: Mapping[str, float | None]
    #: From 0 to 1, by the same names: that of the outline, less for what depends on more than that.
    confidence: Mapping[str, float]
    landmarks: Landmarks
    #: Number of leaves in the picture.
    n_leaves: int
    #: The blade without its holes, whose area is measured: (H, W) of the picture.
    surface: Mask
    #: Whether it may be several leaves that touch: nothing is counted then, and the confidence is half of what it were.
    may_be_several: bool

    def doubt(self, p_leaf: float) -> "LeafMeasures":
        """Lower all confidences of what is a leaf with this probability only."""
        lowered = {name: p_leaf * value for name, value in self.confidence.items()}
        return replace(self, confidence=lowered)

    def to_record(
        self, mm_per_pixel: float | None = None, unit: str = "mm"
    ) -> dict[str, Any]:
        """Return a row of a table, with lengths in ``mm`` or ``cm`` where the size of a pixel is known.

        It has ``unit``, ``mm_per_pixel``, each measure, ``…_confidence`` of each, and columns and rows of base and tip.
        """
        record: dict[str, Any] = {
            "unit": unit if mm_per_pixel else "px",
            "mm_per_pixel": mm_per_pixel,
        }
        size = mm_per_pixel / _MM_PER_UNIT[unit] if mm_per_pixel else 1.0
        for name, row in list_measures().items():
            value, power = self.values[name], _POWERS.get(row["unit"])
            record[name] = value * size**power if value and power else value
        record |= {
            f"{name}_confidence": confidence
            for name, confidence in self.confidence.items()
        }
        for name in ("base", "tip"):
            place = (
                (getattr(self.landmarks, name) + 0.5).tolist()
                if self.landmarks.has_base
                else (None, None)
            )
            record |= {f"{name}_column": place[1], f"{name}_row": place[0]}
        return record


def measure_leaves(
    image: Image, acquisition_type: AcquisitionType, *, each_leaf: bool = True
) -> list[LeafMeasures]:
    """Measure every leaf of a picture of a sheet, the largest first, or the largest alone; empty without a leaf."""
    leaves = segment_leaves(image, acquisition_type)
    return [
        measure_leaf(leaf, find_holes(image, leaf))
        for leaf in (leaves if each_leaf else leaves[:1])
    ]


def measure_leaf(leaf: Segmentation, holes: Mask | None = None) -> LeafMeasures:
    """Measure a leaf, whose mask is not empty, with its holes, bool (H, W).

    Leaflets, lobes, teeth and angles are those of `leafid.descriptors.traits`, which leaves out what isn't sure, or
    can't be seen in the picture.
    """
    row0, row1, col0, col1 = find_bounding_box(leaf.blade)
    blade = np.pad(leaf.blade[row0:row1, col0:col1], 1).view(np.uint8)
    contours, _ = cv2.findContours(blade, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    (region,) = regionprops(cv2.drawContours(blade.copy(), contours, -1, 1, cv2.FILLED))
    perimeter = float(region.perimeter)
    hull = cv2.fillConvexPoly(np.zeros_like(blade), find_convex_hull(blade), 1)
    surface = leaf.blade if holes is None else leaf.blade & ~holes
    area = float(np.count_nonzero(surface))
    traits, landmarks = measure_reliable_traits(leaf)
    if landmarks is None:
        raise ValueError("leaf: expected a blade of pixels, found an empty mask")
    length, width = landmarks.extent
    tooth_depth = traits.get("tooth_depth")
    values: dict[str, float | None] = {
        "area": area,
        "hole_area": float(region.area) - area,
        "perimeter": perimeter,
        "length": length,
        "width": width,
        "petiole_length": landmarks.petiole,
        "cut": float(measure_cut(leaf.mask)),
        "aspect": length / width,
        "circularity": min(
            1.0, 4 * np.pi * float(region.area) / max(perimeter, 1.0) ** 2
        ),
        "solidity": float(region.area) / np.count_nonzero(hull),
        "symmetry": _measure_symmetry(leaf.blade, landmarks)
        if landmarks.has_base
        else None,
        "tooth_height": None if tooth_depth is None else tooth_depth / 100 * width,
    }
    values |= {
        name: int(traits[name]) if name in traits else None
        for name in ("leaflets", "lobes", "teeth")
    }
    values = {name: values.get(name, traits.get(name)) for name in list_measures()}
    confidence = compose_confidence(leaf, values, landmarks.confidence)
    return LeafMeasures(
        values, confidence, landmarks, leaf.n_leaves, surface, leaf.may_be_several
    )


def _measure_symmetry(blade: Mask, landmarks: Landmarks) -> float:
    """Measure the share of a blade that is blade on the other side of the midrib as well."""
    places = np.argwhere(blade)
    axis = (landmarks.tip - landmarks.base) / landmarks.length
    offsets = places - landmarks.base
    mirrored = np.rint(
        landmarks.base + 2 * np.outer(offsets @ axis, axis) - offsets
    ).astype(int)
    is_inside = ((mirrored >= 0) & (mirrored < blade.shape)).all(axis=1)
    return float(blade[tuple(mirrored[is_inside].T)].sum() / len(places))
