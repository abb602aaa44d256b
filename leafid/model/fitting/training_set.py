"""The training set of identifiers: pictures unchanged, jittered, and composited into photos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.grouping import group_by
from leafid.learning.rows import TrainingRows, make_array, make_rows, release_memory
from leafid.model.bundled import find_encoders
from leafid.pictures.picture import AcquisitionType, Picture

#: Number of training pictures above which there are no augmentations: a large set varies enough.
MAX_AUGMENTED_PICTURES = 20_000
#: Maximum number of pictures of a plant and type that photos are composited from: pictures of one plant resemble each
#: other.
MAX_COMPOSITED_PER_PLANT = 8
#: Weights of all jittered copies of a picture, and of all composited photos, relative to the picture itself.
JITTERED_WEIGHT, COMPOSITED_WEIGHT = 0.5, 1.0


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The rows of the training vectors: first one for each picture, then one for each augmented picture."""

    recipe: Recipe
    extractor: FeatureExtractor
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
    #: The rows that were made, by the expert's name, for further fits; None: they are not kept.
    rows: dict[str, TrainingRows] | None = None

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

    def read_vectors(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Read vectors of an expert, given by their rows."""
        vectors = self.vectors[name][rows]
        release_memory(self.vectors[name])
        return vectors

    def make_rows(self, name: str) -> TrainingRows:
        """Make the training rows of an expert, or take those that are kept."""
        if self.rows and name in self.rows:
            return self.rows[name]
        expert = self.recipe.experts[name]
        domains = self.number_domains() if expert.centre_types else None
        rows = make_rows(self.vectors[name], expert.feature_map, not expert.is_local, domains, self.folder)
        if self.rows is not None:
            self.rows[name] = rows
        return rows


def build_training_set(
    pictures: Sequence[Picture],
    recipe: Recipe,
    loader: FeatureLoader,
    seed: int = 0,
    extractor: FeatureExtractor | None = None,
) -> TrainingSet:
    """Extract the features of the labelled pictures that a recipe trains on, and of their augmentations.

    Without an extractor, its encoders are learned from them with the seed, or are those of the bundled model.
    """
    pictures = [p for p in pictures if p.type in recipe.training_types and p.species is not None]
    if extractor is None:
        encoders = find_encoders(recipe, pictures, loader, seed)
        extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
    if recipe.composited:
        # Of the types that it doesn't serve, the pictures that photos are composited from are enough.
        sources, kept = set(_choose_composite_sources(pictures)), {*recipe.types, AcquisitionType.PHOTO}
        pictures = [picture for index, picture in enumerate(pictures) if index in sources or picture.type in kept]
    passes = _plan_passes(pictures, recipe, extractor)
    n_rows = sum(len(weights) for _, weights in passes)
    vectors: dict[str, np.ndarray] = {}
    # Of the pictures that can be read, by their indices.
    positions: dict[int, int] = {}
    confidence: list[float] = []
    rows: list[tuple[int, int, float]] = []
    for number, (own, weights) in enumerate(passes):
        queried = [index for index in weights if number == 0 or index in positions]
        with closing(loader.stream([pictures[index] for index in queried], own)) as stream:
            for index, features in zip(queried, stream, strict=True):
                if features is None:
                    continue
                if number == 0:
                    positions[index] = len(positions)
                    confidence.append(features.confidence)
                for name, vector in features.vectors.items():
                    if name not in vectors:
                        vectors[name] = make_array(n_rows, len(vector), np.float16, loader.folder)
                    vectors[name][len(rows)] = vector
                rows.append((positions[index], number, weights[index]))
        for own_vectors in vectors.values():
            release_memory(own_vectors)
    indices, augmentations, relative_weights = zip(*rows, strict=True) if rows else ((), (), ())
    return TrainingSet(
        recipe,
        extractor,
        [pictures[index] for index in positions],
        np.array(confidence),
        np.array(indices, int),
        np.array(augmentations, int),
        np.array(relative_weights, float),
        {name: own[: len(rows)] for name, own in vectors.items()},
        loader.folder,
    )


def _plan_passes(
    pictures: Sequence[Picture], recipe: Recipe, extractor: FeatureExtractor
) -> list[tuple[FeatureExtractor, dict[int, float]]]:
    """List the passes over the pictures, with the relative weights of those in each; the first takes all unchanged."""
    everything = list(range(len(pictures)))
    passes = [(extractor, dict.fromkeys(everything, 1.0))]
    if len(pictures) > MAX_AUGMENTED_PICTURES:
        return passes
    sources = _choose_composite_sources(pictures)
    copies = [(Augmentation("jitter", turn + 1), everything, JITTERED_WEIGHT) for turn in range(recipe.jittered)]
    copies += [(Augmentation("composite", turn + 1), sources, COMPOSITED_WEIGHT) for turn in range(recipe.composited)]
    for augmentation, indices, weight in copies:
        number = recipe.jittered if augmentation.kind == "jitter" else recipe.composited
        passes.append((replace(extractor, augmentation=augmentation), dict.fromkeys(indices, weight / number)))
    return passes


def _choose_composite_sources(pictures: Sequence[Picture]) -> list[int]:
    """Choose the pictures to composite photos from, evenly among those of a plant; ascending indices."""
    sheets = [index for index, picture in enumerate(pictures) if picture.type is not AcquisitionType.PHOTO]
    by_plant = group_by(sheets, lambda index: (pictures[index].group, pictures[index].type))
    numbers = {plant: min(len(own), MAX_COMPOSITED_PER_PLANT) for plant, own in by_plant.items()}
    return sorted(own[len(own) * k // numbers[plant]] for plant, own in by_plant.items() for k in range(numbers[plant]))
