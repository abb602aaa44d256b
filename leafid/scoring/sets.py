"""Set-valued prediction: scores of sets of species, of sets above a threshold of a run's scores, and of each species.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, sections 2 and 4, Table 1.
.. [2] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
   JASA 114, 2019, doi:10.1080/01621459.2017.1395341.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.errors import LeafidError
from leafid.learning.averages import accuracy_score, average_by_group, macro_average, top_k_scores
from leafid.learning.thresholds import count_inside, place_threshold
from leafid.scoring.plant_task import JudgedRun, judge_run
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth

#: The bins of [1]_, Table 1, by number of training pictures: the upper end belongs to the bin.
BINS = ("0-10", "10-50", "50-500", "500-2000", "> 2000")
_UPPER_ENDS = (10, 50, 500, 2000)


def average_by_bin(
    class_accuracy: ArrayLike, training_pictures: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Average the accuracies of the classes within `BINS` of their number of training pictures, and count the classes.

    A class without pictures (NaN) is left out; a bin without classes is NaN.

    Examples
    --------
    >>> average_by_bin([0.0, 0.5, 1.0], [10, 11, 50])[0][:2]
    array([0.  , 0.75])
    """
    accuracy = np.asarray(class_accuracy, np.float64)
    bins = np.searchsorted(_UPPER_ENDS, np.asarray(training_pictures), side="left")
    present = ~np.isnan(accuracy)
    counts = np.bincount(bins[present], minlength=len(BINS))
    return average_by_group(accuracy[present], bins[present], len(BINS)), counts


def score_sets(hits: ArrayLike, sizes: ArrayLike, species: ArrayLike) -> tuple[float, float, float, float]:
    """Score pictures' sets by whether they hold the correct species, their sizes, and the species, (n,) each.

    Returns the accuracy, its macro-average over the species, the mean size, and the share of empty sets.
    """
    return (
        accuracy_score(hits),
        macro_average(average_by_group(hits, species)),
        accuracy_score(sizes),
        accuracy_score(np.asarray(sizes) == 0),
    )


@dataclass(frozen=True, slots=True)
class AverageKScores:
    """The scores of the sets above a threshold of a run's scores, which gives them k species on average, as in [1]_."""

    #: The mean size asked for.
    k: float
    #: The lowest score in a set.
    threshold: float
    #: The mean size of the sets that the threshold was fitted on; above `k` where scores are tied.
    fitted_size: float
    #: Those of `score_sets`.
    accuracy: float
    macro_accuracy: float
    size: float
    empty_share: float
    #: How many pictures' lists, of both runs, end at or above the threshold although they don't name all species: what
    #: they leave out may belong to the set, and the threshold may be wrong.
    cut: int


def score_average_k(
    truth: GroundTruth, run: Run, sizes: Sequence[float], validation: Run | None = None, *, exclude_ties: bool = False
) -> list[AverageKScores]:
    """Score the sets of a run whose mean size is k, for several k above 0; a picture that it lacks has an empty set.

    The threshold comes from the same system's run on `validation` pictures, by default from `run` itself, so that its
    own sets have k species on average. `exclude_ties` leaves scores that equal the threshold out where they would make
    the mean size larger than k; by default they are in, as in the authors' implementation. A `LeafidError` is raised
    when that run names too few species for a mean size, or scores contradict ranks.
    """
    fitted, n_pictures, lists = run, len(truth), [run]
    if validation is None:
        # Pictures outside the ground truth don't count; those that the run lacks have no species above any threshold.
        fitted = run.select(np.isin(run.pictures, truth.pictures)[run.picture_index])
    else:
        fitted, n_pictures, lists = validation, len(validation.pictures), [validation, run]
    for own in lists:
        own.check_order()
    rising = np.sort(fitted.score)
    species = truth.encode("species")[1]
    results = []
    for k in sizes:
        n_inside = count_inside(n_pictures, k)
        if n_inside < len(rising):
            threshold = place_threshold(rising, n_inside, exclude_ties=exclude_ties)
        elif len(rising) == n_pictures * len(fitted.species):
            threshold = -math.inf
        elif len(rising) == n_inside:
            # The highest score that is out isn't known.
            threshold = float(rising[0])
        else:
            raise LeafidError(
                f"{fitted.name}: expected scores of at least {k:g} species for each picture on average, "
                f"found {len(rising) / n_pictures:.3g}; write more species to the run"
            )
        judged = judge_run(run.select(run.score >= threshold), truth)
        fitted_size = float((rising >= threshold).sum() / n_pictures)
        cut = sum(_count_cut_lists(own, threshold, truth.known.species) for own in lists)
        scores = score_sets(judged.rank > 0, judged.size, species)
        results.append(AverageKScores(k, threshold, fitted_size, *scores, cut))
    return results


