"""Species that training knows from pictures of other acquisition types only, and by how much to raise their scores.

The classifiers have seen many pictures of the type, none of such a species, and learn that it doesn't look like them.
How much too low its scores are shows in held-out plants: of many species they are the only ones of their type.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Penalty of the squared rise of log-probabilities: few plants raise the scores little.
RISE_PENALTY = 0.003
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
    """
    from scipy.optimize import minimize_scalar

    is_gap = gaps[np.arange(len(labels)), labels]
    if not is_gap.any():
        return 0.0
    share = importance / importance.sum()
    mass = np.einsum("ij,ij->i", probabilities, gaps)
    evidence = float(share @ is_gap)

    def compute_loss(rise: float) -> float:
        return float(share @ np.log1p(mass * np.expm1(rise))) - rise * evidence + RISE_PENALTY * rise**2

    rise = float(minimize_scalar(compute_loss, bounds=(0, _MAX_RISE), method="bounded").x)
    return rise if compute_loss(rise) < 0 else 0.0
