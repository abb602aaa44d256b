"""Few other things pass for leaves, and forests answer as those of scikit-learn do."""

import msgspec
import numpy as np
import pytest

from leafid.learning import forest as forest_module
from leafid.learning.classifiers.rows import make_rows
from leafid.learning.leafness import MIN_LEAF, predict_leafness
from leafid.learning.leafness_fits import LeafExamples, fit_forest, fit_linear

NAME = "measures"
N_COLUMNS = 12
EXAMPLES = LeafExamples(
    is_leaf=np.arange(500) < 300,
    weights=np.ones(500),
    groups=[f"group {index % 50}" for index in range(500)],
)


def draw_rows(centre, number, seed):
    """Values of which many are equal in half precision."""
    rows = np.random.default_rng(seed).normal(centre, 1, (number, N_COLUMNS))
    return (np.round(rows, 2) * 10).astype(np.float16)


ROWS = np.vstack([draw_rows(0.5, 300, 0), draw_rows(-0.5, 200, 1)])


@pytest.fixture(scope="module")
def forests():
    """The forests of scikit-learn that were made, one for each fold."""
    return []


@pytest.fixture(scope="module")
def fit(forests):
    make_forest = forest_module._make_forest

    def make(n_columns, seed):
        forests.append(make_forest(n_columns, seed))
        return forests[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest_module, "_make_forest", make)
        return fit_forest(NAME, ROWS, EXAMPLES)


def make_two_rows(values):
    """Make rows of two experts, one of them with a feature map."""
    return {
        "first": make_rows(values, standardise=True),
        "second": make_rows(np.abs(values[:, :5]), map="chi2"),
    }


@pytest.fixture(scope="module")
def linear_fit():
    return fit_linear(make_two_rows(ROWS).items(), EXAMPLES)


def test_the_forest_answers_as_forests_of_scikit_learn(fit, forests):
    leafness, _ = fit
    # On thresholds as well, where each rounding would show.
    rows = np.vstack([draw_rows(0, 200, 2), np.full((1, N_COLUMNS), 65504)])
    shares = [forest.predict_proba(rows.astype(np.float32))[:, 1] for forest in forests]
    expected = np.mean(shares, axis=0)
    slope, offset = leafness.calibration.astype(float)
    inside = np.clip(expected, 0.01, 0.99)
    logits = slope * np.log(inside / (1 - inside)) + offset
    probabilities = predict_leafness({NAME: rows}, leafness)
    # Shares at the ends of paths are kept in half precision.
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-logits)), atol=2e-3)
    assert np.ptp(expected) > 0.5


@pytest.mark.parametrize(("kind", "share"), [("fit", 0.05), ("linear_fit", 1 / 300)])
def test_few_pictures_without_a_leaf_pass(kind, share, request):
    _, probabilities = request.getfixturevalue(kind)
    is_leaf = EXAMPLES.is_leaf
    passing = np.mean(probabilities[~is_leaf] >= MIN_LEAF)
    assert passing == pytest.approx(share, abs=0.01)
    assert np.mean(probabilities[is_leaf] >= MIN_LEAF) > 0.8 - 10 * (0.05 - share)


def test_noise_teaches_nothing_of_other_groups():
    """Trees remember each example, so that only held-out groups show that."""
    noise = np.random.default_rng(3).normal(size=(500, N_COLUMNS))
    leafness, probabilities = fit_forest(NAME, noise, EXAMPLES)
    assert probabilities.tolist() == [MIN_LEAF] * 500
    assert predict_leafness({NAME: noise}, leafness).tolist() == [MIN_LEAF] * 500


def test_a_quarter_of_the_leaves_is_lost_at_most():
    noise = np.random.default_rng(3).normal(size=(500, N_COLUMNS))
    _, probabilities = fit_linear([("first", make_rows(noise))], EXAMPLES)
    lost = np.mean(probabilities[EXAMPLES.is_leaf] < MIN_LEAF)
    assert lost == pytest.approx(0.25, abs=0.01)


def test_linear_scores_are_sums_over_experts(linear_fit):
    """The sum is of what each expert gives, and ranks rows as a ridge of all does."""
    leafness, held_out = linear_fit
    vectors = {"first": ROWS, "second": np.abs(ROWS[:, :5])}
    probabilities = predict_leafness(vectors, leafness)
    _, offset = leafness.calibration.astype(float)
    logits = offset + sum(
        scorer.scores(vectors[name]).astype(float)[:, 0]
        for name, scorer in leafness.scorers.items()
    )
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-logits)), atol=1e-6)
    # Those without the group of a row are a little worse.
    is_leaf = EXAMPLES.is_leaf
    gaps = [
        values[is_leaf].mean() - values[~is_leaf].mean()
        for values in (probabilities, held_out)
    ]
    assert gaps[0] > gaps[1] > 0.1


def test_held_out_groups_teach_nothing():
    """Rows that only their group resembles are told apart by no other group."""
    random = np.random.default_rng(5)
    centres = 5 * random.normal(size=(100, 200))
    groups = np.arange(500) % 100
    rows = (centres[groups] + random.normal(size=(500, 200))).astype(np.float16)
    is_leaf = random.random(100)[groups] < 0.5
    examples = LeafExamples(is_leaf, np.ones(500), [str(group) for group in groups])
    leafness, probabilities = fit_linear([("first", make_rows(rows))], examples)
    seen = predict_leafness({"first": rows}, leafness)
    assert np.corrcoef(seen, is_leaf)[0, 1] > 0.3
    assert abs(np.corrcoef(probabilities, is_leaf)[0, 1]) < 0.2


@pytest.mark.parametrize("kind", ["fit", "linear_fit"])
def test_leaves_are_admitted(kind, request):
    leafness, _ = request.getfixturevalue(kind)
    rows = draw_rows(0, 50, 4)
    vectors = {NAME: rows, "first": rows, "second": np.abs(rows[:, :5])}
    before = predict_leafness(vectors, leafness)
    lowest = before.min()
    assert lowest < MIN_LEAF
    after = predict_leafness(vectors, leafness.admit(lowest))
    assert after.min() == pytest.approx(MIN_LEAF, abs=1e-5)
    assert after.min() >= MIN_LEAF
    same = predict_leafness(vectors, leafness.admit(0.9))
    np.testing.assert_array_equal(same, before)


@pytest.mark.parametrize(
    ("field", "value"),
    [("columns", N_COLUMNS), ("jumps", 65535), ("roots", 2**31), ("roots", 0.5)],
)
def test_paths_stay_in_the_trees_and_the_rows(fit, field, value):
    forest = fit[0].forests[NAME]
    forest.check(N_COLUMNS)
    array = getattr(forest, field)
    forged = np.append(array[:-1], np.array([value], array.dtype))
    if isinstance(value, float):
        forged = array + value
    with pytest.raises(ValueError, match="expected trees for 12 columns"):
        msgspec.structs.replace(forest, **{field: forged}).check(N_COLUMNS)
