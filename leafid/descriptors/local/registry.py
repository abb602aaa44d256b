"""The local descriptors by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from leafid.descriptors.local.colour import COLOUR_LENGTH, extract_dense_colour
from leafid.descriptors.local.edges import extract_edge_sift
from leafid.descriptors.local.features import LocalFeatures
from leafid.descriptors.local.grid import Grid
from leafid.descriptors.local.inner_distance import ANGLE_BINS, DISTANCE_BINS, extract_inner_distance
from leafid.descriptors.local.outline import extract_outline_sift
from leafid.descriptors.local.sift import (
    CHROMA_LENGTH,
    SIFT_LENGTH,
    extract_chroma_sift,
    extract_dense_sift,
    extract_detected_sift,
)


@dataclass(frozen=True, slots=True)
class LocalDescriptor:
    """A kind of local features, of `length` values each.

    `reads` is a view of the picture, in grey or in Lab, or the leaf's blade in the whole picture. ``compute(source,
    region, grid)`` extracts the features. The region is the leaf's part of the view, or None for all of it; "mask"
    ignores region and grid, "detected-sift" the grid, and "edge-sift" the region: a view of the leaf is on white.
    """

    length: int
    reads: Literal["grey", "lab", "mask"]
    compute: Callable[[np.ndarray, np.ndarray | None, Grid], LocalFeatures]


#: Every local descriptor, by name.
LOCAL_DESCRIPTORS: Mapping[str, LocalDescriptor] = MappingProxyType(
    {
        "dense-sift": LocalDescriptor(SIFT_LENGTH, "grey", extract_dense_sift),
        "dense-chroma-sift": LocalDescriptor(CHROMA_LENGTH, "lab", extract_chroma_sift),
        "detected-sift": LocalDescriptor(
            SIFT_LENGTH, "grey", lambda grey, region, _: extract_detected_sift(grey, region)
        ),
        "edge-sift": LocalDescriptor(SIFT_LENGTH, "grey", lambda grey, _, grid: extract_edge_sift(grey, grid)),
        "outline-sift": LocalDescriptor(SIFT_LENGTH, "grey", extract_outline_sift),
        "dense-colour": LocalDescriptor(COLOUR_LENGTH, "lab", extract_dense_colour),
        "inner-distance": LocalDescriptor(
            DISTANCE_BINS * ANGLE_BINS, "mask", lambda mask, *_: extract_inner_distance(mask)
        ),
    }
)


def get_local_descriptor(name: str) -> LocalDescriptor:
    """Return the local descriptor of a name; a ValueError lists the names where there is none."""
    if name not in LOCAL_DESCRIPTORS:
        raise ValueError(f"expected a local descriptor ({', '.join(LOCAL_DESCRIPTORS)}), found {name!r}")
    return LOCAL_DESCRIPTORS[name]
