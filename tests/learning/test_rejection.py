import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.learning import rejection_fitting
from leafid.learning.rejection import (
    Rejection,
    acceptance_score,
    compute_evidence,
    count_evidence,
)
from leafid.learning.rejection_fitting import Examples, FirstSpecies


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


def make_examples(centre, n, seed, n_columns=6):
    random = np.random.default_rng(seed)
    return Examples(
        random.normal(centre, 1, (n, n_columns)),
        np.ones(n),
        [f"group {number % 10}" for number in range(n)],
    )


def fit_rejection(leaves, non_leaves, known, unknown, gain=0.0, is_typical=None):
    n = len(known.rows)
    first = FirstSpecies(np.ones(n), np.ones(n), np.zeros(n, bool), np.ones(n, bool))
    is_typical = np.ones(n, bool) if is_typical is None else is_typical
    return rejection_fitting.fit_rejection(
        leaves, non_leaves, known, unknown, gain, is_typical, first
    )


@pytest.fixture(scope="module")
def rejection():
    return fit_rejection(
        make_examples(2, 800, 0, 20),
        make_examples(0, 500, 1, 20),
        make_examples(1, 800, 2),
        make_examples(-1, 500, 3),
    )


def test_a_fitted_rejection_separates_what_it_was_fitted_to(rejection):
    leaf, known = rejection.assess(
        make_examples(2, 100, 4, 20).rows, make_examples(1, 100, 6).rows
    )
    assert np.mean(leaf > 0.5) > 0.97
    assert np.mean(known > 0.5) > 0.95
    leaf, known = rejection.assess(
        make_examples(0, 100, 5, 20).rows, make_examples(-1, 100, 7).rows
    )
    assert np.mean(leaf < 0.5) > 0.97
    assert np.mean(known < 0.5) > 0.95


def test_probabilities_hold_on_groups_that_were_held_out():
    # Nothing separates the classes but noise, of which the regression learns as much as there are columns.
    rejection = fit_rejection(
        make_examples(0, 60, 0, 300),
        make_examples(0, 60, 1, 300),
        make_examples(0, 60, 2),
        make_examples(0, 60, 3),
    )
    probabilities, _ = rejection.assess(
        make_examples(0, 200, 4, 300).rows, make_examples(0, 200, 5).rows
    )
    # 19 of 20 pictures are taken to show a leaf.
    assert (
        0.91 < np.quantile(probabilities, 0.1) < np.quantile(probabilities, 0.9) < 0.975
    )


def test_sample_weights_count():
    leaves, others = make_examples(5, 100, 0), make_examples(-5, 50, 1)
    known, unknown = make_examples(0, 100, 2), make_examples(0, 100, 3)
    # Only the unknown examples on one side count.
    unknown = unknown._replace(weights=(unknown.rows[:, 0] > 0).astype(float))
    assert fit_rejection(leaves, others, known, unknown).known[0] < 0


def test_the_share_asked_for_is_rejected(rejection):
    probabilities = rejection.assess(
        make_examples(2, 1000, 8, 20).rows, make_examples(1, 1000, 9).rows
    )
    for share in (0.05, 0.2, 0.5):
        is_rejected = rejection.judge(*probabilities, share) != "species"
        # Held-out examples, by which the threshold goes, are separated a little worse than new ones.
        assert 0.7 * share - 0.01 <= is_rejected.mean() <= 1.1 * share + 0.01
    assert (rejection.judge(*probabilities, 1) != "species").all()
    assert rejection.find_threshold(0) == rejection.quantiles[0]
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match="expected a share"):
            rejection.find_threshold(share)


def test_the_operating_points_count_on_what_evidence_gains():
    examples = (
        make_examples(2, 400, 0),
        make_examples(0, 300, 1),
        make_examples(1, 400, 2),
        make_examples(-1, 300, 3),
    )
    fitted = fit_rejection(*examples)
    # New leaves whose evidence is better by this than that of held-out ones.
    gain = np.full(6, 0.3)
    gained = fit_rejection(*examples, gain)
    np.testing.assert_array_equal(gained.known, fitted.known)
    probabilities = fitted.assess(
        make_examples(2, 2000, 8).rows, make_examples(1, 2000, 9).rows + gain
    )
    shares = [
        (rejection.judge(*probabilities, 0.1) != "species").mean()
        for rejection in (fitted, gained)
    ]
    assert shares[0] < 0.08 < shares[1] < 0.14
    # What evidence loses is noise.
    np.testing.assert_array_equal(
        fit_rejection(*examples, -gain).quantiles, fitted.quantiles
    )


def test_the_operating_points_lie_between_shares_of_plants_and_of_pictures():
    """A hard plant with a fifth of the pictures of 401 plants weighs a fifteenth of all, a third of its pictures."""
    hard, easy = make_examples(0, 100, 0), make_examples(1, 400, 1)
    groups = ["hard"] * 100 + [f"easy {number}" for number in range(400)]
    leaves = Examples(
        np.vstack([hard.rows - 2, easy.rows]),
        np.append(np.full(100, 1 / 100), np.ones(400)),
        groups,
    )
    others = make_examples(-1, 300, 2), leaves, make_examples(-1, 300, 3)
    new = make_examples(1, 2000, 4).rows, make_examples(1, 2000, 5).rows
    fitted = fit_rejection(leaves, *others)
    assert (fitted.judge(*fitted.assess(*new), 0.06) != "species").mean() < 0.01
    assert 0.01 < (fitted.judge(*fitted.assess(*new), 0.1) != "species").mean() < 0.06
    without_hard = fit_rejection(leaves, *others, is_typical=np.array(groups) != "hard")
    assert (
        0.07
        < (without_hard.judge(*fitted.assess(*new), 0.1) != "species").mean()
        < 0.13
    )
    # Without a typical leaf, all of them count.
    np.testing.assert_array_equal(
        fit_rejection(leaves, *others, is_typical=np.zeros(500, bool)).quantiles,
        fitted.quantiles,
    )


def test_what_is_probably_no_leaf_is_rated_below_all_others():
    leaf, known = np.array([0.8, 0.92, 0.96, 0.95]), np.array([1.0, 0.2, 0.5, 0.9])
    assert np.argsort(acceptance_score(leaf, known)).tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(acceptance_score(leaf, known)[1:], [0.184, 0.48, 0.855])


def test_the_reason_of_a_rejection(rejection):
    leaf, known = (
        np.array([0.99, 0.99, 0.5, 0.1, 0.0]),
        np.array([0.99, 0.001, 0.99, 0.99, 1.0]),
    )
    assert rejection.judge(leaf, known).tolist() == [
        "species",
        "unknown",
        "unclear",
        "no-leaf",
        "no-leaf",
    ]
    assert rejection.judge(leaf, known, 0)[-1] == "no-leaf"


def test_a_class_of_one_group_is_learned():
    alone = make_examples(3, 50, 0)._replace(groups=["the same"] * 50)
    rejection = fit_rejection(
        alone, make_examples(-3, 50, 1), alone, make_examples(-3, 50, 2)
    )
    assert rejection.assess(alone.rows, alone.rows)[0].min() > 0.5


def test_extreme_rows_give_probabilities():
    rejection = Rejection(
        np.full(7, 1e6, np.float32), np.full(7, -1e6, np.float32), np.ones(1)
    )
    leaf, known = rejection.assess(np.full((1, 6), 1e6), np.full((1, 6), 1e6))
    assert 0 <= known[0] < 0.5 < leaf[0] <= 1
