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
from leafid.scoring.truth import GroundTruth, find_indices

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
    gaps = mass * (np.asarray(confidence, np.float64) - np.asarray(is_correct, np.float64))
    return float(np.abs(np.bincount(_assign_bins(confidence, n_bins, mass), gaps)).sum() / mass.sum())


def bootstrap_calibration_error(
    confidence: ArrayLike, is_correct: ArrayLike, plants: ArrayLike, *, resamples: int = 1000, seed: int = 0
) -> NDArray[np.float64]:
    """Compute the error of resamples in which the plants are drawn with replacement; float64 (resamples,)."""
    _, plant = np.unique(np.asarray(plants), return_inverse=True)
    if not len(plant):
        return np.empty(0)
    n_plants = plant.max() + 1
    times = np.random.default_rng(seed).multinomial(n_plants, np.full(n_plants, 1 / n_plants), resamples)
    return np.array([expected_calibration_error(confidence, is_correct, weights=own[plant]) for own in times])


def chance_calibration_error(
    confidence: ArrayLike, is_correct: ArrayLike, plants: ArrayLike, *, resamples: int = 1000, seed: int = 0
) -> float:
    """Estimate the error that calibrated probabilities have by chance, as few plants fill a bin.

    In each resample the difference of confidence and accuracy changes its sign for a random half of the plants, so that
    it is 0 on average. Its size, and how alike the pictures of a plant are, stay.
    """
    _, plant = np.unique(np.asarray(plants), return_inverse=True)
    gaps = np.zeros((plant.max(initial=-1) + 1, N_BINS))
    difference = np.asarray(confidence, np.float64) - np.asarray(is_correct, np.float64)
    np.add.at(gaps, (plant, _assign_bins(confidence, N_BINS, np.ones(len(plant)))), difference)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (resamples, len(gaps)))
    return float(np.abs(signs @ gaps).sum(axis=1).mean() / len(plant)) if len(plant) else float("nan")


def _assign_bins(confidence: ArrayLike, n_bins: int, mass: NDArray[np.float64]) -> NDArray[np.intp]:
    """Assign each picture to a bin; those of equal confidence share one, so that their order makes no difference."""
    _, level = np.unique(np.asarray(confidence, np.float64), return_inverse=True)
    level_mass = np.bincount(level, mass)
    middle = (np.cumsum(level_mass) - level_mass / 2) / mass.sum()
    return np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)[level]


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
    first = run.select(run.rank == 1)
    picture = find_indices(first.pictures, truth.pictures)[first.picture_index]
    first, picture = first.select(picture >= 0), picture[picture >= 0]
    first.check_probabilities()
    run.check_order()
    names, labels = truth.encode("species")
    is_correct = find_indices(first.species, names)[first.species_index] == labels[picture]
    groups = {name: np.isin(picture, indices) for name, indices in select_types(truth).items()}
    return {
        name: FirstSpecies(first.score[own], is_correct[own], [truth.unit[index] for index in picture[own]])
        for name, own in groups.items()
        if own.any()
    }


def make_reliability_table(
    named: Mapping[str, FirstSpecies], bootstrap: Bootstrap, first_column: str = "pictures of"
) -> Table:
    """Tabulate how reliable the probabilities of first species are, by a name for each group of pictures."""
    rows: list[list[Cell]] = []
    for name, own in named.items():
        columns = own.confidence, own.is_correct
        options = {"resamples": bootstrap.resamples, "seed": bootstrap.seed}
        error = expected_calibration_error(*columns)
        samples = bootstrap_calibration_error(*columns, own.plants, **options)
        interval = bootstrap.compute_interval(samples) if len(samples) else (None, None)
        chance = chance_calibration_error(*columns, own.plants, **options)
        # Independent differences add up by their squares.
        beyond = float(np.sqrt(np.clip(error**2 - chance**2, 0, None)))
        counts = len(own.plants), len(set(own.plants))
        means = accuracy_score(own.is_correct), accuracy_score(own.confidence)
        rows.append([name, *counts, *means, error, *interval, chance, beyond])
    headings = ["pictures", "plants", "top-1", "confidence", "ECE", "ECE low", "ECE high", "by chance", "beyond"]
    notes = [
        f"ECE: {N_BINS} bins of equal mass; low, high: {100 * bootstrap.confidence:g}% interval, bootstrap over "
        f"plants, {bootstrap.resamples} resamples, seed {bootstrap.seed}",
        "by chance: the mean ECE of calibrated probabilities of as many plants; beyond: the ECE without it, by squares",
    ]
    return Table("Reliability of the probability of the first species", [first_column, *headings], rows, notes)
