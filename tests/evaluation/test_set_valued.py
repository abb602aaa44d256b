import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leafid.evaluation.set_scores import (
    BINS,
    average_k_scores,
    bin_accuracy,
    empty_share,
    group_means,
    hits,
    macro_average_accuracy,
    mean_size,
    set_accuracy,
    size_error_curve,
    top_k_scores,
)
from leafid.evaluation.set_valued import average_k_threshold, coverage_threshold, threshold_sets, top_k_sets

quick = settings(max_examples=40, deadline=None)
shapes = st.tuples(st.integers(1, 12), st.integers(1, 5))
probabilities = shapes.flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0]))
)
labelled = probabilities.flatmap(
    lambda p: st.tuples(st.just(p), hnp.arrays(np.int64, len(p), elements=st.integers(0, p.shape[1] - 1)))
)


def literal_top_k(p, k):
    return [set(sorted(range(len(row)), key=lambda c: (-row[c], c))[:k]) for row in p]


def literal_threshold(p, k):
    s = sorted((value for row in p.tolist() for value in row), reverse=True)
    n = len(p)
    return (s[n * k - 1] + s[n * k]) / 2


def literal_macro(sets, labels):
    of_classes = []
    for c in sorted(set(labels)):
        mine = [c in chosen for chosen, label in zip(sets, labels, strict=True) if label == c]
        of_classes.append(sum(mine) / len(mine))
    return sum(of_classes) / len(of_classes)


def as_sets(array):
    return [set(np.flatnonzero(row).tolist()) for row in array]


@quick
@given(labelled, st.integers(1, 6))
def test_top_k_is_the_literal_one(data, k):
    p, labels = data
    expected = literal_top_k(p, k)
    sets = top_k_sets(p, k)
    assert as_sets(sets) == expected
    right = [label in chosen for label, chosen in zip(labels, expected, strict=True)]
    assert set_accuracy(sets, labels) == pytest.approx(sum(right) / len(right))
    assert macro_average_accuracy(sets, labels) == pytest.approx(literal_macro(expected, labels.tolist()))
    assert mean_size(sets) == min(k, p.shape[1])


@quick
@given(probabilities, st.integers(1, 5))
def test_average_k_threshold_is_the_literal_one(p, k):
    if k >= p.shape[1]:
        assert average_k_threshold(p, k) == 0
    else:
        assert average_k_threshold(p, k) == literal_threshold(p, k)


@quick
@given(st.integers(1, 30), st.integers(2, 8), st.floats(0.05, 8), st.integers(0, 1000))
def test_sets_have_the_mean_size_asked_for_where_no_probabilities_are_equal(n, classes, k, seed):
    p = np.random.default_rng(seed).random((n, classes))
    size = mean_size(threshold_sets(p, average_k_threshold(p, k)))
    assert size <= k + 1e-9
    assert size > min(k, classes) - 1 / n - 1e-9


def test_parts_of_sets_can_be_asked_for():
    p = np.array([[0.9, 0.1], [0.6, 0.4]])
    assert threshold_sets(p, average_k_threshold(p, 0.5)).tolist() == [[True, False], [False, False]]
    assert not threshold_sets(p, average_k_threshold(p, 0.1)).any()
    assert empty_share(threshold_sets(p, average_k_threshold(p, 0.5))) == 0.5


@quick
@given(labelled, st.sampled_from([0.1, 0.5, 0.8, 0.9]))
def test_coverage_holds_on_the_pictures_it_is_fitted_on(data, coverage):
    p, labels = data
    found = hits(threshold_sets(p, coverage_threshold(p, labels, coverage)), labels)
    assert found.sum() >= coverage * (len(labels) + 1) - 1 - 1e-9


@quick
@given(labelled, st.sampled_from([0.1, 0.5, 0.9]))
def test_coverage_threshold_is_the_literal_quantile(data, coverage):
    p, labels = data
    right = sorted(p[i][label] for i, label in enumerate(labels))
    # The smallest threshold candidates from below: as many right ones may be missed as (n + 1)(1 - coverage) allows.
    allowed = [m for m in range(1, len(right) + 1) if m <= (len(right) + 1) * (1 - coverage) + 1e-9]
    assert coverage_threshold(p, labels, coverage) == (right[allowed[-1] - 1] if allowed else 0)


def test_new_pictures_are_covered_as_promised():
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(300):
        p = rng.dirichlet(np.ones(4), 40)
        labels = np.array([rng.choice(4, p=row) for row in p])
        threshold = coverage_threshold(p[:39], labels[:39], 0.8)
        covered.append(hits(threshold_sets(p[39:], threshold), labels[39:])[0])
    # 300 pictures at 0.8: standard error 0.023; three of these.
    assert np.mean(covered) == pytest.approx(0.8, abs=0.07)


