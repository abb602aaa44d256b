from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.evaluation.resampling import Bootstrap, bootstrap_scores, correct_holm, randomisation_test
from leafid.metrics.plant_task import AVERAGES, average_score, compute_weights

pictures = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30
)


def columns(rows):
    return [np.array(column) for column in zip(*rows, strict=True)]


@settings(deadline=None, max_examples=50)
@given(pictures, st.sampled_from(sorted(AVERAGES)))
def test_every_average_is_a_weighted_sum(rows, average):
    authors, plants, values = columns(rows)
    weights = compute_weights(average, authors, plants)
    assert weights.sum() == pytest.approx(1)
    assert weights @ values == pytest.approx(AVERAGES[average](values, authors, plants), abs=1e-12)


def test_there_is_no_other_average():
    with pytest.raises(ValueError, match="expected an average"):
        compute_weights("median", ["a"], ["1"])


def list_possible_scores(values, authors, plants, average):
    """All equally likely resamples: each author's plants replaced by any of theirs, in every way."""
    of_author = {}
    for author, plant in sorted(set(zip(authors, plants, strict=True))):
        of_author.setdefault(author, []).append(plant)
    ways = [list(product(own, repeat=len(own))) for own in of_author.values()]
    for choice in product(*ways):
        new_values, new_authors, new_plants = [], [], []
        for author, drawn in zip(of_author, choice, strict=True):
            for number, plant in enumerate(drawn):
                own = [v for v, a, p in zip(values, authors, plants, strict=True) if (a, p) == (author, plant)]
                new_values += own
                new_authors += [author] * len(own)
                new_plants += [f"{plant} drawn {number}"] * len(own)
        yield AVERAGES[average](new_values, new_authors, new_plants)


@pytest.mark.parametrize("average", sorted(AVERAGES))
def test_resampled_scores_have_the_exact_distribution(average):
    authors = ["ann"] * 5 + ["bob"] * 3 + ["eve"]
    plants = ["1", "1", "2", "2", "3", "4", "5", "5", "6"]
    values = [1, 0, 1, 1, 0, 0, 1, 0, 1]
    exact = np.array(list(list_possible_scores(values, authors, plants, average)))
    found = bootstrap_scores([values], [average], authors, plants, Bootstrap(resamples=20_000))[0]
    assert set(np.round(found, 9)) == set(np.round(exact, 9))
    # 20,000 draws of a score with a spread below 0.25: the mean's standard error is below 0.0018; 4 of these.
    assert found.mean() == pytest.approx(exact.mean(), abs=0.007)
    assert found.std() == pytest.approx(exact.std(), abs=0.007)


def test_small_memory_gives_samples_of_the_same_distribution(monkeypatch):
    authors, plants, values = ["ann"] * 6, list("123456"), [1, 0, 0, 1, 1, 1]
    whole = bootstrap_scores([values], ["S"], authors, plants, Bootstrap(resamples=4000))[0]
    monkeypatch.setattr("leafid.evaluation.resampling._CELLS", 70)
    parts = bootstrap_scores([values], ["S"], authors, plants, Bootstrap(resamples=4000))[0]
    assert len(parts) == 4000
    # Standard error of each mean 0.003.
    assert parts.mean() == pytest.approx(whole.mean(), abs=0.02)


def test_authors_with_a_single_plant_give_no_interval():
    assert bootstrap_scores([[1, 0]], ["S"], ["ann", "bob"], ["1", "2"], Bootstrap()) is None


def test_equal_seeds_give_equal_intervals():
    rng = np.random.default_rng(5)
    authors, plants, values = rng.integers(0, 3, 60), rng.integers(0, 20, 60), rng.integers(0, 2, 60)
    first, again, other = (
        Bootstrap().compute_interval(bootstrap_scores([values], ["S"], authors, plants, Bootstrap(seed=seed))[0])
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert first[0] < average_score(values, authors, plants) < first[1]


def test_a_wider_confidence_is_a_wider_interval():
    samples = np.linspace(0, 1, 1001)
    assert Bootstrap(confidence=0.5).compute_interval(samples) == pytest.approx((0.25, 0.75))
    assert Bootstrap(confidence=0.9).compute_interval(samples) == pytest.approx((0.05, 0.95))


def test_p_is_that_of_all_swaps():
    difference = np.array([0.3, 0.1, -0.05, 0.2, 0.02, 0.15])
    signs = np.array(list(product([-1, 1], repeat=6)))
    exact = (np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12).mean()
    found = randomisation_test(difference, ["a"] * 6, list("123456"), resamples=20_000)
    # The share of 20,000 has a standard error of at most 0.0035.
    assert found == pytest.approx(exact, abs=0.014)


def test_plants_are_swapped_whole():
    # One plant only: a swap turns the whole difference round, never a part of it.
    assert randomisation_test([0.5, -0.2, 0.3], ["a"] * 3, ["1"] * 3, resamples=100) == 1


def test_equal_runs_do_not_differ_and_p_is_never_zero():
    assert randomisation_test(np.zeros(5), ["a"] * 5, list("12345"), resamples=99) == 1
    assert randomisation_test(np.ones(40), ["a"] * 40, np.arange(40), resamples=99) == 0.01


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_literal_procedure(p_values):
    m = len(p_values)
    order = sorted(range(m), key=lambda index: p_values[index])
    expected, highest = [0.0] * m, 0.0
    for step, index in enumerate(order):
        highest = max(highest, min(1.0, (m - step) * p_values[index]))
        expected[index] = highest
    assert correct_holm(p_values).tolist() == pytest.approx(expected)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000))
def test_p_values_of_equally_good_runs_are_uniform_enough(seed):
    rng = np.random.default_rng(seed)
    values = [randomisation_test(rng.normal(size=15), ["a"] * 15, np.arange(15), resamples=199) for _ in range(60)]
    # 60 draws at 0.2: 12 expected, standard deviation 3.1; 30 would be six of these away.
    assert sum(value <= 0.2 for value in values) < 30
