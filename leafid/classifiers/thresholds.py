"""How sure an identifier must be to name a species, or a set of species: what held-out plants taught, kept small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leafid.errors import LeafidError, UsageError
from leafid.metrics.set_valued import compute_coverage_rank

# Of more pictures than this, evenly spaced ones are kept: a coverage is then met to less than a thousandth too much.
MAX_KEPT = 4096


@dataclass(frozen=True)
class Thresholds:
    """What held-out plants taught of one identifier; enough for sets of any mean size and of any coverage.

    Attributes
    ----------
    sizes : float64 (m,)
        Mean sizes of sets, rising.
    size_thresholds : float64 (m,)
        The probability from which a species is named so that held-out sets had that mean size; falling.
    right : float64 (r,)
        Probabilities that right species got, rising: those of the ranks `kept_ranks` tells.
    n_right : int
        How many pictures those are of.
    back_off : float or None
        The least probability that a taxon is answered with; None where it could not be fitted.
    """

    sizes: np.ndarray
    size_thresholds: np.ndarray
    right: np.ndarray
    n_right: int
    back_off: float | None = None

    def of_size(self, size: float) -> float:
        """Give the probability from which a species is named, so that sets have a mean size.

        Parameters
        ----------
        size : float
            Above 0. Exact where it is one of `sizes`, which hold the whole numbers up to 100; interpolated between.

        Returns
        -------
        float
            0, which names every species, from the largest of `sizes` on.

        Examples
        --------
        >>> Thresholds(np.array([1.0, 2.0]), np.array([0.5, 0.1]), np.array([0.9]), 1).of_size(1.5)
        0.3
        """
        if not size > 0:
            raise ValueError(f"expected a mean set size above 0, found {size}")
        if size >= self.sizes[-1]:
            return float(self.size_thresholds[-1])
        return float(np.interp(size, self.sizes, self.size_thresholds))

    def of_coverage(self, coverage: float) -> float:
        """Give the probability from which a species is named, so that sets hold the right one with a probability.

        Parameters
        ----------
        coverage : float
            In (0, 1).

        Returns
        -------
        float
            The ⌊(n + 1)(1 − coverage)⌋-th smallest probability that a right species got, of those kept the next
            smaller one; 0, which names every species, where there are too few pictures for that coverage.

        References
        ----------
        .. [1] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
           JASA 114, 2019, section 2, doi:10.1080/01621459.2017.1395341.

        Examples
        --------
        >>> one_to_nine = np.arange(1, 10) / 10
        >>> Thresholds(np.array([1.0]), np.array([0.5]), one_to_nine, 9).of_coverage(0.8)
        0.2
        """
        place = int(
            np.searchsorted(kept_ranks(self.n_right), compute_coverage_rank(self.n_right, coverage), side="right")
        )
        return float(self.right[place - 1]) if place else 0.0


def kept_ranks(number: int) -> np.ndarray:
    """List the ranks, from 1, of sorted values of which some are kept: all, or `MAX_KEPT` evenly spaced ones."""
    return np.unique(np.round(np.linspace(1, number, min(number, MAX_KEPT))).astype(np.int64))


@dataclass(frozen=True)
class SetRule:
    """How to make sets of species.

    Attributes
    ----------
    kind : {"top", "average", "coverage"}
        The likeliest ones; as many on average; as many as hold the right one with a probability.
    value : float
        How many, or the probability.
    """

    kind: Literal["top", "average", "coverage"]
    value: float

    @classmethod
    def parse(cls, word: str) -> SetRule:
        """Read ``top-5``, ``average-2.5`` or ``coverage-0.9``.

        Raises
        ------
        UsageError
            When it is none of these.
        """
        kind, _, tail = word.partition("-")
        try:
            value = float(tail)
        except ValueError:
            value = math.nan
        if kind == "top" and tail.isascii() and tail.isdigit() and 1 <= value < math.inf:
            return cls("top", value)
        if kind == "average" and 0 < value < math.inf:
            return cls("average", value)
        if kind == "coverage" and 0 < value < 1:
            return cls("coverage", value)
        raise UsageError(
            f"expected sets as top-K, average-K or coverage-P (top-5, average-2.5, coverage-0.9), found {word!r}"
        )


def set_of(
    ranking: Sequence[tuple[str, float]], rule: SetRule, thresholds: Thresholds | None
) -> list[tuple[str, float]]:
    """Take the species of a picture's set.

    Parameters
    ----------
    ranking : sequence of (str, float)
        Of all species, the likeliest first.
    rule : SetRule
    thresholds : Thresholds or None
        Of the identifier; not needed for the likeliest ones.

    Returns
    -------
    list of (str, float)
        Maybe empty.

    Raises
    ------
    LeafidError
        When the rule needs thresholds and there are none.

    Examples
    --------
    >>> set_of([("Olea europaea", 0.7), ("Salix alba", 0.3)], SetRule("top", 1), None)
    [('Olea europaea', 0.7)]
    """
    if rule.kind == "top":
        return list(ranking[: int(rule.value)])
    if thresholds is None:
        raise LeafidError(
            "the model keeps no thresholds: its training had no species with two plants, or was by an older program; "
            "train it again on more plants, or ask for top-K sets"
        )
    least = thresholds.of_size(rule.value) if rule.kind == "average" else thresholds.of_coverage(rule.value)
    return [(species, probability) for species, probability in ranking if probability >= least]
