"""Probability thresholds for sets of species and for backing off.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity
   and a long-tailed distribution", NeurIPS Datasets and Benchmarks 2021, section 2.
.. [2] C. Denis, M. Hebiri, "Confidence sets with expected sizes for multiclass
   classification", JMLR 18, 2017.
.. [3] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with
   bounded error levels", JASA 114, 2019, doi:10.1080/01621459.2017.1395341.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from leafid.errors import LeafidError, UsageError
from leafid.metrics.hierarchy import (
    back_off,
    find_likeliest_taxa,
    fit_back_off_threshold,
)
from leafid.metrics.sets import fit_average_k_thresholds
from leafid.model.answer import Answer
from leafid.model.held_out import HeldOutAnswers
from leafid.model.judgement import Decision
from leafid.pictures.picture import AcquisitionType, Taxon
from leafid.pictures.splitting.units import weigh_by_plant
from leafid.pictures.taxonomy import WILDCARD, Taxonomy
from leafid.textfiles import parse_finite_number

# Thresholds are fitted for mean set sizes that are whole numbers up to this one, and
# for this many others, whose logarithms are evenly spaced.
_WHOLE_SIZES = 100
_OTHER_SIZES = 200
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of one identifier, for sets of any mean size and any coverage."""

    #: float64 (m,): mean set sizes, ascending.
    sizes: np.ndarray
    #: float64 (m,): the least probabilities of species in held-out sets of these mean
    #: sizes; descending.
    size_thresholds: np.ndarray
    #: float64 (n,): held-out probabilities of the correct species, ascending.
    correct_probabilities: np.ndarray
    #: Minimum probability of a taxon to be answered; None where it could not be fitted.
    back_off: float | None = None

    def threshold_for_size(self, size: float) -> float:
        """Compute the minimum probability of a species in sets of a mean size, above 0.

        It is exact for `sizes`, which include whole numbers up to 100, and interpolated
        between; 0 from the largest size on.

        Examples
        --------
        >>> sizes, least = np.array([1.0, 2.0]), np.array([0.5, 0.1])
        >>> Thresholds(sizes, least, np.array([0.9])).threshold_for_size(1.5)
        0.3
        """
        return float(np.interp(size, self.sizes, self.size_thresholds))

    def threshold_for_coverage(self, coverage: float) -> float:
        """Compute the minimum probability of a species in sets of a coverage.

        The sets hold the correct species with this probability, in (0, 1). It is the
        ⌊(n + 1)(1 − coverage)⌋-th smallest of the correct species' probabilities; 0, so
        that sets hold all species, where there are too few pictures for the coverage
        ([3]_, section 2).

        Examples
        --------
        >>> one_to_nine = np.arange(1, 10) / 10
        >>> thresholds = Thresholds(np.array([1.0]), np.array([0.5]), one_to_nine)
        >>> thresholds.threshold_for_coverage(0.8)
        0.2
        """
        # The summand keeps rounding from making 10 · (1 - 0.9) less than 1.
        rank = math.floor((len(self.correct_probabilities) + 1) * (1 - coverage) + 1e-9)
        if not rank:
            return 0.0
        return float(self.correct_probabilities[rank - 1])


@dataclass(frozen=True)
class SetRule:
    """Which species are in a set.

    These are the top K, K on average, or enough to include the correct one with
    probability P.
    """

    kind: Literal["top", "average", "coverage"]
    value: float

    @classmethod
    def parse(cls, word: str) -> SetRule:
        """Read ``top-5``, ``average-2.5`` or ``coverage-0.9``.

        Anything else raises a `UsageError`.
        """
        kind, _, tail = word.partition("-")
        value = parse_finite_number(tail) or 0.0
        if kind == "top" and tail.isdigit() and value >= 1:
            return cls("top", value)
        if kind == "average" and value > 0:
            return cls("average", value)
        if kind == "coverage" and 0 < value < 1:
            return cls("coverage", value)
        raise UsageError(
            "expected sets as top-K, average-K or coverage-P "
            f"(top-5, average-2.5, coverage-0.9), found {word!r}"
        )


