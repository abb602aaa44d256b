"""Scores a run on pictures of known and of unknown species, by how well it tells them apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leafid.evaluation.judged_run import find_indices
from leafid.evaluation.summary import ALL, TYPE_ORDER
from leafid.learning.averages import accuracy_score
from leafid.metrics.open_world import (
    area_under_roc,
    confident_share,
    false_positive_rate,
    mean_average_precision,
    open_set_classification_rate,
)
from leafid.runs.ground_truth import UNKNOWN_SPECIES, GroundTruth
from leafid.runs.run import Run


@dataclass(frozen=True, slots=True)
class OpenWorldScores:
    """A run's scores on some pictures of a ground truth that marks unknown ones."""

    #: The acquisition type; `leafid.evaluation.summary.ALL`.
    name: str
    #: `known`, `unknown`: numbers of pictures.
    known: int
    unknown: int
    #: Share of the known pictures whose species is named first.
    accuracy: float
    #: Mean average precision without the unknown pictures, and with them as distractors.
    closed_precision: float
    open_precision: float
    auroc: float
    oscr: float
    false_positives: float
    #: NaN where scores are no probabilities.
    confident: float


def score_open_world(run: Run, truth: GroundTruth) -> list[OpenWorldScores]:
    """Score a run by acquisition type, and on all pictures; unknown pictures are of the species `UNKNOWN_SPECIES`.

    The highest score of a picture says how surely it shows a known species. A picture that the run lacks, or for which
    the run names the unknown species first, is rejected. Types without known pictures are left out.
    """
    types = np.array(truth.type)
    is_known = np.array(truth.species) != UNKNOWN_SPECIES
    groups = {name: types == name for name in TYPE_ORDER if is_known[types == name].any()}
    return [_score(name, own, run, truth) for name, own in (groups | {ALL: np.ones(len(truth), bool)}).items()]


def _score(name: str, is_own: NDArray[np.bool_], run: Run, truth: GroundTruth) -> OpenWorldScores:
    names, labels = truth.encode("species")
    labels = np.where(np.array(names)[labels] == UNKNOWN_SPECIES, -1, labels)
    picture = find_indices(run.pictures, truth.pictures)[run.picture_index]
    # Species without a picture here can only be wrong.
    species = find_indices(run.species, names)[run.species_index]
    is_species = np.array([name != UNKNOWN_SPECIES for name in run.species], bool)[run.species_index]
    kept = (picture >= 0) & is_own[picture]
    first = kept & (run.rank == 1) & is_species
    best = np.full(len(labels), -np.inf)
    best[picture[first]] = run.score[first]
    is_correct = np.zeros(len(labels), bool)
    is_correct[picture[first]] = species[first] == labels[picture[first]]
    is_known, is_unknown = is_own & (labels >= 0), is_own & (labels < 0)
    known, unknown = best[is_known], best[is_unknown]
    counted = kept & is_species & (species >= 0)
    is_probability = ((run.score >= 0) & (run.score <= 1)).all()

    def average_precision(predictions: NDArray[np.bool_]) -> float:
        pictures, kinds, scores = (column[predictions] for column in (picture, species, run.score))
        return mean_average_precision(np.where(is_own, labels, -1), pictures, kinds, scores, len(names))

    return OpenWorldScores(
        name,
        len(known),
        len(unknown),
        accuracy_score(is_correct[is_known]),
        average_precision(counted & is_known[picture]),
        average_precision(counted),
        area_under_roc(known, unknown),
        open_set_classification_rate(known, is_correct[is_known], unknown),
        false_positive_rate(known, unknown),
        confident_share(unknown, np.isfinite(unknown)) if is_probability else float("nan"),
    )
