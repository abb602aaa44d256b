"""All descriptors by name: families of measures of a leaf, and local descriptors of the patches of a picture."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.imported import hash_module, import_measure, is_code
from leafid.descriptors.local.edges import extract_edge_sift
from leafid.descriptors.local.gradients import SIFT_LENGTH, Pyramid
from leafid.descriptors.local.grid import Grid, LocalFeatures
from leafid.descriptors.local.outline import extract_outline_sift
from leafid.descriptors.local.sift import (
    CHROMA_LENGTH,
    extract_chroma_sift,
    extract_dense_sift,
    extract_detected_sift,
)
from leafid.descriptors.shape import (
    curvature,
    geometry,
    margin,
    moments,
    triangle,
)
from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.surface import texture
from leafid.errors import LeafidError, UsageError
from leafid.segmentation.result import Mask, Segmentation

#: What families are measured on: each makes the arguments of their functions from the box of a leaf, which is given as
#: picture, picture in grey, mask and blade.
SOURCES: Mapping[
    str, Callable[[NDArray[np.uint8], NDArray[np.uint8], Mask, Mask], tuple[Any, ...]]
] = {
    "blade": lambda image, grey, mask, blade: (normalise_shape(blade),),
    "whole": lambda image, grey, mask, blade: (normalise_shape(mask),),
    "inside": lambda image, grey, mask, blade: (
        texture.TexturedLeaf(grey, blade, *texture.INTERIOR),
    ),
    "edge": lambda image, grey, mask, blade: (
        texture.TexturedLeaf(grey, blade, *texture.EDGE),
    ),
    "pixels": lambda image, grey, mask, blade: (image, blade),
}


@dataclass(frozen=True, slots=True)
class Family:
    """One vector of numbers that every leaf has."""

    source: str  # key in `SOURCES` of what it is measured on; families of one source share its computation
    name: str  # recipes and the command line use this name
    summary: str
    measure: Callable[
        ..., NDArray[np.float32]
    ]  # takes what the source makes; returns float32 (n_values,)
    value_names: tuple[
        str, ...
    ]  # names of the values, in order, without the family's name
    version: str = ""  # of code that is not leafid's: the hash of its module


@dataclass(frozen=True, slots=True)
class LocalDescriptor:
    """A kind of local features, of `length` values each.

    `reads` is a view of the picture, in grey or the two colour channels of Lab. ``compute(pyramid, region, grid)``
    extracts the features of the view's pyramid. The region is the leaf's part of the view, or None for all of it.
    """

    length: int
    reads: Literal["grey", "chroma"]
    compute: Callable[[Pyramid, np.ndarray | None, Grid], LocalFeatures]
    summary: str  # tells a user what it looks at


def measure_families(
    image: NDArray[np.uint8],
    segmentation: Segmentation,
    families: str | Iterable[str] | None = None,
) -> dict[str, NDArray[np.float32]]:
    """Measure families of one leaf, by default all, float32 (n_values,) by name; what they share is computed once.

    `get_column_names` names the values. An unknown family raises a `UsageError`, an empty segmentation a `LeafidError`.
    """
    selected = find_families(families)
    if not segmentation.blade.any():
        raise LeafidError(
            "no leaf was found; leave the picture out, or try another acquisition type"
        )
    row0, row1, col0, col1 = segmentation.box
    box = np.s_[row0:row1, col0:col1]
    grey = cv2.cvtColor(image[box], cv2.COLOR_BGR2GRAY)
    crops = image[box], grey, segmentation.mask[box], segmentation.blade[box]
    sources = {
        name: SOURCES[name](*crops) for name in {family.source for family in selected}
    }
    return {family.name: family.measure(*sources[family.source]) for family in selected}


def get_column_names(families: str | Iterable[str] | None = None) -> list[str]:
    """Name the columns of a table of these families, by default all: ``geometry.log_aspect_box``."""
    return [
        f"{family.name}.{name}"
        for family in find_families(families)
        for name in family.value_names
    ]


def find_families(names: str | Iterable[str] | None = None) -> list[Family]:
    """Find a family, or several, by name; by default all of leafid's.

    One named ``package.module:function`` is imported. A `UsageError` is raised when that fails, there is no name, a
    family is unknown, or one is named twice.
    """
    if names is None:
        return list(FAMILIES.values())
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise UsageError(
            f"expected at least one descriptor family ({', '.join(FAMILIES)}), found none"
        )
    if unknown := [
        name for name in names if name not in FAMILIES and not is_code(name)
    ]:
        raise UsageError(
            f"unknown descriptor family {unknown[0]!r}; there are {', '.join(FAMILIES)}"
        )
    if len(set(names)) < len(names):
        raise UsageError(
            f"expected each descriptor family once, found {', '.join(names)}"
        )
    return [
        FAMILIES.get(name)
        or Family(
            "pixels", name, "not leafid's", *import_measure(name), hash_module(name)
        )
        for name in names
    ]


_blade, _whole, _inside, _edge = (
    partial(Family, source) for source in ("blade", "whole", "inside", "edge")
)
_FAMILIES = (
    _blade(
        "geometry",
        "proportions and profiles of the blade",
        geometry.measure_geometry,
        geometry.GEOMETRY_NAMES,
    ),
    _whole(
        "geometry_whole",
        "the same with the petiole",
        geometry.measure_geometry,
        geometry.GEOMETRY_NAMES,
    ),
    _blade(
        "hu",
        "Hu's moment invariants",
        moments.measure_hu_moments,
        moments.HU_MOMENTS_NAMES,
    ),
    _blade(
        "arch",
        "arch heights and chords over span",
        triangle.measure_arches,
        triangle.ARCHES_NAMES,
    ),
    _blade(
        "triangle",
        "triangles along the outline, over span",
        triangle.measure_triangles,
        triangle.TRIANGLES_NAMES,
    ),
    _blade(
        "curvature",
        "curvature over scale",
        curvature.measure_curvature,
        curvature.CURVATURE_NAMES,
    ),
    _whole(
        "curvature_whole",
        "the same with the petiole",
        curvature.measure_curvature,
        curvature.CURVATURE_NAMES,
    ),
    _blade(
        "teeth",
        "teeth of the margin over scale",
        margin.measure_teeth,
        margin.TEETH_NAMES,
    ),
    _blade("lobes", "lobes of the margin", margin.measure_lobes, margin.LOBES_NAMES),
    _inside(
        "interior",
        "texture of the inside (LBP-HF)",
        texture.measure_interior,
        texture.INTERIOR_NAMES,
    ),
    _edge(
        "border",
        "texture along the edge (LBP-HF)",
        texture.measure_border,
        texture.BORDER_NAMES,
    ),
    _edge(
        "outline",
        "texture of the edge's silhouette (LBP-HF)",
        texture.measure_outline,
        texture.OUTLINE_NAMES,
    ),
)
#: Every family, by name.
FAMILIES: Mapping[str, Family] = {family.name: family for family in _FAMILIES}

#: Every local descriptor, by name.
LOCAL_DESCRIPTORS: Mapping[str, LocalDescriptor] = {
    "dense-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_dense_sift, "edges in small patches"
    ),
    "dense-chroma-sift": LocalDescriptor(
        CHROMA_LENGTH,
        "chroma",
        extract_chroma_sift,
        "edges between hues in small patches",
    ),
    "detected-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_detected_sift, "edges around distinct points"
    ),
    "edge-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_edge_sift, "patches along margins and veins"
    ),
    "outline-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_outline_sift, "edges along the outline"
    ),
}
