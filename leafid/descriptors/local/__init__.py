"""Local features: many descriptors of small parts of one picture, to be encoded into one vector."""

from leafid.descriptors.local.grid import Grid, LocalFeatures, concatenate_features

__all__ = ["Grid", "LocalFeatures", "concatenate_features"]
