"""Scores of sets of species, and of sets above a threshold of a run's scores.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity
   and a long-tailed distribution", NeurIPS Datasets and Benchmarks 2021, sections 2 and
   4.
.. [2] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with
   bounded error levels", JASA 114, 2019, doi:10.1080/01621459.2017.1395341.
"""

import logging
import math
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from leafid.errors import LeafidError
from leafid.grouping import count_noun
from leafid.metrics.averages import accuracy_score, average_by_group
from leafid.metrics.sets import count_inside, place_threshold
from leafid.scoring.judging import judge_run, strip_run_suffix
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.tables import Cell, Rows, Table

logger = logging.getLogger(__name__)


def score_average_k(
    truth: GroundTruth, run: Run, sizes: Sequence[float], validation: Run | None = None
) -> list[dict[str, Cell]]:
    """Score the sets of a run whose mean size is k, for several k.

    The threshold comes from the same system's run on `validation` pictures, by default
    from `run` itself, whose sets then have k species on average, as in [1]_.
    Scores that equal the threshold are in, as in the authors' implementation: where
    they are tied, the sets that it was fitted on are larger, which "size fitted" shows.
    A warning counts lists that don't name all species and end at or above the
    threshold: what they leave out may belong to the set.

    Parameters
    ----------
    truth : GroundTruth
    run : Run
        A picture that it lacks has an empty set.
    sizes : sequence of float
        Several k above 0.
    validation : Run, optional

    Returns
    -------
    list of dict
        The scores for each k, by the names of the table's columns.

    Raises
    ------
    LeafidError
        When the run that the threshold is fitted on names too few species for a mean
        size.
    """
    # Pictures outside the ground truth don't count; a picture that the run lacks has no
    # species above any threshold.
    fitted = validation or truth.locate(run)[0]
    n_pictures = len(validation.pictures) if validation else len(truth)
    runs = [*filter(None, [validation, run])]
    rising = np.sort(fitted.score)
    records = []
    for k in sizes:
        threshold = _fit_threshold(fitted, n_pictures, k)
        judged = judge_run(run.select(run.score >= threshold), truth)
        _warn_of_cut_lists(runs, threshold, k, truth.known.species)
        is_inside = judged.rank > 0
        accuracy = accuracy_score(is_inside)
        by_species = average_by_group(is_inside, judged.label)
        record: dict[str, Cell] = {
            "K": int(k) if float(k).is_integer() else k,
            "threshold": threshold,
            "size fitted": float((rising >= threshold).sum() / n_pictures),
            "accuracy": accuracy,
            "error": 1 - accuracy,
            "macro-average accuracy": accuracy_score(by_species),
            "mean size": accuracy_score(judged.size),
            "empty sets": accuracy_score(judged.size == 0),
        }
        records.append(record)
    return records


def _fit_threshold(run: Run, n_pictures: int, k: float) -> float:
    """Fit the threshold of sets of k species on average on a run on `n_pictures`."""
    rising = np.sort(run.score)
    n_inside = count_inside(n_pictures, k)
    if n_inside < len(rising):
        return place_threshold(rising, n_inside)
    if len(rising) == n_pictures * len(run.species):
        return -math.inf
    if len(rising) == n_inside:
        # The highest score that is out isn't known.
        return float(rising[0])
    raise LeafidError(
        f"{run.name}: expected scores of at least {k:g} species for each picture on "
        f"average, found {len(rising) / n_pictures:.3g}; write more species to the run"
    )


def _warn_of_cut_lists(
    runs: Sequence[Run], threshold: float, k: float, species: frozenset[str]
) -> None:
    """Warn of pictures without some species whose scores all reach a threshold."""
    n_cut = 0
    for run in runs:
        sizes = np.bincount(run.picture_index)
        inside = run.picture_index[run.score >= threshold]
        is_complete = np.bincount(inside, minlength=len(sizes)) == sizes
        n_species = len(species.union(run.species))
        n_cut += (is_complete & (sizes > 0) & (sizes < n_species)).sum()
    if n_cut:
        logger.warning(
            "%s: for K = %g, %s with a list that ends at or above the threshold, so "
            "that it may be wrong; write more species to the run",
            *(runs[0].name, k, count_noun(n_cut, "picture")),
        )


def make_average_table(
    truth: GroundTruth,
    runs: Sequence[Run],
    sizes: Sequence[float],
    validation: Sequence[Run] = (),
) -> Table:
    """Tabulate `score_average_k` of each run, with its validation run if it has one."""
    rows: Rows = []
    for run, fitted in zip_longest(runs, validation):
        records = score_average_k(truth, run, sizes, fitted)
        name = strip_run_suffix(run.name)
        rows += [[name, *record.values()] for record in records]
    origin = "the run itself"
    if validation:
        origin = "the validation run"
    note = (
        f"threshold: fitted on {origin}, where the sets have the mean size 'size "
        "fitted'"
    )
    title = "Sets of K species on average"
    return Table(title, ["run", *records[0]], rows, [note])
