import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.learning.folds import Folds
from leafid.learning.knownness import (
    HeldOutLeaves,
    compute_evidence,
    count_evidence,
    fit_knownness,
)
from leafid.learning.leafness import MIN_LEAF
from leafid.learning.leafness_fits import LeafExamples, fit_forest
from leafid.learning.logistic import Examples, fit_calibrated, predict_logistic
from leafid.learning.rejection import (
    apply_calibration,
    compute_quantiles,
    fit_rejection,
)


def compute_evidence_slowly(scores, trust, weights, confidence):
    """The evidence of one picture, by the words of the docstring."""
    possible = [
        column for column, score in enumerate(scores[0]) if math.isfinite(score)
    ]
    total = {
        c: sum(w * t * s[c] for s, t, w in zip(scores, trust, weights, strict=True))
        for c in possible
    }
    first, second = sorted(total.values(), reverse=True)[:2]
    best = next(c for c in possible if total[c] == first)
    shares = {c: math.exp(value - first) for c, value in total.items()}
    shares = {c: share / sum(shares.values()) for c, share in shares.items()}
    entropy = -sum(share * math.log(share) for share in shares.values() if share > 0)
    evidence = [
        math.log(shares[best]),
        math.log(max(1 - shares[best], 1e-6)),
        entropy,
        first - second,
    ]
    agreement = 0
    for expert_scores in scores:
        values = [float(expert_scores[c]) for c in possible]
        mean = sum(values) / len(values)
        high, next_high = sorted(values, reverse=True)[:2]
        deviation = math.sqrt(
            sum((value - mean) ** 2 for value in values) / len(values)
        )
        answer = expert_scores[best]
        evidence += [
            high - mean,
            high - next_high,
            answer - mean,
            answer - high,
            deviation,
        ]
        agreement += possible[values.index(high)] == best
    return [*evidence, agreement, confidence]


@given(st.integers(1, 3), st.integers(2, 8), st.integers(0, 1000))
def test_evidence_is_what_its_definition_says(n_experts, n_species, seed):
    random = np.random.default_rng(seed)
    scores = [random.normal(size=(4, n_species)) for _ in range(n_experts)]
    if n_species > 2:
        for expert_scores in scores:
            expert_scores[0, 0] = -np.inf
    trust = [random.uniform(0.1, 1, 4) for _ in range(n_experts)]
    weights, confidence = random.uniform(0.1, 2, n_experts), random.uniform(0, 1, 4)
    evidence = compute_evidence(scores, trust, weights, confidence)
    assert evidence.shape == (4, count_evidence(n_experts))
    for row in range(4):
        expected = compute_evidence_slowly(
            [values[row] for values in scores],
            [values[row] for values in trust],
            weights,
            confidence[row],
        )
        np.testing.assert_allclose(evidence[row], expected, atol=1e-9)


def draw_rows(centre, n, seed, n_columns=6):
    return np.random.default_rng(seed).normal(centre, 1, (n, n_columns))


def join(positive, negative, weights=None):
    """Join examples of two classes, each in ten groups."""
    n = len(positive), len(negative)
    return Examples(
        np.vstack([positive, negative]),
        np.repeat([True, False], n),
        np.ones(sum(n)) if weights is None else weights,
        [f"group {number % 10}" for size in n for number in range(size)],
    )


WEIGHTS = np.ones(2)


def draw_leaves(n, seed, n_species=6, clarity=(3.0, 0.0, 3.0), n_plants=20):
    """Leaves whose species stands out by so much in the scores of two experts.

    Scores are given without each kind of fold.
    """
    random = np.random.default_rng(seed)
    labels = np.arange(n) % n_species
    is_label = labels[:, None] == np.arange(n_species)
    scores = []
    for height, is_seen in zip(clarity, (True, False, True), strict=True):
        drawn = random.normal(size=(2, n, n_species)) + height * is_label
        scores.append([np.where(is_label & (not is_seen), -np.inf, s) for s in drawn])
    return HeldOutLeaves(
        labels=labels,
        plants=np.array([f"plant {k % n_species} {k % n_plants}" for k in range(n)]),
        weights=np.ones(n),
        confidence=np.ones(n),
        is_last_copy=np.ones(n, bool),
        trust=[np.ones(n)] * 2,
        scores=Folds(*scores),
    )


def measure(leaves):
    """The evidence of leaves as examples of known and of unknown species."""
    return [
        compute_evidence(scores, leaves.trust, WEIGHTS, leaves.confidence)
        for scores in leaves.scores[:2]
    ]


