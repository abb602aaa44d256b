"""What an identifier learns from: pictures as they are, and variants of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from leafid.collection.picture import Picture
from leafid.learning.describing import Describer
from leafid.learning.descriptions import Descriptions
from leafid.learning.fitting import check_bounded
from leafid.learning.recipe import Recipe
from leafid.learning.spool import Spool

#: Of more pictures no variants are made: so many show by themselves what variants stand for.
VARIED_PICTURES = 20_000


@dataclass(frozen=True)
class TrainingSet:
    """The rows of an expert's training vectors: first a row for each picture, then one for each variant.

    Attributes
    ----------
    pictures : list of Picture
        Those that could be read.
    confidence : float64 (n_pictures,)
        How sure the segmentation is of each.
    shown : int (n_rows,)
        The index of the picture that a row shows.
    variant : int (n_rows,)
        Its variant; 0: the picture as it is.
    """

    pictures: list[Picture]
    confidence: np.ndarray
    shown: np.ndarray
    variant: np.ndarray

    def rows(self, pictures: np.ndarray) -> np.ndarray:
        """Find all rows that show some of the pictures, given by their indices."""
        return np.flatnonzero(np.isin(self.shown, pictures))

    def weights(self, of_pictures: np.ndarray, of_variants: float) -> np.ndarray:
        """Share out what pictures count among their rows; the sum stays.

        Parameters
        ----------
        of_pictures : float (n_pictures,)
        of_variants : float
            What all variants of a picture count together, as a part of what the picture as it is counts.

        Returns
        -------
        float64 (n_rows,)
        """
        n_variants = int(self.variant.max(initial=0))
        if not n_variants:
            return of_pictures
        share = np.where(self.variant > 0, of_variants / n_variants, 1.0)
        return of_pictures[self.shown] * share / (1 + of_variants)


def gather(
    pictures: Sequence[Picture],
    recipe: Recipe,
    descriptions: Descriptions,
    describer: Describer,
    vectors: Mapping[str, Spool],
) -> TrainingSet:
    """Describe pictures and their variants, and write the vectors of each expert away.

    Parameters
    ----------
    pictures : sequence of Picture
    recipe : Recipe
    descriptions : Descriptions
    describer : Describer
    vectors : mapping of str to Spool
        Empty; for each expert's.

    Returns
    -------
    TrainingSet
        Of the pictures that could be read.
    """
    n_variants = recipe.variants if len(pictures) <= VARIED_PICTURES else 0
    places: dict[int, int] = {}
    confidence: list[float] = []
    shown: list[int] = []
    variant: list[int] = []
    for number in range(n_variants + 1):
        asked = range(len(pictures)) if not number else list(places)
        with closing(
            descriptions.stream([pictures[index] for index in asked], replace(describer, variant=number))
        ) as stream:
            for index, described in zip(asked, stream, strict=True):
                if described is None:
                    continue
                for name, spool in vectors.items():
                    vector = described.vectors[name]
                    if not shown:
                        # Found out now rather than after the work on all pictures.
                        n_rows = len(pictures) * (n_variants + 1)
                        check_bounded(name, recipe.experts[name], n_rows, len(vector))
                    spool.append(vector[None])
                if not number:
                    places[index] = len(confidence)
                    confidence.append(described.confidence)
                shown.append(places[index])
                variant.append(number)
    return TrainingSet([pictures[index] for index in places], np.array(confidence), np.array(shown), np.array(variant))
