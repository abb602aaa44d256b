"""Species that training knows from pictures of other acquisition types only, and by how much to raise their scores.

The classifiers have seen many pictures of the type, none of such a species, and learn that it doesn't look like them.
How much too low its scores are shows in held-out plants: of many species they are the only ones of their type.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Penalty of the squared rise of log-probabilities: few plants raise the scores little.
RISE_PENALTY = 0.003
# Odds that a picture is of a gap, divided by those that a species is a gap, which few plants may have by chance.
_MAX_ODDS_RATIO = 2.0
# Factor of 20,000, more than any rise that pictures can be evidence of.
_MAX_RISE = 10.0


class TypeGaps(NamedTuple):
    """Which species have no training picture of the identifier's type.

    `final`, bool (n_species,), is for training on all pictures; `held_out`, each bool (k, n_species), are for training
    without the fold of a picture, for several ways to divide the pictures into folds.
    """

    final: np.ndarray
    held_out: tuple[np.ndarray, ...]


def find_type_gaps(
    labels: np.ndarray, is_of_type: np.ndarray, partitions: Sequence[Sequence[np.ndarray]], indices: np.ndarray
) -> TypeGaps:
    """Find the gaps in training on pictures of the species `labels`, int (n,), where `is_of_type`, bool (n,).

    `partitions` are folds of pictures, and `indices`, int (k,), the pictures whose answers are held out.
    """
    n_species = int(labels.max()) + 1
    counts = np.bincount(labels[is_of_type], minlength=n_species)
    held_out = []
    for folds in partitions:
        gaps = np.tile(counts == 0, (len(indices), 1))
        for fold in folds:
            left = counts - np.bincount(labels[fold[is_of_type[fold]]], minlength=n_species)
            gaps[np.isin(indices, fold)] = left == 0
        held_out.append(gaps)
    return TypeGaps(counts == 0, tuple(held_out))


def fit_rise(probabilities: np.ndarray, gaps: np.ndarray, labels: np.ndarray, importance: np.ndarray) -> float:
    """Fit what is best added to the log-probabilities of gaps, 0 or more, by the likelihood of held-out pictures.

    `probabilities`, float (n, n_species), are of pictures with `gaps`, bool (n, n_species), and species `labels`, int
    (n,); `importance`, float (n,), are sample weights. The loss is convex in the rise.

    A plant that is the only one of its species and type is of a gap only because it is held out. Where many are, as in
    a training set with few pictures, being a gap would tell the species: the odds of pictures of gaps count at most as
    `_MAX_ODDS_RATIO` times those of species. Pictures without gaps tell nothing.
    """
    from scipy.optimize import minimize_scalar

    has_gaps = gaps.any(axis=1)
    probabilities, gaps, labels, importance = (own[has_gaps] for own in (probabilities, gaps, labels, importance))
    is_gap = gaps[np.arange(len(labels)), labels]
    if is_gap.all() or not is_gap.any():
        return 0.0
    frequency = float(np.average(gaps.mean(axis=1), weights=importance))
    odds = float(importance @ is_gap) / float(importance @ ~is_gap)
    max_odds = _MAX_ODDS_RATIO * frequency / (1 - frequency)
    share = importance * np.where(is_gap, min(max_odds / odds, 1.0), 1.0)
    share /= share.sum()
    mass = np.einsum("ij,ij->i", probabilities, gaps)
    evidence = float(share @ is_gap)

    def compute_loss(rise: float) -> float:
        return float(share @ np.log1p(mass * np.expm1(rise))) - rise * evidence + RISE_PENALTY * rise**2

    rise = float(minimize_scalar(compute_loss, bounds=(0, _MAX_RISE), method="bounded").x)
    return rise if compute_loss(rise) < 0 else 0.0
