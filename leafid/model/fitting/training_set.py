"""The training set of an identifier: its pictures unchanged, jittered, and composited into photos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import ClassifierSettings, Recipe
from leafid.grouping import group_by
from leafid.learning.cross_fitting import check_memory
from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.linear import compute_raw_weights, compute_sample_weights
from leafid.pictures.picture import AcquisitionType, Picture

#: Number of training pictures above which there are no augmentations: a large set varies enough.
MAX_AUGMENTED_PICTURES = 20_000
#: Maximum number of pictures of a plant and type that photos are composited from. They stand for all: pictures of one
#: plant resemble each other.
MAX_COMPOSITED_PER_PLANT = 8
#: Weights of all jittered copies of a picture, and of all composited photos, relative to the picture itself.
JITTERED_WEIGHT, COMPOSITED_WEIGHT = 0.5, 1.0


@dataclass(frozen=True)
class TrainingSet:
    """What the rows of the training vectors are: first one for each picture, then one for each augmented picture."""

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

    def find_rows(self, pictures: np.ndarray) -> np.ndarray:
        """Find all rows of some pictures, given by their indices."""
        return np.flatnonzero(np.isin(self.picture_indices, pictures))

    def select(self, is_selected: np.ndarray) -> tuple[TrainingSet, np.ndarray]:
        """Select pictures by a mask, bool (n_pictures,); also give the indices of their rows."""
        rows = np.flatnonzero(is_selected[self.picture_indices])
        selected = TrainingSet(
            [picture for picture, is_own in zip(self.pictures, is_selected, strict=True) if is_own],
            self.confidence[is_selected],
            np.cumsum(is_selected)[self.picture_indices[rows]] - 1,
            self.augmentations[rows],
            self.relative_weights[rows],
        )
        return selected, rows

    def number_domains(self, recipe: Recipe) -> np.ndarray:
        """Give the domain of each row, its type and augmentation: augmented pictures of a type resemble each other."""
        types = np.array([recipe.training_types.index(p.type) for p in self.pictures if p.type is not None])
        return types[self.picture_indices] + len(recipe.training_types) * self.augmentations

    def weigh_rows(self, picture_weights: np.ndarray) -> np.ndarray:
        """Turn weights of pictures, (n_pictures,), into weights of rows, (n_rows,), with the same sum."""
        if not self.augmentations.any():
            return picture_weights
        weights = picture_weights[self.picture_indices] * self.relative_weights
        total = weights.sum()
        return weights * (picture_weights.sum() / total) if total else weights


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
    pictures: Sequence[Picture],
    recipe: Recipe,
    loader: FeatureLoader,
    extractor: FeatureExtractor,
    vectors: Mapping[str, DiskBackedArray],
) -> TrainingSet:
    """Extract the features of pictures and of their augmentations; append the vectors of each expert to its array."""
    passes = _plan_passes(pictures, recipe, extractor)
    n_rows = sum(len(pictures if own.multiplicity is None else own.multiplicity) for own in passes)
    rows_of_pictures: dict[int, int] = {}
    confidence: list[float] = []
    picture_indices: list[int] = []
    augmentations: list[int] = []
    relative_weights: list[float] = []
    for number, own in enumerate(passes):
        queried: Sequence[int] = range(len(pictures))
        if number:
            queried = [index for index in own.multiplicity or rows_of_pictures if index in rows_of_pictures]
        with closing(loader.stream([pictures[index] for index in queried], own.extractor)) as stream:
            for index, features in zip(queried, stream, strict=True):
                if features is None:
                    continue
                for name, array in vectors.items():
                    vector = features.vectors[name]
                    if not picture_indices:
                        # At the first picture, not after the work on all of them.
                        check_memory(name, recipe.experts[name], n_rows, len(vector))
                    array.append(vector[None])
                if not number:
                    rows_of_pictures[index] = len(confidence)
                    confidence.append(features.confidence)
                picture_indices.append(rows_of_pictures[index])
                augmentations.append(number)
                relative_weights.append(own.weight * (own.multiplicity[index] if own.multiplicity else 1))
    return TrainingSet(
        [pictures[index] for index in rows_of_pictures],
        np.array(confidence),
        np.array(picture_indices, int),
        np.array(augmentations, int),
        np.array(relative_weights),
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


def weigh_pictures(
    pictures: Sequence[Picture], labels: np.ndarray, folds: Sequence[np.ndarray], settings: ClassifierSettings
) -> list[np.ndarray]:
    """Give the training weight of each picture: in training on all of them, then in training without each fold.

    A fold's own pictures weigh 0 and are not counted: they would make their species seem more frequent than it is
    among those that are trained on. Scans and photos of one plant count as two plants: they don't resemble each other.
    """
    plants = _list_plants(pictures)
    weights = []
    for fold in (np.array([], int), *folds):
        rest = np.setdiff1d(np.arange(len(labels)), fold)
        own = np.zeros(len(labels))
        if len(rest):
            own[rest] = compute_sample_weights(
                labels[rest], plants[rest], settings.species_balance, settings.plant_balance
            )
        weights.append(own)
    return weights


def weigh_alone(pictures: Sequence[Picture], labels: np.ndarray, settings: ClassifierSettings) -> np.ndarray:
    """Give each picture the weight that it has relative to one whose species and plant have no other picture."""
    return compute_raw_weights(labels, _list_plants(pictures), settings.species_balance, settings.plant_balance)


def _list_plants(pictures: Sequence[Picture]) -> np.ndarray:
    return np.array([f"{picture.group} {picture.type}" for picture in pictures])
