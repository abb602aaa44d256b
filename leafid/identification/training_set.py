"""What an identifier learns from: pictures as they are, variants of them, and photos staged with their leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from leafid.classifiers.cross_fitting import check_memory
from leafid.classifiers.disk_backed_array import DiskBackedArray
from leafid.collection.picture import AcquisitionType, Picture
from leafid.features.augmentation import Augmentation
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.recipes.recipe import Recipe

#: Of more pictures no variants are made and no photos staged: so many show by themselves what these stand for.
MAX_AUGMENTED_PICTURES = 20_000
#: Pictures of one plant look alike: of so many of them, at most, of each type photos are staged, and count for all.
MAX_COMPOSITED_PER_PLANT = 8


@dataclass(frozen=True)
class TrainingSet:
    """The rows of an expert's training vectors: first a row for each picture, then one for each look made of one.

    Attributes
    ----------
    pictures : list of Picture
        Those that could be read.
    confidence : float64 (n_pictures,)
        How sure the segmentation is of each.
    shown : int (n_rows,)
        The index of the picture that a row shows.
    look : int (n_rows,)
        0: the picture as it is; from 1: variants, then staged photos.
    share : float64 (n_rows,)
        What a row counts, as a part of what the picture as it is counts.
    """

    pictures: list[Picture]
    confidence: np.ndarray
    shown: np.ndarray
    look: np.ndarray
    share: np.ndarray

    def rows(self, pictures: np.ndarray) -> np.ndarray:
        """Find all rows that show some of the pictures, given by their indices."""
        return np.flatnonzero(np.isin(self.shown, pictures))

    def weights(self, of_pictures: np.ndarray) -> np.ndarray:
        """Make what rows count of what pictures do; the sum stays.

        Parameters
        ----------
        of_pictures : float (n_pictures,)

        Returns
        -------
        float64 (n_rows,)
        """
        if not self.look.any():
            return of_pictures
        weights = of_pictures[self.shown] * self.share
        total = weights.sum()
        return weights * (of_pictures.sum() / total) if total else weights


@dataclass(frozen=True)
class _Look:
    """A way to look at pictures, and what one counts then.

    `stands_for` gives the indices of those looked at, and for how many pictures each stands; None: each for itself.
    """

    extractor: FeatureExtractor
    share: float
    stands_for: dict[int, float] | None = None


def build_training_set(
    pictures: Sequence[Picture],
    recipe: Recipe,
    loader: FeatureLoader,
    extractor: FeatureExtractor,
    vectors: Mapping[str, DiskBackedArray],
) -> TrainingSet:
    """Describe pictures and what is made of them, and write the vectors of each expert away.

    Parameters
    ----------
    pictures : sequence of Picture
        Each of a known type.
    recipe : Recipe
    loader : FeatureLoader
    extractor : FeatureExtractor
    vectors : mapping of str to Spool
        Empty; for each expert's.

    Returns
    -------
    TrainingSet
        Of the pictures that could be read.
    """
    looks = _looks(pictures, recipe, extractor)
    n_rows = sum(len(pictures if look.stands_for is None else look.stands_for) for look in looks)
    places: dict[int, int] = {}
    confidence: list[float] = []
    shown: list[int] = []
    numbers: list[int] = []
    shares: list[float] = []
    for number, look in enumerate(looks):
        asked: Sequence[int] = range(len(pictures))
        if number:
            asked = [index for index in look.stands_for or places if index in places]
        with closing(loader.stream([pictures[index] for index in asked], look.extractor)) as stream:
            for index, described in zip(asked, stream, strict=True):
                if described is None:
                    continue
                for name, disk_backed_array in vectors.items():
                    vector = described.vectors[name]
                    if not shown:
                        # Found out now rather than after the work on all pictures.
                        check_memory(name, recipe.experts[name].classifier, n_rows, len(vector))
                    disk_backed_array.append(vector[None])
                if not number:
                    places[index] = len(confidence)
                    confidence.append(described.confidence)
                shown.append(places[index])
                numbers.append(number)
                shares.append(look.share * (look.stands_for[index] if look.stands_for else 1))
    read = [pictures[index] for index in places]
    return TrainingSet(read, np.array(confidence), np.array(shown, int), np.array(numbers, int), np.array(shares))


def _looks(pictures: Sequence[Picture], recipe: Recipe, extractor: FeatureExtractor) -> list[_Look]:
    """List the ways to look at pictures; first as they are."""
    as_they_are = _Look(extractor, 1.0)
    if len(pictures) > MAX_AUGMENTED_PICTURES:
        return [as_they_are]
    variants = [
        _Look(replace(extractor, augmentation=Augmentation("jitter", number)), recipe.jittered_weight / recipe.jittered)
        for number in range(1, recipe.jittered + 1)
    ]
    to_stage = _to_stage(pictures)
    staged = [
        _Look(
            replace(extractor, augmentation=Augmentation("composite", number)),
            recipe.composited_weight / recipe.composited,
            to_stage,
        )
        for number in range(1, recipe.composited + 1)
        if to_stage
    ]
    return [as_they_are, *variants, *staged]


def _to_stage(pictures: Sequence[Picture]) -> dict[int, float]:
    """Choose the pictures that photos are staged of, evenly among those of a plant, and for how many each stands."""
    of_plants: dict[tuple[str, AcquisitionType | None], list[int]] = {}
    for index, picture in enumerate(pictures):
        if picture.type is not AcquisitionType.PHOTO:
            of_plants.setdefault((picture.group, picture.type), []).append(index)
    chosen: dict[int, float] = {}
    for own in of_plants.values():
        number = min(len(own), MAX_COMPOSITED_PER_PLANT)
        chosen.update(dict.fromkeys((own[len(own) * turn // number] for turn in range(number)), len(own) / number))
    return dict(sorted(chosen.items()))
