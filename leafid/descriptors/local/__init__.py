"""Local features: many descriptors of small parts of one picture, to be encoded into one vector."""

from leafid.descriptors.local.features import LocalFeatures, concatenate_features, tile_features
from leafid.descriptors.local.grid import Grid

__all__ = ["Grid", "LocalFeatures", "concatenate_features", "tile_features"]
