"""What a report tells of one run beyond its scores: first answers, confusions, ranks, reliability."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.evaluation.judged_run import JudgedRun
from leafid.metrics.plant_task import top_k_scores
from leafid.runs.ground_truth import GroundTruth
from leafid.runs.run import Run


@dataclass(frozen=True)
class TopPredictions:
    """The species of rank 1 of each picture of the ground truth, in its order.

    Attributes
    ----------
    species : tuple of (str or None)
        None where the run says nothing of the picture.
    score : float64 (n,)
        Its score; NaN where there is none.
    right : bool (n,)
    """

    species: tuple[str | None, ...]
    score: NDArray[np.float64]
    right: NDArray[np.bool_]

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores lie from 0 to 1, so that they can be held against how often they are right."""
        known = self.score[~np.isnan(self.score)]
        return bool(len(known) and known.min() >= 0 and known.max() <= 1)


@dataclass(frozen=True)
class Confusion:
    """A species that was taken for another.

    Attributes
    ----------
    right, answered : str
    pictures : tuple of str
        The pictures, those of the surest wrong answers first.
    share : float
        Of all pictures of the right species.
    """

    right: str
    answered: str
    pictures: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class SpeciesScores:
    """How a run did on one species.

    Attributes
    ----------
    species : str
    pictures : int
    first, first_five : float
        Shares of its pictures with the right species at rank 1, and among the first five.
    taken_for : str or None
        What it was most often taken for.
    """

    species: str
    pictures: int
    first: float
    first_five: float
    taken_for: str | None


@dataclass(frozen=True)
class ReliabilityCurve:
    """How often answers of about one probability are right.

    Attributes
    ----------
    said, right : float64 (m,)
        Mean probability and share of right answers of each bin that isn't empty.
    count : int64 (m,)
        Answers in the bin.
    error : float
        The expected calibration error: the mean of ``|said - right|`` over answers, in [0, 1].
    """

    said: NDArray[np.float64]
    right: NDArray[np.float64]
    count: NDArray[np.intp]
    error: float


def find_top_predictions(run: Run, truth: GroundTruth) -> TopPredictions:
    """Find the species of rank 1 for each picture of the ground truth.

    Parameters
    ----------
    run : Run
        Predictions of other pictures are ignored.
    truth : Truth

    Returns
    -------
    TopPredictions
    """
    place = {name: index for index, name in enumerate(truth.pictures)}
    species: list[str | None] = [None] * len(truth)
    score = np.full(len(truth), np.nan)
    for row in np.flatnonzero(run.rank == 1):
        index = place.get(run.pictures[run.picture_index[row]])
        if index is not None:
            species[index] = run.species[run.species_index[row]]
            score[index] = run.score[row]
    right = np.array([said == known for said, known in zip(species, truth.species, strict=True)], bool)
    return TopPredictions(tuple(species), score, right)


def find_confusions(first: TopPredictions, truth: GroundTruth) -> list[Confusion]:
    """List which species were taken for which, the most pictures first.

    Parameters
    ----------
    first : FirstAnswers
    truth : Truth

    Returns
    -------
    list of Confusion
        Equal numbers are sorted by the share of the right species' pictures, then by name.
    """
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, (said, known) in enumerate(zip(first.species, truth.species, strict=True)):
        if said is not None and said != known:
            members[known, said].append(index)
    names, code = truth.column("species")
    total = dict(zip(names, np.bincount(code, minlength=len(names)).tolist(), strict=True))
    found = [
        Confusion(
            known,
            said,
            tuple(truth.pictures[i] for i in sorted(indices, key=lambda i: -first.score[i])),
            len(indices) / total[known],
        )
        for (known, said), indices in members.items()
    ]
    return sorted(found, key=lambda one: (-len(one.pictures), -one.share, one.right, one.answered))


def score_each_species(answers: JudgedRun, first: TopPredictions, truth: GroundTruth) -> list[SpeciesScores]:
    """Tell how a run did on each species, the best first.

    Parameters
    ----------
    answers : Answers
    first : FirstAnswers
        Of the same run.
    truth : Truth

    Returns
    -------
    list of SpeciesResult
        A picture that the run lacks counts as wrong.
    """
    worst: dict[str, str] = {}
    for one in find_confusions(first, truth):
        worst.setdefault(one.right, one.answered)
    names, code = truth.column("species")
    count = np.bincount(code, minlength=len(names))
    shares = [np.bincount(code, top_k_scores(answers.rank, k), len(names)) / count for k in (1, 5)]
    found = [
        SpeciesScores(name, int(count[i]), float(shares[0][i]), float(shares[1][i]), worst.get(name))
        for i, name in enumerate(names)
    ]
    return sorted(found, key=lambda one: (-one.first, -one.first_five, one.species))


def compute_rank_curve(rank: ArrayLike, deepest: int) -> NDArray[np.float64]:
    """Compute the share of pictures with the right species among the first k, for every k up to `deepest`.

    Parameters
    ----------
    rank : int array (n,)
        The right species' rank, from 1; 0 where it isn't named.
    deepest : int

    Returns
    -------
    float64 (deepest,)
        Never falling, in [0, 1].

    Examples
    --------
    >>> rank_curve([1, 3, 0, 1], 4)
    array([0.5 , 0.5 , 0.75, 0.75])
    """
    ranks = np.asarray(rank)
    inside = ranks[(ranks >= 1) & (ranks <= deepest)]
    return np.cumsum(np.bincount(inside, minlength=deepest + 1)[1:]) / len(ranks)


def compute_reliability(probability: ArrayLike, right: ArrayLike, n_bins: int = 10) -> ReliabilityCurve:
    """Hold the probability of answers against how often they are right.

    Parameters
    ----------
    probability : float array (n,)
        In [0, 1].
    right : bool array (n,)
    n_bins : int, default 10
        Bins of equal width; 1 belongs to the last.

    Returns
    -------
    ReliabilityCurve

    References
    ----------
    .. [1] C. Guo et al., "On calibration of modern neural networks", ICML 2017, section 2; arXiv:1706.04599.

    Examples
    --------
    >>> found = reliability([0.9, 0.9, 0.1, 0.1], [True, False, False, False])
    >>> found.right.tolist(), round(found.error, 2)
    ([0.0, 0.5], 0.25)
    """
    said, hit = np.asarray(probability, np.float64), np.asarray(right, bool)
    bins = np.minimum((said * n_bins).astype(np.intp), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    used = count > 0
    mean_said = np.bincount(bins, said, n_bins)[used] / count[used]
    mean_right = np.bincount(bins, hit.astype(np.float64), n_bins)[used] / count[used]
    error = float(np.abs(mean_said - mean_right) @ count[used] / max(len(said), 1))
    return ReliabilityCurve(mean_said, mean_right, count[used], error)
