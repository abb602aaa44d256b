"""How far probabilities agree with how often they are right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.learning.averages import accuracy_score
from leafid.scoring.plant_task import select_types
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth

N_BINS = 15


def expected_calibration_error(
    confidence: ArrayLike, is_correct: ArrayLike, n_bins: int = N_BINS, weights: ArrayLike | None = None
) -> float:
    """Average the difference between confidence and accuracy over bins of equal mass; in [0, 1], NaN without pictures.

    `confidence` is the probability of the species that is named, float (n,). A bin holds consecutive pictures in the
    order of their confidence; pictures of equal confidence share a bin. `weights`, float (n,), say how much each
    picture counts; equally by default.

    References
    ----------
    .. [1] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops 2019, section 3

    Examples
    --------
    Two of three pictures with a confidence of 0.9 are correct, one of three with 0.4:

    >>> round(expected_calibration_error([0.9, 0.9, 0.9, 0.4, 0.4, 0.4], [1, 1, 0, 1, 0, 0], n_bins=2), 3)
    0.15
    """
    mass = np.ones(len(np.asarray(confidence))) if weights is None else np.asarray(weights, np.float64)
    if not mass.sum():
        return float("nan")
    # Pictures of equal confidence share a bin, so that their order makes no difference.
    _, level = np.unique(np.asarray(confidence, np.float64), return_inverse=True)
    level_mass = np.bincount(level, mass)
    middle = (np.cumsum(level_mass) - level_mass / 2) / mass.sum()
    bins = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)[level]
    gaps = mass * (np.asarray(confidence, np.float64) - np.asarray(is_correct, np.float64))
    return float(np.abs(np.bincount(bins, gaps)).sum() / mass.sum())


@dataclass(frozen=True)
class FirstSpecies:
    """What is named first for some pictures: its probability and whether it is correct; and the pictures' plants."""

    confidence: NDArray[np.float64]
    is_correct: NDArray[np.bool_]
    plants: Sequence[str]


def collect_first_species(run: Run, truth: GroundTruth) -> dict[str, FirstSpecies]:
    """Collect the first species of each picture that a run names, by acquisition type.

    A `LeafidError` is raised when the score of a first species is no probability, or scores contradict ranks.
    """
    own, picture, species = truth.locate(run)
    is_first = own.rank == 1
    first, picture = own.select(is_first), picture[is_first]
    first.check_probabilities()
    run.check_order()
    is_correct = species[is_first] == truth.encode("species")[1][picture]
    groups = {name: np.isin(picture, indices) for name, indices in select_types(truth).items()}
    return {
        name: FirstSpecies(first.score[chosen], is_correct[chosen], [truth.unit[index] for index in picture[chosen]])
        for name, chosen in groups.items()
        if chosen.any()
    }


def make_reliability_table(
    named: Mapping[str, FirstSpecies], bootstrap: Bootstrap, first_column: str = "pictures of"
) -> Table:
    """Tabulate how reliable the probabilities of first species are, by a name for each group of pictures."""
    rows: list[list[Cell]] = []
    for name, own in named.items():
        columns = own.confidence, own.is_correct
        names, plant = np.unique(own.plants, return_inverse=True)
        interval: tuple[float | None, float | None] = (None, None)
        if len(names):
            random, shares = np.random.default_rng(bootstrap.seed), np.full(len(names), 1 / len(names))
            times = random.multinomial(len(names), shares, bootstrap.resamples)
            errors = [expected_calibration_error(*columns, weights=drawn[plant]) for drawn in times]
            interval = bootstrap.compute_interval(errors)
        means = accuracy_score(own.is_correct), accuracy_score(own.confidence)
        rows.append([name, len(plant), len(names), *means, expected_calibration_error(*columns), *interval])
    headings = ["pictures", "plants", "top-1", "confidence", "ECE", "ECE low", "ECE high"]
    notes = [
        f"ECE: {N_BINS} bins of equal mass; low, high: {100 * bootstrap.confidence:g}% interval, bootstrap over "
        f"plants, {bootstrap.resamples} resamples, seed {bootstrap.seed}",
    ]
    return Table("Reliability of the probability of the first species", [first_column, *headings], rows, notes)
