"""Local features: many descriptors of small parts of one picture, to be encoded into one vector."""

from leafid.descriptors.local.features import LocalFeatures, concatenate_features, tile_features
from leafid.descriptors.local.grid import SYMMETRIES, Grid
from leafid.descriptors.local.registry import LOCAL_DESCRIPTORS, get_local_descriptor

__all__ = [
    "LOCAL_DESCRIPTORS",
    "SYMMETRIES",
    "Grid",
    "LocalFeatures",
    "concatenate_features",
    "get_local_descriptor",
    "tile_features",
]