def _count_cut_lists(run: Run, threshold: float, species: frozenset[str]) -> int:
    """Count the pictures all of whose scores reach the threshold, of those for which not all species are named."""
    sizes = np.bincount(run.picture_index, minlength=len(run.pictures))
    n_inside = np.bincount(run.picture_index[run.score >= threshold], minlength=len(run.pictures))
    return int(((n_inside == sizes) & (sizes > 0) & (sizes < len(species.union(run.species)))).sum())


def make_average_table(scores: Mapping[str, Sequence[AverageKScores]], origin: str) -> Table:
    """Tabulate the scores, by run, of sets with K species on average; `origin` is where the thresholds come from."""
    columns = ["run", "K", "threshold", "size fitted", "accuracy", "error", "macro-average accuracy"]
    rows: list[list[Cell]] = [
        [
            *(name, int(row.k) if row.k.is_integer() else row.k, row.threshold, row.fitted_size),
            *(row.accuracy, 1 - row.accuracy, row.macro_accuracy, row.size, row.empty_share),
        ]
        for name, found in scores.items()
        for row in found
    ]
    notes = [f"threshold: fitted on {origin}, where the sets have the mean size 'size fitted'"]
    return Table("Sets of K species on average", [*columns, "mean size", "empty sets"], rows, notes)


def make_set_tables(
    truth: GroundTruth, runs: Sequence[JudgedRun], training_pictures: Mapping[str, int] | None = None
) -> list[Table]:
    """Tabulate the scores of runs as set-valued predictions: a picture's set is all that the run names for it.

    `training_pictures` of each species add the accuracy by bins of them.
    """
    species = truth.encode("species")[1]
    contents, content = truth.encode("content")
    counts = np.bincount(content).tolist()
    rows: list[list[Cell]] = [[run.name, *score_sets(run.rank > 0, run.size, species)] for run in runs]
    content_rows: list[list[Cell]] = []
    for run in runs:
        columns = (average_by_group(value, content).tolist() for value in (run.rank > 0, run.size))
        content_rows += [[run.name, *row] for row in zip(contents, counts, *columns, strict=True)]
    headings = ["run", "accuracy", "macro-average accuracy", "mean size", "empty sets"]
    tables = [
        Table("Sets", headings, rows),
        Table("Sets by content", ["run", "content", "pictures", "accuracy", "mean size"], content_rows),
    ]
    if training_pictures is not None:
        values = {run.name: [run.rank > 0] for run in runs}
        title = "Sets by training pictures of the species"
        tables.append(_make_bin_table(title, truth, values, ["mean bin accuracy"], training_pictures))
    return tables


def make_macro_tables(
    truth: GroundTruth,
    runs: Sequence[JudgedRun],
    tops: Sequence[int],
    training_pictures: Mapping[str, int] | None = None,
) -> list[Table]:
    """Tabulate the top-K accuracies averaged over the species, and over those of each bin of training pictures."""
    species = truth.encode("species")[1]
    values = {run.name: [top_k_scores(run.rank, k) for k in tops] for run in runs}
    rows: list[list[Cell]] = [
        [name, *(macro_average(average_by_group(value, species)) for value in own)] for name, own in values.items()
    ]
    titles = [f"macro top-{k}" for k in tops]
    tables = [Table("Averages over the species", ["run", *titles], rows)]
    if training_pictures is not None:
        title = "Averages over the species by their training pictures"
        tables.append(_make_bin_table(title, truth, values, titles, training_pictures))
    return tables


def _make_bin_table(
    title: str,
    truth: GroundTruth,
    values: Mapping[str, Sequence[ArrayLike]],
    headings: Sequence[str],
    training_pictures: Mapping[str, int],
) -> Table:
    """Tabulate values of pictures, for each run and heading, averaged over the species of each bin."""
    names, species = truth.encode("species")
    trained = [training_pictures.get(name, 0) for name in names]
    rows: list[list[Cell]] = []
    for run, own in values.items():
        binned = [average_by_bin(average_by_group(value, species), trained) for value in own]
        columns = [BINS, binned[0][1].tolist(), *(accuracy.tolist() for accuracy, _ in binned)]
        rows += [[run, *row] for row in zip(*columns, strict=True)]
    return Table(title, ["run", "training pictures", "species", *headings], rows)
