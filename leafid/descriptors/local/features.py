"""Local features of one picture or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class LocalFeatures:
    """Descriptors of many patches."""

    #: float32 (n, d).
    descriptors: np.ndarray
    #: float32 (n, 2): row and column of each patch's centre, relative to the picture's rows and columns, in [0, 1].
    positions: np.ndarray
    #: float32 (n,): binary logarithm of the patch's side relative to the picture's longest side.
    scales: np.ndarray

    def __len__(self) -> int:
        return len(self.descriptors)

    def take(self, indices: np.ndarray | slice) -> LocalFeatures:
        """Select features by their indices; a slice gives views."""
        return LocalFeatures(self.descriptors[indices], self.positions[indices], self.scales[indices])

    @classmethod
    def zeros(cls, number: int, length: int) -> LocalFeatures:
        """Make all-zero features of `length` values."""
        return cls(
            np.zeros((number, length), np.float32), np.zeros((number, 2), np.float32), np.zeros(number, np.float32)
        )


def concatenate_features(parts: Sequence[LocalFeatures]) -> LocalFeatures:
    """Concatenate the local features of several pictures, at least one."""
    arrays = zip(*((part.descriptors, part.positions, part.scales) for part in parts), strict=True)
    return LocalFeatures(*map(np.concatenate, arrays))


def tile_features(features: LocalFeatures, number: int) -> LocalFeatures:
    """Repeat local features until there are `number`; where there are none, return features that are all 0."""
    if len(features):
        return features.take(np.resize(np.arange(len(features)), number))
    return LocalFeatures.zeros(number, features.descriptors.shape[1])
