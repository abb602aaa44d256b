"""The training set of an identifier: its pictures unchanged, jittered, and composited into photos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.grouping import group_by
from leafid.learning.cross_fitting import check_memory
from leafid.learning.rows import TrainingRows, make_array, make_rows
from leafid.pictures.picture import AcquisitionType, Picture

#: Number of training pictures above which there are no augmentations: a large set varies enough.
MAX_AUGMENTED_PICTURES = 20_000
#: Maximum number of pictures of a plant and type that photos are composited from. They stand for all: pictures of one
#: plant resemble each other.
MAX_COMPOSITED_PER_PLANT = 8
#: Weights of all jittered copies of a picture, and of all composited photos, relative to the picture itself.
JITTERED_WEIGHT, COMPOSITED_WEIGHT = 0.5, 1.0


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The rows of the training vectors: first one for each picture, then one for each augmented picture."""

    recipe: Recipe
    #: Those that could be read.
    pictures: list[Picture]
    #: float64 (n_pictures,): confidence of the segmentation.
    confidence: np.ndarray
    #: int (n_rows,): the picture of each row.
    picture_indices: np.ndarray
    #: int (n_rows,): 0: the picture as it is; from 1: the recipe's jittered pictures, then its composited photos.
    augmentations: np.ndarray
    #: float64 (n_rows,): weight of a row divided by that of the picture as it is.
    relative_weights: np.ndarray
    #: By the expert's name: float16 (n_rows, n_columns), mapped to a temporary file where they are many.
    vectors: Mapping[str, np.ndarray]
    #: Of temporary files.
    folder: Path | None = None

    def find_rows(self, pictures: np.ndarray) -> np.ndarray:
        """Find all rows of some pictures, given by their indices."""
        return np.flatnonzero(np.isin(self.picture_indices, pictures))

    def number_domains(self) -> np.ndarray:
        """Give the domain of each row, its type and augmentation: augmented pictures of a type resemble each other."""
        known = self.recipe.training_types
        types = np.array([known.index(picture.type) for picture in self.pictures if picture.type is not None], int)
        return types[self.picture_indices] + len(known) * self.augmentations

    def weigh_rows(self, picture_weights: np.ndarray) -> np.ndarray:
        """Turn weights of pictures, (n_pictures,), into weights of rows, (n_rows,), with the same sum."""
        weights = picture_weights[self.picture_indices] * self.relative_weights
        total = weights.sum()
        return weights * (picture_weights.sum() / total) if total else weights

    def make_rows(self, name: str) -> TrainingRows:
        """Make the training rows of an expert."""
        expert = self.recipe.experts[name]
        return make_rows(
            self.vectors[name],
            expert.feature_map,
            standardise=not expert.is_local,
            domains=self.number_domains() if expert.centre_types else None,
            folder=self.folder,
        )


class SharedTrainingSet:
    """The training set of pictures from which several fits with the same feature extractor take theirs.

    Features are read, and kernel matrices computed, once.
    """

    def __init__(
        self, pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, extractor: FeatureExtractor
    ) -> None:
        self._pictures = pictures
        self._build = partial(build_training_set, pictures, recipe, loader, extractor)
        self.extractor = extractor

    @cached_property
    def training_set(self) -> TrainingSet:
        """The training set of all pictures."""
        return self._build()

    @cached_property
    def make_rows(self) -> Callable[[str], TrainingRows]:
        """Make the training rows of an expert once."""
        return cache(self.training_set.make_rows)

    def holds(self, pictures: Sequence[Picture]) -> bool:
        """Whether the training set of some of the pictures is a part of that of all.

        It isn't where they are less than half, so that the features of the others may not be needed, and where they
        would be augmented in another way by themselves, as there are too many, or parts of plants.
        """
        files = {picture.file for picture in pictures}
        plants = group_by(self._pictures, lambda picture: (picture.group, picture.type))
        is_whole = all(len({picture.file in files for picture in own}) == 1 for own in plants.values())
        is_small = 2 * len(pictures) < len(self._pictures)
        return is_whole and not is_small and len(self._pictures) <= MAX_AUGMENTED_PICTURES


