from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.metrics.averages import accuracy_score, average_by_group, average_score, encode
from leafid.scoring.plant_task import weigh_in_groups
from leafid.scoring.resampling import (
    Bootstrap,
    WeightedScore,
    bootstrap_scores,
    correct_holm,
    randomisation_test,
)

AVERAGES = {
    "S": average_score,
    "plants": lambda values, authors, plants: accuracy_score(average_by_group(values, encode(plants))),
    "pictures": lambda values, _authors, _plants: accuracy_score(values),
}
pictures = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30
)


def columns(rows):
    return [np.array(column) for column in zip(*rows, strict=True)]


@settings(deadline=None, max_examples=50)
@given(pictures, st.sampled_from(sorted(AVERAGES)))
def test_every_average_is_a_weighted_sum(rows, average):
    authors, plants, values = columns(rows)
    weights, groups = weigh_in_groups(average, authors, plants)
    weights = weights / (groups.max() + 1)
    assert weights.sum() == pytest.approx(1)
    assert weights @ values == pytest.approx(AVERAGES[average](values, authors, plants), abs=1e-12)


def score_slowly(average, rows):
    """The mean of means over the pictures of a resample, each (author, plant, number of the draw, value)."""
    authors, plants, draws, values = zip(*rows, strict=True)
    return AVERAGES[average](values, authors, [f"{p} {d}" for p, d in zip(plants, draws, strict=True)])


def list_possible_scores(average, rows):
    """All equally likely resamples: the plants replaced by any of them, whoever took them, in every way."""
    plants = sorted({plant for _, plant, _ in rows})
    for drawn in product(plants, repeat=len(plants)):
        resample = [
            (author, plant, number, value)
            for number, chosen in enumerate(drawn)
            for author, plant, value in rows
            if plant == chosen
        ]
        yield score_slowly(average, resample)


def resample(average, rows, bootstrap):
    authors, plants, values = columns(rows)
    weights, groups = weigh_in_groups(average, authors, plants)
    names, units = np.unique(plants, return_inverse=True)
    samples = bootstrap_scores([WeightedScore(values.astype(float), weights, groups, units)], len(names), bootstrap)
    return samples if samples is None else samples[0]


# Plant 2 was taken by two authors, and stays one plant.
ROWS = list(zip(["ann"] * 5 + ["bob"] * 4, "112232455", [1, 0, 1, 1, 0, 0, 1, 0, 1], strict=True))


@pytest.mark.parametrize("average", sorted(AVERAGES))
def test_resampled_scores_have_the_exact_distribution(average):
    exact = np.array(list(list_possible_scores(average, ROWS)))
    samples = resample(average, ROWS, Bootstrap(resamples=20_000))
    assert set(np.round(samples, 9)) == set(np.round(exact, 9))
    # 20,000 draws of a score with a spread below 0.25: the mean's standard error is below 0.0018; 4 of these.
    assert samples.mean() == pytest.approx(exact.mean(), abs=0.007)
    assert samples.std() == pytest.approx(exact.std(), abs=0.007)


def test_many_plants_are_drawn_in_blocks_of_the_same_distribution():
    n_plants = 5000
    score = WeightedScore(np.arange(n_plants) % 2.0, np.full(n_plants, 1 / n_plants), *[np.zeros(n_plants, int)] * 2)
    score = replace(score, plants=np.arange(n_plants))
    (samples,) = bootstrap_scores([score], n_plants, Bootstrap(resamples=2000))
    assert len(samples) == 2000
    assert samples.std() == pytest.approx(0.5 / n_plants**0.5, rel=0.1)


def test_a_single_plant_gives_no_interval():
    assert resample("S", [("ann", "1", 1), ("bob", "1", 0)], Bootstrap()) is None


def test_p_is_that_of_all_swaps():
    difference = np.array([0.3, 0.1, -0.05, 0.2, 0.02, 0.15])
    signs = np.array(list(product([-1, 1], repeat=6)))
    exact = (np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12).mean()
    p = randomisation_test(difference, list("123456"), resamples=20_000)
    # The share of 20,000 has a standard error of at most 0.0035.
    assert p == pytest.approx(exact, abs=0.014)


def test_equal_runs_do_not_differ_and_p_is_never_zero():
    assert randomisation_test(np.zeros(5), list("12345"), resamples=99) == 1
    assert randomisation_test(np.ones(40), np.arange(40), resamples=99) == 0.01


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_literal_procedure(p_values):
    m = len(p_values)
    order = sorted(range(m), key=lambda index: p_values[index])
    expected, highest = [0.0] * m, 0.0
    for step, index in enumerate(order):
        highest = max(highest, min(1.0, (m - step) * p_values[index]))
        expected[index] = highest
    assert correct_holm(p_values).tolist() == pytest.approx(expected)
