"""Answers of identifiers to pictures of plants that they weren't trained on; scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from leafid.metrics.averages import (
    accuracy_score,
    average_by_group,
    average_score,
    to_indices,
    top_k_scores,
)
from leafid.pictures.picture import Picture

#: The metrics that `held_out_scores` computes, in the order of tables.
HELD_OUT_METRICS = ("S", "top-1", "top-5", "per-plant")


@dataclass(frozen=True, eq=False)
class HeldOutAnswers:
    """Species probabilities of labelled pictures.

    The classifiers were trained without the plant of the picture.
    """

    #: All are of the identifier's type; of a large collection, they are of a sample of
    #: its plants.
    pictures: list[Picture]
    #: float64 (n, n_species), with a column for each of `species`.
    probabilities: np.ndarray
    species: tuple[str, ...]
    #: bool (n,): whether another plant of the picture's species was trained on;
    #: otherwise the answer can't be correct.
    is_known: np.ndarray

    def select_known(self) -> HeldOutAnswers:
        """Select the pictures of known species."""
        return self.select(self.is_known)

    def select(self, mask: np.ndarray) -> HeldOutAnswers:
        """Select pictures by a mask, bool (n,)."""
        pictures = [*compress(self.pictures, mask)]
        return HeldOutAnswers(
            pictures, self.probabilities[mask], self.species, self.is_known[mask]
        )

    @property
    def labels(self) -> np.ndarray:
        """The column of each picture's species, intp (n,).

        -1 for one that `species` lacks.
        """
        columns = {name: column for column, name in enumerate(self.species)}
        return np.array(
            [columns.get(str(picture.species), -1) for picture in self.pictures],
            np.intp,
        )


def held_out_scores(answers: Sequence[HeldOutAnswers]) -> dict[str, float]:
    """Score the held-out answers of several folds together.

    Parameters
    ----------
    answers : sequence of HeldOutAnswers
        Of folds that share no picture.

    Returns
    -------
    dict of str to float
        `HELD_OUT_METRICS` from 0 to 1, unless there is no picture of a known species;
        ``pictures``, the number scored; and ``unseen``, the number left out because
        their species is unknown.
    """
    known = [fold.select_known() for fold in answers]
    pictures = [picture for fold in known for picture in fold.pictures]
    counts: dict[str, float] = {
        "pictures": len(pictures),
        "unseen": sum(len(fold.pictures) for fold in answers) - len(pictures),
    }
    if not pictures:
        return counts
    rank = np.concatenate([rank_labels(fold) for fold in known])
    plants = [picture.group for picture in pictures]
    is_first = top_k_scores(rank)
    scores = {
        "S": average_score(
            is_first, [picture.author or "" for picture in pictures], plants
        ),
        "top-1": accuracy_score(is_first),
        "top-5": accuracy_score(top_k_scores(rank, 5)),
        "per-plant": accuracy_score(average_by_group(is_first, to_indices(plants))),
    }
    return scores | counts


def rank_labels(answers: HeldOutAnswers) -> np.ndarray:
    """Rank each picture's label among all species.

    Parameters
    ----------
    answers : HeldOutAnswers

    Returns
    -------
    (n,), int
        From 1; 0 where the species lack the label. Equally likely species rank in the
        order of the columns.
    """
    is_label = (
        np.argsort(-answers.probabilities, axis=1, kind="stable")
        == answers.labels[:, None]
    )
    return np.where(is_label.any(axis=1), is_label.argmax(axis=1) + 1, 0)
