from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.errors import UsageError
from leafid.model.held_out import HeldOutAnswers
from leafid.model.thresholds import SetRule, Thresholds, fit_thresholds
from leafid.pictures.picture import Picture, Taxon


def learned(right=(0.2, 0.4, 0.9), sizes=(0.5, 1, 3), falling=(0.9, 0.5, 0.0)):
    return Thresholds(
        np.array(sizes, float),
        np.array(falling, float),
        np.sort(np.array(right, float)),
    )


def literal_coverage(right, coverage):
    """The largest value (or 0) below which at most this number of right species lie."""
    allowed = int((len(right) + 1) * (1 - coverage) + 1e-9)
    if allowed == 0:
        return 0.0
    return max(
        value
        for value in right
        if sum(probability < value for probability in right) < allowed
    )


@given(
    st.lists(
        st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]), min_size=1, max_size=30
    ),
    st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99]),
)
def test_coverage_is_the_literal_one(right, coverage):
    assert learned(right).threshold_for_coverage(coverage) == literal_coverage(
        right, coverage
    )


def test_sizes_between_and_beyond():
    thresholds = learned()
    assert thresholds.threshold_for_size(1) == 0.5
    assert thresholds.threshold_for_size(2) == 0.25
    assert thresholds.threshold_for_size(3) == thresholds.threshold_for_size(50) == 0.0
    assert thresholds.threshold_for_size(0.01) == 0.9


WRONG = [
    "",
    "top-0",
    "top-2.5",
    "top--1",
    "top-²",
    "average-0",
    "average-nan",
    "coverage-0",
    "coverage-1",
    "best-5",
]


@pytest.mark.parametrize("word", WRONG)
def test_rules_that_are_none(word):
    with pytest.raises(
        UsageError, match=r"expected sets as top-K, average-K or coverage-P .*, found"
    ):
        SetRule.parse(word)


TAXA = {
    name: Taxon(name, name.split()[0], "Fagaceae")
    for name in ("Fagus sylvatica", "Quercus ilex", "Quercus robur")
}


def test_backing_off_is_fitted_to_plants_whatever_the_number_of_their_pictures():
    random = np.random.default_rng(0)
    probabilities, labels = (
        random.dirichlet(np.full(3, 0.4), 60),
        random.integers(3, size=60),
    )

    def fit(rows):
        taxa = [TAXA[list(TAXA)[label]] for label in labels[rows]]
        pictures = [
            Picture(Path("1.jpg"), taxon=taxon, plant=str(row))
            for row, taxon in zip(rows, taxa, strict=True)
        ]
        held_out = HeldOutAnswers(
            pictures, probabilities[rows], tuple(TAXA), np.ones(len(rows), bool)
        )
        return fit_thresholds(held_out, TAXA).back_off

    rows = np.arange(60)
    assert fit(np.append(rows, np.repeat(rows[:10], 20))) == fit(rows)