@quick
@given(labelled)
def test_the_curve_is_what_each_threshold_gives(data):
    p, labels = data
    thresholds, sizes, errors = size_error_curve(p, labels)
    for threshold, size, error in zip(thresholds, sizes, errors, strict=True):
        sets = threshold_sets(p, threshold)
        assert mean_size(sets) == pytest.approx(size)
        assert 1 - set_accuracy(sets, labels) == pytest.approx(error, abs=1e-12)
    assert (np.diff(sizes) > 0).all()
    assert (np.diff(errors) <= 0).all()
    assert (sizes[-1], errors[-1]) == (p.shape[1], 0)


@quick
@given(labelled, st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_pictures(data, rng):
    p, labels = data
    order = rng.sample(range(len(p)), len(p))
    for first, second in zip(
        top_k_scores(p, labels, [1, 2]) + average_k_scores(p, labels, [1, 1.5], p),
        top_k_scores(p[order], labels[order], [1, 2]) + average_k_scores(p[order], labels[order], [1, 1.5], p[order]),
        strict=True,
    ):
        assert (first.accuracy, first.mean_size) == pytest.approx((second.accuracy, second.mean_size))
        assert first.macro_average == pytest.approx(second.macro_average)


@quick
@given(labelled, st.data())
def test_larger_sets_are_never_worse(data, draw):
    p, labels = data
    accuracies = [score.accuracy for score in top_k_scores(p, labels, [1, 2, 3, 4, 5])]
    assert accuracies == sorted(accuracies)
    accuracies = [score.accuracy for score in average_k_scores(p, labels, [0.5, 1, 2, 5], p)]
    assert accuracies == sorted(accuracies)
    assert accuracies[-1] == 1


def test_one_hot_probabilities_are_perfect():
    labels = np.array([0, 2, 1, 1])
    for score in top_k_scores(np.eye(3)[labels], labels, [1]) + average_k_scores(
        np.eye(3)[labels], labels, [1], np.eye(3)[labels]
    ):
        assert (score.accuracy, score.macro_average, score.mean_size, score.empty_share) == (1, 1, 1, 0)


def test_bins_are_those_of_table_1():
    trained = [0, 1, 10, 11, 50, 51, 500, 501, 2000, 2001]
    accuracy, classes = bin_accuracy(np.linspace(0, 0.9, 10), trained)
    assert classes.tolist() == [3, 2, 2, 2, 1]
    assert accuracy == pytest.approx([0.1, 0.35, 0.55, 0.75, 0.9])
    assert len(BINS) == 5


def test_classes_without_pictures_are_left_out():
    assert group_means([True, False], [1, 1], 3).tolist() == pytest.approx([np.nan, 0.5, np.nan], nan_ok=True)
    accuracy, classes = bin_accuracy([np.nan, 0.5, np.nan], [5, 5, 100])
    assert classes.tolist() == [1, 0, 0, 0, 0]
    assert accuracy[0] == 0.5


@pytest.mark.parametrize(
    "wrong", [[[1.2, 0.1]], [[-0.1, 0.5]], [[float("nan"), 0.5]], [0.5, 0.5], np.empty((3, 0))], ids=str
)
def test_what_is_no_probability_is_refused(wrong):
    for function in (lambda p: top_k_sets(p, 1), lambda p: average_k_threshold(p, 1), lambda p: threshold_sets(p, 0.5)):
        with pytest.raises(ValueError, match="expected probabilities"):
            function(wrong)


@pytest.mark.parametrize("labels", [[2], [-1], [0, 1], [0.5], [float("nan")]])
def test_what_is_no_label_is_refused(labels):
    with pytest.raises(ValueError, match="labels"):
        hits([[True, False]], labels)


def test_what_can_not_be_asked_for():
    with pytest.raises(ValueError, match="k from 1 up"):
        top_k_sets([[1.0]], 0)
    for k in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="above 0"):
            average_k_threshold([[1.0]], k)
    with pytest.raises(ValueError, match="held-out"):
        average_k_threshold(np.empty((0, 3)), 1)
    for coverage in (0, 1, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            coverage_threshold([[1.0]], [0], coverage)
    with pytest.raises(ValueError, match="labelled"):
        size_error_curve(np.empty((0, 3)), [])


def test_without_pictures_there_is_no_score():
    empty = np.empty((0, 3), bool)
    assert np.isnan(
        [mean_size(empty), empty_share(empty), set_accuracy(empty, []), macro_average_accuracy(empty, [])]
    ).all()
