"""How far probabilities agree with how often they are right."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.metrics.averages import accuracy_score
from leafid.scoring.plant_task import select_types
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth

N_BINS = 15

#: Of what is named first for some pictures, the probability and whether it is correct, (n,); and the pictures' plants.
FirstSpecies = tuple[NDArray[np.float64], NDArray[np.bool_], Sequence[str]]


def expected_calibration_error(confidence: ArrayLike, is_correct: ArrayLike, n_bins: int = N_BINS) -> float:
    """Average the difference between confidence and accuracy over bins of equal mass; in [0, 1], NaN without pictures.

    `confidence` is the probability of the species that is named, float (n,). A bin holds consecutive pictures in the
    order of their confidence; pictures of equal confidence share a bin.

    References
    ----------
    .. [1] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops 2019, section 3

    Examples
    --------
    Two of three pictures with a confidence of 0.9 are correct, one of three with 0.4:

    >>> round(expected_calibration_error([0.9, 0.9, 0.9, 0.4, 0.4, 0.4], [1, 1, 0, 1, 0, 0], n_bins=2), 3)
    0.15
    """
    probabilities = np.asarray(confidence, np.float64)
    if not len(probabilities):
        return float("nan")
    # Pictures of equal confidence share a bin, so that their order makes no difference.
    _, level, counts = np.unique(probabilities, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(probabilities)
    bins = (middle * n_bins).astype(np.intp)[level]
    gaps = probabilities - np.asarray(is_correct, np.float64)
    return float(np.abs(np.bincount(bins, gaps)).sum() / len(probabilities))


def collect_first_species(runs: Iterable[Run], truth: GroundTruth) -> dict[str, FirstSpecies]:
    """Collect the first species of each picture, by a name for run and acquisition type.

    A picture that a run lacks counts as named wrongly with probability 0. A `LeafidError` is raised when the score of a
    first species is no probability, or scores contradict ranks.
    """
    named: dict[str, FirstSpecies] = {}
    for run in runs:
        first, picture, species = truth.locate(run.select(run.rank == 1))
        first.check_probabilities()
        run.check_order()
        confidence, is_correct = np.zeros(len(truth)), np.zeros(len(truth), bool)
        confidence[picture] = first.score
        is_correct[picture] = species == truth.encode("species")[1][picture]
        for type_, indices in select_types(truth).items():
            plants = [truth.plant[index] for index in indices]
            named[f"{run.name}, {type_}"] = confidence[indices], is_correct[indices], plants
    return named


def make_reliability_table(named: Mapping[str, FirstSpecies], first_column: str = "pictures of") -> Table:
    """Tabulate how reliable the probabilities of first species are, by a name for each group of pictures.

    A single plant has no ECE, as its pictures are correct or wrong together.
    """
    rows: list[list[Cell]] = []
    for name, (confidence, is_correct, plants) in named.items():
        n_plants = len(set(plants))
        error = expected_calibration_error(confidence, is_correct) if n_plants > 1 else None
        rows.append([name, len(plants), n_plants, accuracy_score(is_correct), accuracy_score(confidence), error])
    headings = [first_column, "pictures", "plants", "top-1", "confidence", "ECE"]
    notes = [f"ECE: {N_BINS} bins of equal mass; few plants raise it, even if probabilities are calibrated"]
    return Table("Reliability of the probability of the first species", headings, rows, notes)