@pytest.fixture(scope="module")
def leafness():
    """What is learned of the vectors of 800 leaves, with their probabilities."""
    examples = join(draw_rows(2, 800, 0, 20), draw_rows(0, 300, 1, 20))
    fitted, probabilities = fit_forest(
        "measures", examples.rows, LeafExamples(*examples[1:])
    )
    return fitted, probabilities[:800]


@pytest.fixture(scope="module")
def fit(leafness):
    def fit(leaves, **changes):
        return fit_rejection(replace(leaves, **changes), *leafness, WEIGHTS)

    return fit


@pytest.fixture(scope="module")
def leaves():
    return draw_leaves(800, 0)


@pytest.fixture(scope="module")
def rejection(leaves, fit):
    return fit(leaves)


def test_a_fitted_rejection_separates_what_it_was_fitted_to(rejection):
    known, unknown = measure(draw_leaves(300, 1))
    leaf, p_known = rejection.assess({"measures": draw_rows(2, 300, 4, 20)}, known)
    assert np.mean(leaf > 0.5) > 0.97
    assert np.mean(p_known > 0.5) > 0.85
    leaf, p_known = rejection.assess({"measures": draw_rows(0, 300, 5, 20)}, unknown)
    assert np.mean(leaf < 0.5) > 0.9
    assert np.mean(p_known < 0.5) > 0.85


def test_sample_weights_count():
    positive, negative = draw_rows(0, 100, 2), draw_rows(0, 100, 3)
    # Only the negative examples on one side count.
    weights = np.append(np.ones(100), negative[:, 0] > 0)
    coefficients, _ = fit_calibrated(join(positive, negative, weights), 10.0)
    assert coefficients[0] < 0


def test_a_group_with_examples_of_both_classes_is_held_out_as_a_whole():
    """Else further groups would change what is said of all others."""
    plants = [f"plant {number % 10}" for number in range(60)]
    examples = Examples(
        np.vstack([draw_rows(0.5, 60, 0), draw_rows(-0.5, 60, 1)]),
        np.repeat([True, False], 60),
        np.ones(120),
        [*plants, *plants],
    )
    further = Examples(
        draw_rows(0, 7, 2), np.zeros(7, bool), np.full(7, 1e-9), [*"abcdefg"]
    )
    more = Examples(*map(np.concatenate, zip(examples, further, strict=True)))
    _, alone = fit_calibrated(examples, 1.0)
    _, together = fit_calibrated(more, 1.0)
    np.testing.assert_allclose(together[:120], alone, atol=0.02)


def test_a_class_of_one_group_is_learned():
    rows = draw_rows(3, 50, 0), draw_rows(-3, 50, 1)
    examples = join(*rows)._replace(groups=["the same"] * 100)
    coefficients, probabilities = fit_calibrated(examples, 0.01)
    assert predict_logistic(rows[0], coefficients).min() > 0.5
    assert probabilities[:50].min() > 0.5 > probabilities[50:].max()


def test_leaves_of_unknown_species_are_rejected_after_training_on_them(leaves):
    """They look surer than those of species that are held out."""
    sure = draw_leaves(300, 1, clarity=(2.0, 0.0, 2.0))
    evidence, _ = measure(sure)
    species = np.array([f"species {number % 40}" for number in range(200)])
    is_known = np.zeros(200, bool)
    further = Examples(evidence[:200], is_known, np.ones(200), species)

    # Each of the 60 plants counts the same.
    by_plant = replace(leaves, weights=np.full(800, 60 / 800))

    def mean_known(*unknown):
        known = fit_knownness(by_plant, WEIGHTS, *unknown)
        return predict_logistic(evidence[200:], known.coefficients).mean()

    assert mean_known(further) < mean_known() - 0.05
    knownness = fit_knownness(leaves, WEIGHTS, further)
    assert len(knownness.known) == len(knownness.unknown) == len(leaves.labels)


def test_a_leaf_without_another_plant_is_no_example_of_a_known_species(leaves):
    """It has weight 0 among them: other leaves are as probably known without it."""
    is_alone = np.arange(800) >= 600
    is_label = leaves.labels[:, None] == np.arange(6)
    hidden = [
        np.where(is_alone[:, None] & is_label, -np.inf, scores)
        for scores in leaves.scores.without_plant
    ]
    folds = leaves.scores._replace(without_plant=hidden)
    alone = replace(leaves, scores=folds)
    assert alone.sees_species.without_plant.tolist() == (~is_alone).tolist()
    assert not alone.sees_species.without_species.any()
    changed = fit_knownness(alone, WEIGHTS)
    original = fit_knownness(leaves, WEIGHTS)
    # Standardisation, which has no weights, changes little.
    np.testing.assert_allclose(
        changed.known[~is_alone], original.known[~is_alone], atol=0.1
    )


