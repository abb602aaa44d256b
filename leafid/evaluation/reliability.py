"""Scores how reliable the probabilities of first species are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leafid.evaluation.judged_run import find_indices
from leafid.evaluation.resampling import Bootstrap
from leafid.evaluation.summary import select_types
from leafid.learning.averages import accuracy_score
from leafid.metrics.calibration import (
    bootstrap_calibration_error,
    chance_calibration_error,
    expected_calibration_error,
)
from leafid.runs.ground_truth import GroundTruth
from leafid.runs.run import Run


@dataclass(frozen=True)
class FirstSpecies:
    """What is named first for some pictures: its probability and whether it is correct; and the pictures' plants."""

    confidence: NDArray[np.float64]
    is_correct: NDArray[np.bool_]
    plants: Sequence[str]


@dataclass(frozen=True)
class Reliability:
    """How reliable the probabilities of some pictures are."""

    pictures: int
    plants: int
    accuracy: float
    confidence: float
    error: float
    interval: tuple[float, float]
    #: What `error` is by chance where probabilities are calibrated.
    chance: float

    @property
    def beyond_chance(self) -> float:
        """`error` without what chance adds: independent differences add up by their squares."""
        return float(np.sqrt(np.clip(self.error**2 - self.chance**2, 0, None)))


def score_reliability(named: FirstSpecies, bootstrap: Bootstrap) -> Reliability:
    """Compute the calibration error, with its interval over plants."""
    columns = named.confidence, named.is_correct
    options = {"resamples": bootstrap.resamples, "seed": bootstrap.seed}
    samples = bootstrap_calibration_error(*columns, named.plants, **options)
    return Reliability(
        len(named.confidence),
        len(set(named.plants)),
        accuracy_score(named.is_correct),
        accuracy_score(named.confidence),
        expected_calibration_error(*columns),
        bootstrap.compute_interval(samples) if len(samples) else (float("nan"), float("nan")),
        chance_calibration_error(*columns, named.plants, **options),
    )


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
