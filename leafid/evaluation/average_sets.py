"""Average-K: scores of the sets that a run's own scores form, above a threshold that gives them K species on average.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, section 4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafid.errors import LeafidError
from leafid.evaluation.judged_run import judge_run
from leafid.learning.averages import accuracy_score, average_by_group, macro_average
from leafid.learning.thresholds import count_inside, place_threshold
from leafid.metrics.set_valued import compute_empty_share
from leafid.runs.ground_truth import GroundTruth
from leafid.runs.run import Run


@dataclass(frozen=True, slots=True)
class AverageKScores:
    """The scores of a run's sets at one mean size."""

    #: The mean size asked for.
    k: float
    #: The lowest score in a set.
    threshold: float
    #: The mean size of the sets that the threshold was fitted on; above `k` where scores are tied.
    fitted_size: float
    #: `accuracy`, `macro_accuracy`: share of the pictures with the correct species in the set; the same for each
    #: species, then their mean.
    accuracy: float
    macro_accuracy: float
    #: Mean size of the sets.
    size: float
    #: Share of the pictures with an empty set.
    empty_share: float
    #: How many pictures' lists, of both runs, end at or above the threshold although they don't name all species: what
    #: they leave out may belong to the set, and the threshold may be wrong.
    cut: int


def score_average_k(
    truth: GroundTruth,
    run: Run,
    sizes: Sequence[float],
    validation: Run | None = None,
    *,
    source: str = "",
    exclude_ties: bool = False,
) -> list[AverageKScores]:
    """Score the sets of a run whose mean size is k, for several k above 0; a picture that it lacks has an empty set.

    The threshold comes from the same system's run on `validation` pictures, by default from `run` itself, so that its
    own sets have k species on average; `source` names that run in messages. `exclude_ties` leaves scores that equal the
    threshold out where they would make the mean size larger than k; by default they are in, as in the authors'
    implementation. A `LeafidError` is raised when that run names too few species for a mean size, or scores contradict
    ranks.
    """
    if validation is None:
        # Pictures outside the ground truth don't count; those that the run lacks have no species above any threshold.
        in_truth = np.isin(run.pictures, truth.pictures)[run.picture_index]
        fitted, n_pictures = run.select(in_truth), len(truth)
    else:
        fitted, n_pictures = validation, len(validation.pictures)
    rising = np.sort(fitted.score)
    labels = truth.encode("species")[1]
    fitted.check_order()
    run.check_order()
    lists = [fitted] if validation is None else [fitted, run]
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
                f"{source or fitted.name}: expected scores of at least {k:g} species for each picture on average, "
                f"found {len(rising) / n_pictures:.3g}; write more species to the run"
            )
        judged = judge_run(run.select(run.score >= threshold), truth)
        hits = judged.rank > 0
        results.append(
            AverageKScores(
                k,
                threshold,
                float((rising >= threshold).sum() / n_pictures),
                accuracy_score(hits),
                macro_average(average_by_group(hits, labels)),
                accuracy_score(judged.size),
                compute_empty_share(judged.size),
                sum(_count_cut_lists(own, threshold, truth.known.species) for own in lists),
            )
        )
    return results


def _count_cut_lists(run: Run, threshold: float, species: frozenset[str]) -> int:
    """Count the pictures all of whose scores reach the threshold, of those for which not all species are named."""
    sizes = np.bincount(run.picture_index, minlength=len(run.pictures))
    n_inside = np.bincount(run.picture_index[run.score >= threshold], minlength=len(run.pictures))
    return int(((n_inside == sizes) & (sizes > 0) & (sizes < len(species.union(run.species)))).sum())
