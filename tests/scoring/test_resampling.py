from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.metrics.averages import (
    accuracy_score,
    average_by_group,
    average_score,
    encode,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import average_pictures, find_metric
from leafid.scoring.resampling import (
    Bootstrap,
    bootstrap_scores,
    correct_holm,
    randomisation_test,
)

AVERAGES = {
    "S": average_score,
    "plants": lambda values, authors, plants: accuracy_score(
        average_by_group(values, encode(plants))
    ),
    "pictures": lambda values, _authors, _plants: accuracy_score(values),
}
pictures = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=30,
)


def make_judged_run(rank, plants=None, authors=None, **columns):
    """Make a run that answers each picture; where columns are missing, pictures have no plant or species in common."""
    rank = np.asarray(rank)
    numbers, zeros = np.arange(len(rank)), np.zeros(len(rank))
    plant = numbers if plants is None else encode(plants)
    defaults = {
        "name": "run",
        "rank": rank,
        "size": np.ones(len(rank), int),
        "label": numbers,
        "first": np.where(rank == 1, columns.get("label", numbers), -1),
        **dict.fromkeys(("confidence", "probability", "squares"), zeros),
        **dict.fromkeys(("genus_correct", "family_correct"), rank == 1),
        "is_known": np.ones(len(rank), bool),
        "author": numbers * 0 if authors is None else encode(authors),
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


def score_slowly(average, rows):
    """The mean of means over the pictures of a resample, each (author, plant, number of the draw, value)."""
    authors, plants, draws, values = zip(*rows, strict=True)
    return AVERAGES[average](
        values, authors, [f"{p} {d}" for p, d in zip(plants, draws, strict=True)]
    )


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
    return bootstrap_scores(average_rows(average, rows), bootstrap)


# Plant 2 was taken by two authors, and stays one plant.
ROWS = list(
    zip(
        ["ann"] * 5 + ["bob"] * 4, "112232455", [1, 0, 1, 1, 0, 0, 1, 0, 1], strict=True
    )
)


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
    run = make_judged_run(np.arange(n_plants) % 2)
    score = average_pictures(np.arange(n_plants) % 2.0, "pictures", run, n_plants)
    samples = bootstrap_scores(score, Bootstrap(resamples=2000))
    assert len(samples) == 2000
    assert samples.std() == pytest.approx(0.5 / n_plants**0.5, rel=0.1)


def test_a_single_plant_gives_no_interval():
    assert resample("S", [("ann", "1", 1), ("bob", "1", 0)], Bootstrap()) is None


def compare(metric, runs, bootstrap):
    statistics = [
        find_metric(metric).compute_statistics(run, int(run.plant.max()) + 1)
        for run in runs
    ]
    return randomisation_test(statistics, [(0, 1)], bootstrap)[0]


LABELS = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1])
NAMED = [np.array([0, 0, 1, 1, 2, 2, 1, 0, 1]), np.array([1, 0, 2, 1, 0, 2, 1, 1, 2])]
PLANTS = np.array([0, 0, 1, 2, 3, 3, 4, 5, 5])


def judge_names(first):
    return make_judged_run(
        (first == LABELS).astype(int), PLANTS, label=LABELS, first=first
    )


@pytest.mark.parametrize(
    "metric", ["S", "top-1", "macro-f1", "weighted-f1", "balanced-accuracy"]
)
def test_p_is_that_of_all_swaps(metric):
    def score(first):
        return find_metric(metric).compute_statistics(judge_names(first), 6).compute()

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
