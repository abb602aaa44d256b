"""Set-valued prediction: scores of sets of species, and of the sets above a threshold of a run's scores.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, sections 2 and 4.
.. [2] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
   JASA 114, 2019, doi:10.1080/01621459.2017.1395341.
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
from leafid.scoring.judging import judge_run, title_run
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.tables import Cell, Table

logger = logging.getLogger(__name__)


def score_average_k(
    truth: GroundTruth, run: Run, sizes: Sequence[float], validation: Run | None = None
) -> list[dict[str, Cell]]:
    """Score the sets of a run whose mean size is k, for several k above 0; a picture that it lacks has an empty set.

    The threshold comes from the same system's run on `validation` pictures, by default from `run` itself, so that its
    own sets have k species on average, as in [1]_. Scores that equal the threshold are in, as in the authors'
    implementation: where they are tied, the sets that it was fitted on are larger, which "size fitted" tells. A warning
    counts lists that don't name all species and end at or above the threshold: what they leave out may belong to the
    set. A `LeafidError` is raised when that run names too few species for a mean size, or scores contradict ranks.
    """
    # Pictures outside the ground truth don't count; those that the run lacks have no species above any threshold.
    fitted, n_pictures, lists = truth.locate(run)[0], len(truth), [run]
    if validation is not None:
        fitted, n_pictures, lists = (
            validation,
            len(validation.pictures),
            [validation, run],
        )
    for ranking in lists:
        ranking.check_order()
    rising = np.sort(fitted.score)
    records = []
    for k in sizes:
        n_inside = count_inside(n_pictures, k)
        if n_inside < len(rising):
            threshold = place_threshold(rising, n_inside)
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
        if cut := sum(
            _count_cut_lists(ranking, threshold, truth.known.species)
            for ranking in lists
        ):
            cut_lists = f"for K = {k:g}, {count_noun(cut, 'picture')} with a list that ends at or above the threshold"
            logger.warning(
                "%s: %s, so that it may be wrong; write more species to the run",
                fitted.name,
                cut_lists,
            )
        is_inside = judged.rank > 0
        accuracy = accuracy_score(is_inside)
        record: dict[str, Cell] = {
            "K": int(k) if float(k).is_integer() else k,
            "threshold": threshold,
            "size fitted": float((rising >= threshold).sum() / n_pictures),
            "accuracy": accuracy,
            "error": 1 - accuracy,
            "macro-average accuracy": accuracy_score(
                average_by_group(is_inside, judged.label)
            ),
            "mean size": accuracy_score(judged.size),
            "empty sets": accuracy_score(judged.size == 0),
        }
        records.append(record)
    return records


def _count_cut_lists(run: Run, threshold: float, species: frozenset[str]) -> int:
    """Count the pictures all of whose scores reach the threshold, of those for which not all species are named."""
    sizes = np.bincount(run.picture_index, minlength=len(run.pictures))
    n_inside = np.bincount(
        run.picture_index[run.score >= threshold], minlength=len(run.pictures)
    )
    return int(
        (
            (n_inside == sizes)
            & (sizes > 0)
            & (sizes < len(species.union(run.species)))
        ).sum()
    )


def make_average_table(
    truth: GroundTruth,
    runs: Sequence[Run],
    sizes: Sequence[float],
    validation: Sequence[Run] = (),
) -> Table:
    """Tabulate `score_average_k` of each run, with its own validation run if there are any."""
    records: list[dict[str, Cell]] = [
        {"run": title_run(run.name), **record}
        for run, fitted in zip_longest(runs, validation)
        for record in score_average_k(truth, run, sizes, fitted)
    ]
    origin = "the validation run" if validation else "the run itself"
    notes = [
        f"threshold: fitted on {origin}, where the sets have the mean size 'size fitted'"
    ]
    return Table(
        "Sets of K species on average",
        [*records[0]],
        [[*record.values()] for record in records],
        notes,
    )
