import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leafid.learning.averages import accuracy_score, average_by_group, macro_average
from leafid.learning.thresholds import Thresholds, compute_coverage_rank, fit_average_k_thresholds
from leafid.scoring.sets import BINS, average_by_bin, score_sets

quick = settings(max_examples=40, deadline=None)
shapes = st.tuples(st.integers(1, 12), st.integers(1, 5))
probabilities = shapes.flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0]))
)
labelled = probabilities.flatmap(
    lambda p: st.tuples(st.just(p), hnp.arrays(np.int64, len(p), elements=st.integers(0, p.shape[1] - 1)))
)


def average_k_threshold(p, k):
    return fit_average_k_thresholds(p, [k])[0]


def select_correct(p, labels):
    return p[np.arange(len(labels)), labels]


def fit_coverage_threshold(p, labels, coverage):
    """The threshold that a model keeps."""
    correct = np.sort(select_correct(p, labels))
    return Thresholds(np.array([1.0]), np.array([0.5]), correct, len(correct)).threshold_for_coverage(coverage)


def literal_threshold(p, k):
    s = sorted((value for row in p.tolist() for value in row), reverse=True)
    n = len(p)
    return (s[n * k - 1] + s[n * k]) / 2


@quick
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1))
def test_scores_of_sets_are_the_literal_ones(pictures):
    """Pictures as (class, size of the set); the correct class is in sets of two and more."""
    classes, sizes = zip(*pictures, strict=True)
    hit = np.array(sizes) >= 2
    of_classes = []
    for label in sorted(set(classes)):
        own = [found for found, other in zip(hit, classes, strict=True) if other == label]
        of_classes.append(sum(own) / len(own))
    assert macro_average(average_by_group(hit, classes, 5)) == pytest.approx(sum(of_classes) / len(of_classes))
    assert accuracy_score(sizes) == pytest.approx(sum(sizes) / len(sizes))
    assert score_sets(hit, sizes, classes)[3] == pytest.approx(sizes.count(0) / len(sizes))
    assert accuracy_score(hit) == pytest.approx(sum(hit) / len(hit))


@quick
@given(probabilities, st.integers(1, 5))
def test_average_k_threshold_is_the_literal_one(p, k):
    if k >= p.shape[1]:
        assert average_k_threshold(p, k) == 0
    else:
        assert average_k_threshold(p, k) == literal_threshold(p, k)


@quick
@given(st.integers(1, 30), st.integers(2, 8), st.floats(0.05, 8), st.integers(0, 1000))
def test_sets_have_the_mean_size_k_where_no_probabilities_are_tied(n, classes, k, seed):
    p = np.random.default_rng(seed).random((n, classes))
    size = accuracy_score((p >= average_k_threshold(p, k)).sum(axis=1))
    assert size <= k + 1e-9
    assert size > min(k, classes) - 1 / n - 1e-9


def test_the_mean_size_may_be_a_fraction():
    p = np.array([[0.9, 0.1], [0.6, 0.4]])
    assert (p >= average_k_threshold(p, 0.5)).tolist() == [[True, False], [False, False]]
    assert not (p >= average_k_threshold(p, 0.1)).any()


@quick
@given(labelled, st.sampled_from([0.1, 0.5, 0.8, 0.9]))
def test_coverage_holds_on_the_pictures_it_is_fitted_on(data, coverage):
    p, labels = data
    found = select_correct(p, labels) >= fit_coverage_threshold(p, labels, coverage)
    assert found.sum() >= coverage * (len(labels) + 1) - 1 - 1e-9


@quick
@given(labelled, st.sampled_from([0.1, 0.5, 0.9]))
def test_coverage_threshold_is_the_literal_quantile(data, coverage):
    p, labels = data
    correct = sorted(p[i][label] for i, label in enumerate(labels))
    # (n + 1)(1 - coverage) correct classes may be missing.
    allowed = [m for m in range(1, len(correct) + 1) if m <= (len(correct) + 1) * (1 - coverage) + 1e-9]
    assert fit_coverage_threshold(p, labels, coverage) == (correct[allowed[-1] - 1] if allowed else 0)


def test_new_pictures_are_covered_as_promised():
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(300):
        p = rng.dirichlet(np.ones(4), 40)
        labels = np.array([rng.choice(4, p=row) for row in p])
        threshold = fit_coverage_threshold(p[:39], labels[:39], 0.8)
        covered.append(p[39, labels[39]] >= threshold)
    # 300 pictures at 0.8: standard error 0.023; three of these.
    assert np.mean(covered) == pytest.approx(0.8, abs=0.07)


@quick
@given(labelled, st.randoms(use_true_random=False))
def test_thresholds_do_not_depend_on_the_order_of_pictures(data, rng):
    p, labels = data
    order = rng.sample(range(len(p)), len(p))
    assert average_k_threshold(p, 1.5) == average_k_threshold(p[order], 1.5)
    assert fit_coverage_threshold(p, labels, 0.8) == fit_coverage_threshold(p[order], labels[order], 0.8)


@quick
@given(labelled)
def test_larger_sets_take_lower_thresholds(data):
    p, labels = data
    thresholds = fit_average_k_thresholds(p, [0.5, 1, 2, 5])
    assert (np.diff(thresholds) <= 0).all()
    assert thresholds[-1] == 0
    assert fit_coverage_threshold(p, labels, 0.9) <= fit_coverage_threshold(p, labels, 0.5)


def test_bins_are_those_of_table_1():
    trained = [0, 1, 10, 11, 50, 51, 500, 501, 2000, 2001]
    accuracy, classes = average_by_bin(np.linspace(0, 0.9, 10), trained)
    assert classes.tolist() == [3, 2, 2, 2, 1]
    assert accuracy == pytest.approx([0.1, 0.35, 0.55, 0.75, 0.9])
    assert len(BINS) == 5


def test_classes_without_pictures_are_left_out():
    assert average_by_group([True, False], [1, 1], 3).tolist() == pytest.approx([np.nan, 0.5, np.nan], nan_ok=True)
    accuracy, classes = average_by_bin([np.nan, 0.5, np.nan], [5, 5, 100])
    assert classes.tolist() == [1, 0, 0, 0, 0]
    assert accuracy[0] == 0.5


@pytest.mark.parametrize(
    "wrong", [[[1.2, 0.1]], [[-0.1, 0.5]], [[float("nan"), 0.5]], [0.5, 0.5], np.empty((3, 0))], ids=str
)
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match="expected probabilities"):
        average_k_threshold(wrong, 1)


def test_impossible_sizes_and_coverages_are_refused():
    for k in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="above 0"):
            average_k_threshold([[1.0]], k)
    with pytest.raises(ValueError, match="held-out"):
        average_k_threshold(np.empty((0, 3)), 1)
    for coverage in (0, 1, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            compute_coverage_rank(1, coverage)


def test_without_pictures_there_is_no_score():
    assert np.isnan([accuracy_score([]), *score_sets([], [], []), macro_average([]), macro_average([np.nan])]).all()
