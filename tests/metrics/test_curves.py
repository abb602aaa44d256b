"""Brier's parts, withheld answers and open sets, against slow versions and others'."""

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_curve

from leafid.metrics.confidence import (
    N_BINS,
    decompose_brier,
    open_set_classification_rate,
    open_set_curve,
    reliability_curve,
    selective_accuracies,
)

answers = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.2, 0.4]), st.booleans()),
    min_size=1,
    max_size=60,
)
# Few distinct values, so that there are ties.
scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@given(answers, st.integers(1, 20))
def test_the_reliability_curve_is_that_of_scikit_learn(answers, n_bins):
    confidence, is_correct = zip(*answers, strict=True)
    means, shares, counts = reliability_curve(confidence, is_correct, n_bins)
    expected = calibration_curve(is_correct, confidence, n_bins=n_bins)
    # Its edges differ from i / n in the last digit.
    edges = np.linspace(0, 1, n_bins + 1)
    if np.abs(np.subtract.outer(confidence, edges[1:-1])).min(initial=1) > 1e-9:
        assert np.allclose(shares, expected[0])
        assert np.allclose(means, expected[1])
    assert counts.sum() == len(answers)


@given(answers)
def test_parts_of_brier_scores(answers):
    confidence, is_correct = (
        np.array(column, float) for column in zip(*answers, strict=True)
    )
    reliability, resolution, uncertainty = decompose_brier(confidence, is_correct)
    score = np.mean((confidence - is_correct) ** 2)
    assert reliability - resolution + uncertainty == pytest.approx(score)
    assert uncertainty == pytest.approx(np.var(is_correct))
    # The parts of Murphy and of Stephenson et al., bin by bin.
    slow, gap, within = 0.0, 0.0, 0.0
    bins = np.ceil(np.round(confidence * N_BINS, 9)).clip(1)
    for number in set(bins.tolist()):
        p, o = confidence[bins == number], is_correct[bins == number]
        gap += len(p) * (p.mean() - o.mean()) ** 2
        slow += len(p) * (o.mean() - is_correct.mean()) ** 2
        within += sum((p - p.mean()) * (2 * (o - o.mean()) - (p - p.mean())))
    n = len(answers)
    assert reliability == pytest.approx(gap / n, abs=1e-9)
    assert resolution == pytest.approx((slow + within) / n, abs=1e-9)
    assert -0.04 <= resolution <= 0.25 + 1e-9


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
def test_withheld_answers_are_drawn_at_random_where_they_tie(answers):
    """All orders of equally confident answers are enumerated."""
    orders = [
        [is_correct for _, is_correct in order]
        for order in permutations(answers)
        if all(a >= b for (a, _), (b, _) in pairwise(order))
    ]
    steps = np.arange(1, len(answers) + 1)
    expected = np.mean(np.cumsum(orders, axis=1) / steps, axis=0)
    confidence, is_correct = zip(*answers, strict=True)
    assert selective_accuracies(confidence, is_correct) == pytest.approx(expected)


@given(scores, scores, st.randoms())
def test_the_open_set_curve_is_that_of_each_threshold(known, unknown, random):
    is_correct = np.array([random.random() < 0.6 for _ in known])
    false, correct = open_set_curve(known, unknown, is_correct)
    for point, threshold in enumerate(sorted({*known, *unknown}, reverse=True), 1):
        accepted = np.array(known) >= threshold
        assert correct[point] == pytest.approx(np.mean(accepted & is_correct))
        assert false[point] == pytest.approx(np.mean(np.array(unknown) >= threshold))
    assert (false[0], correct[0]) == (0, 0)
    # Where all names are correct, it is the ROC curve.
    labels = [1] * len(known) + [0] * len(unknown)
    expected = roc_curve(labels, known + unknown, drop_intermediate=False)
    curve = np.array(open_set_curve(known, unknown))
    assert np.allclose(curve[:, :-1], expected[:2])
    assert curve[:, -1].tolist() == [1, 1]


@pytest.mark.parametrize(("known", "unknown"), [*product([[], [0.5]], repeat=2)])
def test_what_has_no_curve(known, unknown):
    area = open_set_classification_rate(known, unknown, [True] * len(known))
    assert math.isnan(area) == (not (known and unknown))
    assert np.isnan(decompose_brier([], [])).all()
    assert len(selective_accuracies([], [])) == 0