def test_the_share_asked_for_is_rejected(rejection):
    known, _ = measure(draw_leaves(1200, 8))
    probabilities = rejection.assess({"measures": draw_rows(2, 1200, 8, 20)}, known)
    for share in (0.05, 0.2, 0.5):
        is_rejected = rejection.judge(*probabilities, share) != "species"
        # Held-out examples, by which the threshold goes, are separated a little worse
        # than new ones.
        assert 0.7 * share - 0.01 <= is_rejected.mean() <= 1.1 * share + 0.01
    assert (rejection.judge(*probabilities, 1) != "species").all()
    assert rejection.find_threshold(0) == rejection.quantiles[0]
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match="expected a share"):
            rejection.find_threshold(share)


def test_the_operating_points_count_on_what_evidence_gains(leaves, rejection, fit):
    """Leaves are clearer to classifiers that have seen more plants.

    They gain as much from more plants to fewer held out.
    """
    more_plants = draw_leaves(800, 0, clarity=(2.0, 0.0, 2.0)).scores.without_plant
    folds = leaves.scores._replace(without_more_plants=more_plants)
    gained = fit(leaves, scores=folds)
    np.testing.assert_array_equal(
        gained.known_coefficients, rejection.known_coefficients
    )
    assert (gained.quantiles > rejection.quantiles)[10:-10].all()
    knownness = fit_knownness(replace(leaves, scores=folds), WEIGHTS)
    assert knownness.gain > 0
    # What evidence loses is noise.
    less = draw_leaves(800, 0, clarity=(4.0, 0.0, 4.0)).scores.without_plant
    folds = leaves.scores._replace(without_more_plants=less)
    assert fit_knownness(replace(leaves, scores=folds), WEIGHTS).gain == 0


def test_the_operating_points_lie_between_shares_of_plants_and_of_pictures():
    """A hard plant with a fifth of the pictures weighs a fifteenth of 401 plants.

    It has a third of the pictures of all.
    """
    scores = np.append(np.zeros(100), np.linspace(1, 2, 400))
    weights = np.append(np.full(100, 1 / 100), np.ones(400))
    quantiles = compute_quantiles(scores, weights)
    # 2/3 · 1/401 + 1/3 · 1/5 = 0.068
    steps = np.linspace(0, 1, len(quantiles))
    assert (quantiles[steps < 0.067] == 0).all()
    assert (quantiles[steps > 0.07] >= 1).all()


def test_operating_points_are_of_species_with_another_plant(leaves, rejection, fit):
    """There is a quantile for each such leaf.

    Without such a species, for each of all leaves.
    """
    assert len(rejection.quantiles) == 800
    is_alone = leaves.labels == 0
    one_plant = np.where(is_alone, "the only one", leaves.plants)
    assert len(fit(leaves, plants=one_plant).quantiles) == 800 - is_alone.sum()
    one_each = np.array([f"plant {label}" for label in leaves.labels])
    assert len(fit(leaves, plants=one_each).quantiles) == 800


def test_answers_are_calibrated_on_jittered_copies_of_pictures_that_have_them(
    leaves, fit
):
    """Copies whose scores are noise are hardly ever right, and only they count."""
    is_copy = np.arange(800) % 2 == 1
    noise = draw_leaves(800, 5, clarity=(0.0, 0.0, 0.0)).scores.without_plant
    scores = [
        np.where(is_copy[:, None], *pair)
        for pair in zip(noise, leaves.scores.without_plant, strict=True)
    ]
    folds = leaves.scores._replace(without_plant=scores)
    of_all, of_copies = (
        apply_calibration(0.5, fit(leaves, scores=folds, is_last_copy=mask).calibration)
        for mask in (np.ones(800, bool), is_copy)
    )
    assert of_copies < of_all - 0.2


def test_the_reason_of_a_rejection(rejection):
    leaf = np.array([0.99, MIN_LEAF, 0.99, 0.49, 0.0])
    known = np.array([0.99, 1.0, 0.001, 0.99, 1.0])
    verdicts = ["species", "species", "unknown", "no-leaf", "no-leaf"]
    assert rejection.judge(leaf, known).tolist() == verdicts
    # Nothing is rejected but what surely is no leaf.
    assert rejection.judge(leaf, known, 0).tolist() == ["species"] * 4 + ["no-leaf"]


def test_extreme_evidence_gives_probabilities(rejection):
    coefficients = np.full(7, -1e6, np.float32)
    extreme = msgspec.structs.replace(rejection, known_coefficients=coefficients)
    leaf, known = extreme.assess(
        {"measures": np.full((1, 20), 6e4)}, np.full((1, 6), 1e6)
    )
    assert 0 <= known[0] < 0.5 < leaf[0] <= 1
