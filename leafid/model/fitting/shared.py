"""A training set from which cross-validation selects that of each fold: features are read and multiplied once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.grouping import group_by
from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.training_matrix import TrainingMatrix
from leafid.model.fitting.training_set import MAX_AUGMENTED_PICTURES, TrainingSet, build_training_set
from leafid.pictures.picture import Picture

# Rows of a kernel matrix that are read at a time.
_BLOCK_SIZE = 256


@dataclass(eq=False)
class SharedVectors:
    """Vectors (n, d) with the kernel matrix of their rows, which is computed when it is first read."""

    vectors: DiskBackedArray
    feature_map: str
    folder: Path | None

    @cached_property
    def kernel(self) -> DiskBackedArray:
        """Inner products of mapped rows less their mean; float32 (n, n)."""
        kernel = DiskBackedArray(np.float32, self.folder)
        kernel.append(TrainingMatrix(self.vectors, self.feature_map, standardise=False).compute_kernel())
        return kernel

    def close(self) -> None:
        """Delete temporary files."""
        self.vectors.close()
        if "kernel" in self.__dict__:
            self.kernel.close()


@dataclass(frozen=True, eq=False)
class SelectedVectors:
    """Some rows of shared vectors, by their indices."""

    shared: SharedVectors
    indices: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return len(self.indices), self.shared.vectors.shape[1]

    def __getitem__(self, indices: np.ndarray) -> np.ndarray:
        return self.shared.vectors[self.indices[indices]]

    def read_kernel(self) -> np.ndarray:
        """Read the inner products of the selected rows less a vector that is the same for all; float32 (n, n)."""
        kernel = np.empty((len(self.indices),) * 2, np.float32)
        for start in range(0, len(kernel), _BLOCK_SIZE):
            block = slice(start, start + _BLOCK_SIZE)
            kernel[block] = self.shared.kernel[self.indices[block]].take(self.indices, axis=1)
        return kernel


class SharedTrainingSet:
    """The training set of pictures that several fits with the same feature extractor take theirs from."""

    def __init__(
        self, pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, extractor: FeatureExtractor
    ) -> None:
        self._pictures = pictures
        self._recipe = recipe
        self._loader = loader
        self.extractor = extractor
        self._stack = ExitStack()

    def select(self, pictures: Sequence[Picture]) -> tuple[TrainingSet, dict[str, SelectedVectors]] | None:
        """Select the training set of some of the pictures, in the same order, and its vectors by expert.

        None where they are less than half, so that the features of the others may not be needed, and where they would
        be augmented in another way by themselves, as there are too many, or parts of plants.
        """
        files = {picture.file for picture in pictures}
        plants = group_by(self._pictures, lambda picture: (picture.group, picture.type))
        is_whole = all(len({picture.file in files for picture in own}) == 1 for own in plants.values())
        is_small = 2 * len(pictures) < len(self._pictures)
        if is_small or not is_whole or len(self._pictures) > MAX_AUGMENTED_PICTURES:
            return None
        training_set, shared = self._built
        selected, rows = training_set.select(np.array([picture.file in files for picture in training_set.pictures]))
        return selected, {name: SelectedVectors(own, rows) for name, own in shared.items()}

    def close(self) -> None:
        """Delete temporary files."""
        self._stack.close()

    @cached_property
    def _built(self) -> tuple[TrainingSet, dict[str, SharedVectors]]:
        vectors = {name: DiskBackedArray(folder=self._loader.folder) for name in self._recipe.experts}
        shared = {
            name: SharedVectors(own, self._recipe.experts[name].feature_map, self._loader.folder)
            for name, own in vectors.items()
        }
        for own in shared.values():
            self._stack.callback(own.close)
        training_set = build_training_set(self._pictures, self._recipe, self._loader, self.extractor, vectors)
        return training_set, shared