def select_set(
    ranking: Sequence[tuple[str, float]], rule: SetRule, thresholds: Thresholds | None
) -> list[tuple[str, float]]:
    """Select the species of a picture's set, which may be empty, from a whole ranking.

    A `LeafidError` is raised when the rule needs thresholds, as all but top-K sets do,
    and there are none.

    Examples
    --------
    >>> ranking = [("Olea europaea", 0.7), ("Salix alba", 0.3)]
    >>> select_set(ranking, SetRule("top", 1), None)
    [('Olea europaea', 0.7)]
    """
    if rule.kind == "top":
        return list(ranking[: int(rule.value)])
    if thresholds is None:
        raise LeafidError(
            "the model keeps no thresholds: its training had no species with two "
            "plants; train it again on more plants, or ask for top-K sets"
        )
    if rule.kind == "average":
        least = thresholds.threshold_for_size(rule.value)
    else:
        least = thresholds.threshold_for_coverage(rule.value)
    return [
        (species, probability)
        for species, probability in ranking
        if probability >= least
    ]


def back_off_answer(
    answer: Answer, thresholds: Mapping[AcquisitionType, Thresholds | None]
) -> Answer:
    """Name the species, or the lowest taxon above it that is probable enough.

    A `LeafidError` is raised when the type of a picture has no threshold for that.
    """
    if answer.problem:
        return answer
    # Without a leaf all species are equally probable: a threshold of 0 would select the
    # alphabet's first.
    least = 0.0 if answer.has_leaf else math.inf
    for part in answer.parts or [answer]:
        if part.type is None:
            continue
        fitted = thresholds[part.type]
        if fitted is None or fitted.back_off is None:
            raise LeafidError(
                "the model has no back-off threshold for pictures of type "
                f"{part.type}: its training set had no species with two plants, or its "
                "labels form no taxonomy; leave out --back-off, or train it again"
            )
        least = max(least, fitted.back_off)
    by_species = dict(answer.ranking)
    taxonomy = Taxonomy(answer.taxa[name] for name in sorted(by_species))
    probabilities = np.array([by_species[name] for name in taxonomy.species])
    [taxon] = back_off(probabilities[None], taxonomy.path_table, least)
    rank = answer.decision
    if rank == "species":
        n_names = sum(part != WILDCARD for part in taxonomy.find_path(taxon[0]))
        ranks = ("unknown", *taxonomy.ranks)
        rank = cast(Decision, ranks[n_names])
    return replace(answer, decision=rank, backed_off=taxon)


def fit_thresholds(
    held_out: HeldOutAnswers, taxa: Mapping[str, Taxon]
) -> Thresholds | None:
    """Fit the thresholds of sets and of backing off on held-out answers.

    Only pictures of known species count: an identifier that was trained on all plants
    knows all of its species. Sets are fitted on pictures, as their definitions demand.
    For backing off every plant counts once: the pictures to identify later show other
    plants. Where the taxa are no tree, there is no `back_off`, which is logged.

    Parameters
    ----------
    held_out : HeldOutAnswers
    taxa : mapping of str to Taxon
        By the species' names.

    Returns
    -------
    Thresholds or None
        None without a picture of known species.
    """
    known = held_out.select_known()
    if not known.pictures:
        return None
    probabilities = known.probabilities
    labels = known.labels
    sizes = _choose_sizes(len(held_out.species))
    label_probabilities = np.sort(probabilities[np.arange(len(labels)), labels])
    least = None
    try:
        tree = Taxonomy(taxa[name] for name in held_out.species)
        if len(tree.ranks) > 1:
            answers, masses = find_likeliest_taxa(probabilities, tree.path_table)
            correct = [held_out.species[label] for label in labels]
            errors = [[*map(tree.compute_error, correct, row)] for row in answers]
            least = fit_back_off_threshold(
                np.array(errors), masses, weigh_by_plant(known.pictures)
            )
    except LeafidError as error:
        _log.warning("no threshold for backing off could be fitted: %s", error)
    return Thresholds(
        sizes,
        fit_average_k_thresholds(probabilities, sizes.tolist()),
        label_probabilities,
        least,
    )


def _choose_sizes(n_species: int) -> np.ndarray:
    """Choose mean set sizes: whole ones up to 100, and others a few per cent apart.

    The last one is all species.
    """
    whole = np.arange(1, min(n_species, _WHOLE_SIZES) + 1)
    spaced = np.geomspace(0.05, n_species, _OTHER_SIZES)
    return np.unique(
        np.concatenate([whole, spaced[spaced < n_species], [n_species]]).astype(
            np.float64
        )
    )
