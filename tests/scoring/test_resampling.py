from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from leafid.metrics.averages import (
    accuracy_score,
    average_by_group,
    average_score,
    to_indices,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import average_pictures, find_metric
from leafid.scoring.resampling import (
    Bootstrap,
    bootstrap_scores,
    correct_holm,
    randomisation_test,
)
from leafid.scoring.score_table import compute_statistics

AVERAGES = {
    "S": average_score,
    "plants": lambda values, authors, plants: accuracy_score(
        average_by_group(values, to_indices(plants))
    ),
    "pictures": lambda values, _authors, _plants: accuracy_score(values),
}
pictures = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=30,
)


def make_judged_run(rank, plants=None, authors=None, **columns):
    """Make a run that answers each picture.

    Where columns are missing, pictures have no plant or species in common.
    """
    rank = np.asarray(rank)
    numbers, zeros = np.arange(len(rank)), np.zeros(len(rank))
    plant = numbers if plants is None else to_indices(plants)
    defaults = {
        "name": "run",
        "rank": rank,
        "size": np.ones(len(rank), int),
        "label": numbers,
        "first": np.where(rank == 1, columns.get("label", numbers), -1),
        "answer": numbers.astype(object),
        **dict.fromkeys(("first_score", "probability", "squares"), zeros),
        **dict.fromkeys(("genus_correct", "family_correct"), rank == 1),
        "is_known": np.ones(len(rank), bool),
        "author": numbers * 0 if authors is None else to_indices(authors),
        "official_plant": plant,
        "plant": plant,
    }
    return JudgedRun(**defaults | columns)


def columns(rows):
    return [np.array(column) for column in zip(*rows, strict=True)]


def average_rows(average, rows):
    authors, plants, values = columns(rows)
    run = make_judged_run(values, plants, authors)
    return average_pictures(
        values.astype(float), average, run, int(run.plant.max()) + 1
    )


@settings(max_examples=50)
@given(pictures, st.sampled_from(sorted(AVERAGES)))
def test_each_average_is_the_mean_of_means(rows, average):
    authors, plants, values = columns(rows)
    score = average_rows(average, rows).compute()
    assert score == pytest.approx(AVERAGES[average](values, authors, plants), abs=1e-12)


def compute_interval(score, confidence=0.95, resamples=20_000):
    """The interval of a score by resampling."""
    [samples] = bootstrap_scores([score], Bootstrap(resamples))
    assert samples.shape == (2, resamples)
    tail = (1 - confidence) / 2
    return np.quantile(samples[0], tail), np.quantile(samples[1], 1 - tail)


def score_slowly(average, rows, weights, weight, end):
    """The mean over groups of fixed weights of weighted plants.

    One more group of the mean weight scores `end`.
    """
    groups = sorted({author for author, _, _ in rows}) if average == "S" else [None]
    above, below, more = 0.0, 0.0, 0.0
    for group in groups:
        members = [row for row in rows if group in (None, row[0])]
        plants = sorted({plant for _, plant, _ in members})
        for plant in plants:
            values = [value for _, name, value in members if name == plant]
            share = 1 / len(plants)
            if average == "pictures":
                share = len(values) / len(members)
            above += weights[plant] * share / len(groups) * np.mean(values)
            below += weights[plant] * share / len(groups)
        more += 1 / len(plants) / len(groups) ** 2
    return (above + weight * more * end) / (below + weight * more)


# Plant 2 was taken by two authors, and stays one plant.
ROWS = list(
    zip(
        ["ann"] * 5 + ["bob"] * 4, "112232455", [1, 0, 1, 1, 0, 0, 1, 0, 1], strict=True
    )
)


@pytest.mark.parametrize("average", sorted(AVERAGES))
def test_resampled_scores_are_those_of_weighted_plants(average):
    random = np.random.default_rng(1)
    [samples] = bootstrap_scores([average_rows(average, ROWS)], Bootstrap(20_000))
    for end, scores in enumerate(samples):
        expected = [
            score_slowly(
                average,
                ROWS,
                dict(zip("12345", random.standard_exponential(5), strict=True)),
                random.standard_exponential(),
                end,
            )
            for _ in range(4000)
        ]
        # Quantiles of 4,000 draws of a score with a spread below 0.25: 4 standard
        # errors at most.
        levels = [0.025, 0.25, 0.5, 0.75, 0.975]
        assert np.quantile(scores, levels) == pytest.approx(
            np.quantile(expected, levels), abs=0.04
        )


