"""The training set of identifiers: pictures unchanged, jittered, and composited into photos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader, get_type
from leafid.features.recipe import Recipe
from leafid.grouping import group_by
from leafid.learning.rows import TrainingRows, make_array, make_rows, release_memory
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.training.encoders import find_encoders

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
        sources = set(_choose_composite_sources(pictures))
        types = {*recipe.types, *(type_ for type_ in AcquisitionType if not type_.lies_on_sheet)}
        pictures = [picture for index, picture in enumerate(pictures) if index in sources or picture.type in types]
    blocks = _plan_blocks(pictures, recipe)
    lengths = [len(block.pictures) for block in blocks]
    starts = np.cumsum([0, *lengths])
    vectors: dict[str, np.ndarray] = {}
    confidence = np.full(len(pictures), np.nan)
    # Pictures with the same augmentations are read once for all of them.
    numbers_of = [
        tuple(k for k, block in enumerate(blocks) if index in block.pictures) for index in range(len(pictures))
    ]
    for numbers, indices in group_by(range(len(pictures)), lambda index: numbers_of[index]).items():
        augmentations, own = [blocks[k].augmentation for k in numbers], [pictures[index] for index in indices]
        with closing(loader.stream_augmented(own, extractor, augmentations)) as stream:
            for index, found in zip(indices, stream, strict=True):
                if found is None:
                    continue
                confidence[index] = found[0].confidence
                for k, features in zip(numbers, found, strict=True):
                    for name, vector in features.vectors.items():
                        if name not in vectors:
                            vectors[name] = make_array(int(starts[-1]), len(vector), np.float16, loader.folder)
                        vectors[name][starts[k] + blocks[k].pictures[index]] = vector
        for array in vectors.values():
            release_memory(array)
    is_read = np.isfinite(confidence)
    rows = np.concatenate([np.fromiter(block.pictures, int) for block in blocks])
    kept = slice(None) if is_read.all() else np.flatnonzero(is_read[rows])
    return TrainingSet(
        recipe,
        extractor,
        [pictures[index] for index in np.flatnonzero(is_read)],
        confidence[is_read],
        (np.cumsum(is_read) - 1)[rows[kept]],
        np.repeat(np.arange(len(blocks)), lengths)[kept],
        np.repeat([block.weight for block in blocks], lengths)[kept],
        {name: own[kept] for name, own in vectors.items()},
        loader.folder,
    )


class _Block(NamedTuple):
    """Rows of one augmentation, or of the pictures themselves."""

    augmentation: Augmentation | None
    #: The place of each picture, given by its index, in the block.
    pictures: dict[int, int]
    #: Relative to that of the picture itself.
    weight: float


def _plan_blocks(pictures: Sequence[Picture], recipe: Recipe) -> list[_Block]:
    """Plan the blocks of rows; the first has all pictures unchanged."""
    everything = {index: index for index in range(len(pictures))}
    blocks = [_Block(None, everything, 1.0)]
    if len(pictures) > MAX_AUGMENTED_PICTURES:
        return blocks
    sources = {index: place for place, index in enumerate(_choose_composite_sources(pictures))}
    for k in range(recipe.jittered):
        blocks.append(_Block(Augmentation("jitter", k + 1), everything, JITTERED_WEIGHT / recipe.jittered))
    for k in range(recipe.composited):
        blocks.append(_Block(Augmentation("composite", k + 1), sources, COMPOSITED_WEIGHT / recipe.composited))
    return blocks


def _choose_composite_sources(pictures: Sequence[Picture]) -> list[int]:
    """Choose the pictures to composite photos from, evenly among those of a plant; ascending indices."""
    sheets = [index for index, picture in enumerate(pictures) if get_type(picture).lies_on_sheet]
    by_plant = group_by(sheets, lambda index: (pictures[index].group, pictures[index].type))
    numbers = {plant: min(len(own), MAX_COMPOSITED_PER_PLANT) for plant, own in by_plant.items()}
    return sorted(own[len(own) * k // numbers[plant]] for plant, own in by_plant.items() for k in range(numbers[plant]))
