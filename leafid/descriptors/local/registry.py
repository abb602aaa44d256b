"""The local descriptors by name: how long they are, what they read, and how they are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from leafid.descriptors.local import sift as local
from leafid.descriptors.local.grid import Grid
from leafid.descriptors.local.inner_distance import ANGLE_BINS, DISTANCE_BINS
from leafid.descriptors.local.sift import LocalFeatures


@dataclass(frozen=True, slots=True)
class LocalDescriptor:
    """A way to describe the small pieces of a picture.

    Attributes
    ----------
    length : int
        Values of a descriptor.
    reads : {"grey", "lab", "mask"}
        A view of the picture, uint8 (H, W) in grey or (H, W, 3) in Lab, or the leaf's blade in the whole picture,
        bool (H, W).
    compute : callable
        ``compute(source, region, grid)`` gives the `LocalFeatures`, with the part of a view that belongs to the leaf,
        bool (H, W), or None for all of it; each takes of these what it needs.
    """

    length: int
    reads: Literal["grey", "lab", "mask"]
    compute: Callable[[np.ndarray, np.ndarray | None, Grid], LocalFeatures]


def get_local_descriptor(name: str) -> LocalDescriptor:
    """Look a local descriptor up by name.

    Raises
    ------
    ValueError
        When there is none of that name.
    """
    if name not in LOCAL_DESCRIPTORS:
        raise ValueError(f"expected a local descriptor ({', '.join(LOCAL_DESCRIPTORS)}), found {name!r}")
    return LOCAL_DESCRIPTORS[name]


#: Every local descriptor, by name.
LOCAL_DESCRIPTORS: Mapping[str, LocalDescriptor] = MappingProxyType(
    {
        "dense-sift": LocalDescriptor(local.SIFT_LENGTH, "grey", local.dense_sift),
        "dense-chroma-sift": LocalDescriptor(local.CHROMA_LENGTH, "lab", local.dense_chroma_sift),
        "detected-sift": LocalDescriptor(
            local.SIFT_LENGTH, "grey", lambda grey, region, _: local.detected_sift(grey, region)
        ),
        "dense-colour": LocalDescriptor(local.COLOUR_LENGTH, "lab", local.dense_colour),
        "inner-distance": LocalDescriptor(
            DISTANCE_BINS * ANGLE_BINS, "mask", lambda mask, *_: local.inner_distance_features(mask)
        ),
    }
)
