"""A forest answers as forests of scikit-learn do, and few other things pass it."""

import msgspec
import numpy as np
import pytest

from leafid.learning import leafness as module
from leafid.learning.leafness import MIN_LEAF, fit_leafness, predict_leafness
from leafid.learning.logistic import Examples

N_COLUMNS = 12


def draw_rows(centre, number, seed):
    """Values of which many are equal in half precision."""
    rows = np.random.default_rng(seed).normal(centre, 1, (number, N_COLUMNS))
    return (np.round(rows, 2) * 10).astype(np.float16)


@pytest.fixture(scope="module")
def examples():
    return Examples(
        rows=np.vstack([draw_rows(0.5, 300, 0), draw_rows(-0.5, 200, 1)]),
        is_positive=np.arange(500) < 300,
        weights=np.ones(500),
        groups=[f"group {index % 50}" for index in range(500)],
    )


@pytest.fixture(scope="module")
def forests():
    """The forests of scikit-learn that were made, one for each fold."""
    return []


@pytest.fixture(scope="module")
def fit(examples, forests):
    make_forest = module._make_forest

    def make(n_columns, seed):
        forests.append(make_forest(n_columns, seed))
        return forests[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_make_forest", make)
        return fit_leafness(examples)


def test_the_forest_answers_as_forests_of_scikit_learn(fit, forests):
    leafness, _ = fit
    # On thresholds as well, where each rounding would show.
    rows = np.vstack([draw_rows(0, 200, 2), np.full((1, N_COLUMNS), 65504)])
    shares = [forest.predict_proba(rows.astype(np.float32))[:, 1] for forest in forests]
    expected = np.mean(shares, axis=0)
    slope, offset = leafness.calibration.astype(float)
    inside = np.clip(expected, 0.01, 0.99)
    logits = slope * np.log(inside / (1 - inside)) + offset
    probabilities = predict_leafness(rows, leafness)
    # Shares at the ends of paths are kept in half precision.
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-logits)), atol=2e-3)
    assert np.ptp(expected) > 0.5


def test_few_pictures_without_a_leaf_pass(fit, examples):
    _, probabilities = fit
    is_leaf = examples.is_positive
    assert np.mean(probabilities[~is_leaf] >= MIN_LEAF) == pytest.approx(0.05, abs=0.01)
    assert np.mean(probabilities[is_leaf] >= MIN_LEAF) > 0.8


def test_noise_teaches_nothing_of_other_groups(examples):
    """Trees remember each example, so that only held-out groups show that."""
    random = np.random.default_rng(3)
    noise = examples._replace(rows=random.normal(size=(500, N_COLUMNS)))
    leafness, probabilities = fit_leafness(noise)
    assert probabilities.tolist() == [MIN_LEAF] * 500
    assert predict_leafness(noise.rows, leafness).tolist() == [MIN_LEAF] * 500


def test_leaves_are_admitted(fit):
    leafness, _ = fit
    rows = draw_rows(0, 50, 4)
    before = predict_leafness(rows, leafness)
    lowest = before.min()
    assert lowest < MIN_LEAF
    after = predict_leafness(rows, leafness.admit(lowest))
    assert after.min() == pytest.approx(MIN_LEAF, abs=1e-5)
    assert after.min() >= MIN_LEAF
    same = predict_leafness(rows, leafness.admit(0.9))
    np.testing.assert_array_equal(same, before)


@pytest.mark.parametrize(
    ("field", "value"),
    [("columns", N_COLUMNS), ("jumps", 65535), ("roots", 2**31), ("roots", 0.5)],
)
def test_paths_stay_in_the_trees_and_the_rows(fit, field, value):
    leafness, _ = fit
    leafness.check(N_COLUMNS)
    array = getattr(leafness, field)
    forged = np.append(array[:-1], np.array([value], array.dtype))
    if isinstance(value, float):
        forged = array + value
    with pytest.raises(ValueError, match="expected trees for 12 columns"):
        msgspec.structs.replace(leafness, **{field: forged}).check(N_COLUMNS)
