from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from leafid.scoring.open_world import (
    area_under_roc,
    average_precision_by_class,
    confident_share,
    false_positive_rate,
    mean_average_precision,
    open_set_classification_rate,
)

# Few distinct values, so that there are ties.
scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@given(scores, scores)
def test_area_under_roc(known, unknown):
    labels = [1] * len(known) + [0] * len(unknown)
    assert area_under_roc(known, unknown) == pytest.approx(roc_auc_score(labels, known + unknown))


@given(scores, scores, st.randoms())
def test_area_under_the_curve_of_open_set_classification(known, unknown, random):
    is_correct = [random.random() < 0.6 for _ in known]
    # The curve, point by point, as the threshold falls.
    points = [(0.0, 0.0)]
    for threshold in sorted({*known, *unknown}, reverse=True):
        accepted = [own >= threshold for own in known]
        correct = sum(a and c for a, c in zip(accepted, is_correct, strict=True)) / len(known)
        points.append((sum(own >= threshold for own in unknown) / len(unknown), correct))
    expected = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))
    assert open_set_classification_rate(known, is_correct, unknown) == pytest.approx(expected)
    assert expected <= area_under_roc(known, unknown) + 1e-9


@given(scores, scores, st.floats(0.01, 1))
def test_false_positive_rate(known, unknown, share):
    labels = [1] * len(known) + [0] * len(unknown)
    false, true, _ = roc_curve(labels, known + unknown, drop_intermediate=False)
    assert false_positive_rate(known, unknown, share) == pytest.approx(false[true >= share - 1e-9].min())


def test_without_pictures_of_a_kind():
    assert np.isnan(area_under_roc([], [1.0]))
    assert np.isnan(open_set_classification_rate([1.0], [True], []))
    assert np.isnan(false_positive_rate([], []))
    assert np.isnan(confident_share([], []))


@given(st.integers(1, 25), st.integers(1, 4), st.randoms())
def test_average_precision(n_pictures, n_classes, random):
    labels = np.array([random.randint(-1, n_classes - 1) for _ in range(n_pictures)])
    table = np.array([[random.randint(0, 6) / 6 for _ in range(n_classes)] for _ in range(n_pictures)])
    pictures, classes = map(np.ravel, np.indices(table.shape))
    order = np.array(random.sample(range(table.size), table.size))
    found = average_precision_by_class(labels, pictures[order], classes[order], table.ravel()[order], n_classes)
    for kind in range(n_classes):
        if (labels == kind).any():
            assert found[kind] == pytest.approx(average_precision_score(labels == kind, table[:, kind]))
        else:
            assert np.isnan(found[kind])


def test_average_precision_of_predictions_that_are_missing():
    # Class 0 has pictures 0 and 1, of which 1 is not predicted; class 1 is never predicted, class 2 has no picture.
    found = average_precision_by_class([0, 0, 1, -1], [3, 0], [0, 0], [0.5, 0.4], 3)
    assert found[:2].tolist() == [0.25, 0.0]
    assert np.isnan(found[2])
    assert mean_average_precision([0, 0, 1, -1], [3, 0], [0, 0], [0.5, 0.4], 3) == 0.125
    assert average_precision_by_class([0, -1], [], [], [], 1).tolist() == [0]


@given(scores, st.randoms())
def test_unknown_pictures_only_lower_the_precision(values, random):
    labels = [random.randint(-1, 0) for _ in values]
    n_known = len(values)
    distracted = [*labels, -1]
    for value in (-9.0, 9.0):
        predictions = [*range(n_known), n_known], [0] * (n_known + 1), [*values, value]
        with_unknown = mean_average_precision(distracted, *predictions, 1)
        without = mean_average_precision(labels, *(column[:-1] for column in predictions), 1)
        if 0 in labels:
            assert with_unknown == pytest.approx(without) if value < 0 else with_unknown < without