@pytest.mark.parametrize(
    ("n_correct", "n_plants"), [(60, 60), (59, 60), (0, 12), (1, 12), (21, 30)]
)
@pytest.mark.parametrize("average", sorted(AVERAGES))
def test_the_interval_of_correct_plants_is_exact(average, n_correct, n_plants):
    rows = [
        ("ann", number, float(number < n_correct))
        for number in np.repeat(np.arange(n_plants), 3)
    ]
    low, high = compute_interval(average_rows(average, rows))
    n_wrong = n_plants - n_correct
    expected = (
        beta.ppf(0.025, n_correct, n_wrong + 1) if n_correct else 0,
        beta.ppf(0.975, n_correct + 1, n_wrong) if n_wrong else 1,
    )
    # Of 20,000 draws, 500 lie outside: 4 of their standard errors are a fifth of the
    # way to the bound at most.
    assert (low, high) == pytest.approx(expected, abs=0.01)


def test_a_worse_run_has_no_higher_interval():
    """Also not if all plants but one are equal.

    A standard error or a skewness would be that of one plant.
    """
    rows = [("ann", number, 1.0) for number in np.repeat(np.arange(30), 5)]
    ends = [compute_interval(average_rows("pictures", rows))]
    for index in (0, 1, 2, 5, 10):
        rows[index] = (*rows[index][:2], 0.0)
        ends.append(compute_interval(average_rows("pictures", rows)))
    lows, highs = zip(*ends, strict=True)
    assert list(lows) == sorted(lows, reverse=True)
    assert list(highs) == sorted(highs, reverse=True)
    assert ends[0] == (pytest.approx(0.025 ** (1 / 30), abs=0.01), 1)


def test_many_plants_are_weighted_in_blocks_of_the_same_distribution():
    n_plants = 5000
    run = make_judged_run(np.arange(n_plants) % 2)
    score = average_pictures(np.arange(n_plants) % 2.0, "pictures", run, n_plants)
    [samples] = bootstrap_scores([score], Bootstrap(resamples=2000))
    assert samples.shape == (2, 2000)
    assert samples.std(axis=1) == pytest.approx(0.5 / n_plants**0.5, rel=0.1)


def test_a_single_plant_gives_no_interval():
    rows = [("ann", "1", 1), ("bob", "1", 0)]
    assert np.isnan(bootstrap_scores([average_rows("S", rows)], Bootstrap())).all()


def compare(metric, runs, bootstrap):
    statistics = compute_statistics(find_metric(metric), [[run] for run in runs])
    return randomisation_test(statistics, [(0, 1)], bootstrap)[0]


LABELS = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1])
# The first run names a species that isn't in the ground truth, the second one that is
# behind all others there.
NAMED = [
    np.array([0, 0, 1, 1, 2, -9, 1, 0, 1]),
    np.array([1, 0, 3, 1, 0, 2, 1, 1, 2]),
]
PLANTS = np.array([0, 0, 1, 2, 3, 3, 4, 5, 5])


def judge_names(first):
    return make_judged_run(
        (first == LABELS).astype(int), PLANTS, label=LABELS, first=first
    )


@pytest.mark.parametrize(
    "metric",
    ["S", "top-1", "macro-f1", "weighted-f1", "balanced-accuracy", "precision", "mcc"],
)
def test_p_is_that_of_all_swaps(metric):
    def score(first):
        [score] = compute_statistics(find_metric(metric), [[judge_names(first)]])
        return score.compute()

    observed = abs(score(NAMED[0]) - score(NAMED[1]))
    n_extreme = 0
    for swapped in product([False, True], repeat=6):
        is_swapped = np.array(swapped)[PLANTS]
        first, second = (np.where(is_swapped, NAMED[1 - a], NAMED[a]) for a in (0, 1))
        n_extreme += abs(score(first) - score(second)) >= observed - 1e-12
    p = compare(metric, [judge_names(first) for first in NAMED], Bootstrap(20_000))
    # The share of 20,000 has a standard error of at most 0.0035.
    assert p == pytest.approx(n_extreme / 64, abs=0.014)


def test_equal_runs_do_not_differ_and_p_is_never_zero():
    assert compare("S", [judge_names(NAMED[0])] * 2, Bootstrap(99)) == 1
    runs = [make_judged_run(np.full(40, rank)) for rank in (1, 0)]
    assert compare("top-1", runs, Bootstrap(99)) == 0.01


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_literal_procedure(p_values):
    m = len(p_values)
    order = sorted(range(m), key=lambda index: p_values[index])
    expected, highest = [0.0] * m, 0.0
    for step, index in enumerate(order):
        highest = max(highest, min(1.0, (m - step) * p_values[index]))
        expected[index] = highest
    assert correct_holm(p_values).tolist() == pytest.approx(expected)