@dataclass(frozen=True)
class _Pass:
    """One pass over the pictures: the features to extract, and the weight of a row relative to its picture.

    `multiplicity` gives the indices of the pictures of the pass with the number of pictures that each stands for; None:
    all pictures, each for itself.
    """

    extractor: FeatureExtractor
    weight: float
    multiplicity: dict[int, float] | None = None


def build_training_set(
    pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, extractor: FeatureExtractor
) -> TrainingSet:
    """Extract the features of pictures and of their augmentations."""
    passes = _plan_passes(pictures, recipe, extractor)
    n_rows = sum(len(pictures if own.multiplicity is None else own.multiplicity) for own in passes)
    vectors: dict[str, np.ndarray] = {}
    rows_of_pictures: dict[int, int] = {}
    confidence: list[float] = []
    rows: list[tuple[int, int, float]] = []
    for number, own in enumerate(passes):
        queried: Sequence[int] = range(len(pictures))
        if number:
            queried = [index for index in own.multiplicity or rows_of_pictures if index in rows_of_pictures]
        with closing(loader.stream([pictures[index] for index in queried], own.extractor)) as stream:
            for index, features in zip(queried, stream, strict=True):
                if features is None:
                    continue
                for name in recipe.experts:
                    vector = features.vectors[name]
                    if name not in vectors:
                        # At the first picture, not after the work on all of them.
                        check_memory(name, recipe.experts[name], n_rows, len(vector))
                        vectors[name] = make_array(n_rows, len(vector), np.float16, loader.folder)
                    vectors[name][len(rows)] = vector
                if not number:
                    rows_of_pictures[index] = len(confidence)
                    confidence.append(features.confidence)
                weight = own.weight * (own.multiplicity[index] if own.multiplicity else 1)
                rows.append((rows_of_pictures[index], number, weight))
    indices, augmentations, weights = zip(*rows, strict=True) if rows else ((), (), ())
    return TrainingSet(
        recipe,
        [pictures[index] for index in rows_of_pictures],
        np.array(confidence),
        np.array(indices, int),
        np.array(augmentations, int),
        np.array(weights, float),
        {name: own[: len(rows)] for name, own in vectors.items()},
        loader.folder,
    )


def _plan_passes(pictures: Sequence[Picture], recipe: Recipe, extractor: FeatureExtractor) -> list[_Pass]:
    """List the passes over the pictures; the first takes them unchanged."""
    passes = [_Pass(extractor, 1.0)]
    if len(pictures) > MAX_AUGMENTED_PICTURES:
        return passes
    for number in range(1, recipe.jittered + 1):
        augmented = replace(extractor, augmentation=Augmentation("jitter", number))
        passes.append(_Pass(augmented, JITTERED_WEIGHT / recipe.jittered))
    if sources := _choose_composite_sources(pictures):
        for number in range(1, recipe.composited + 1):
            augmented = replace(extractor, augmentation=Augmentation("composite", number))
            passes.append(_Pass(augmented, COMPOSITED_WEIGHT / recipe.composited, sources))
    return passes


def _choose_composite_sources(pictures: Sequence[Picture]) -> dict[int, float]:
    """Choose the pictures to composite photos from, evenly among those of a plant, and how many each stands for."""
    sheets = [index for index, picture in enumerate(pictures) if picture.type is not AcquisitionType.PHOTO]
    by_plant = group_by(sheets, lambda index: (pictures[index].group, pictures[index].type))
    sources: dict[int, float] = {}
    for own in by_plant.values():
        number = min(len(own), MAX_COMPOSITED_PER_PLANT)
        sources.update(dict.fromkeys((own[len(own) * turn // number] for turn in range(number)), len(own) / number))
    return dict(sorted(sources.items()))
