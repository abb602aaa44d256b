import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.classifiers.rejection import Examples, Rejection, compute_evidence, count_evidence, fit_rejection


def compute_evidence_slowly(scores, trust, weights, confidence):
    """The evidence of one picture, by the words of the docstring."""
    possible = [column for column, score in enumerate(scores[0]) if math.isfinite(score)]
    total = {c: sum(w * t * s[c] for s, t, w in zip(scores, trust, weights, strict=True)) for c in possible}
    first, second = sorted(total.values(), reverse=True)[:2]
    best = next(c for c in possible if total[c] == first)
    shares = {c: math.exp(value - first) for c, value in total.items()}
    shares = {c: share / sum(shares.values()) for c, share in shares.items()}
    entropy = -sum(share * math.log(share) for share in shares.values() if share > 0)
    evidence = [math.log(shares[best]), math.log(max(1 - shares[best], 1e-6)), entropy, first - second]
    agreement = 0
    for own in scores:
        values = [float(own[c]) for c in possible]
        mean = sum(values) / len(values)
        high, next_high = sorted(values, reverse=True)[:2]
        deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
        evidence += [high - mean, high - next_high, own[best] - mean, own[best] - high, deviation]
        agreement += possible[values.index(high)] == best
    return [*evidence, agreement, confidence]


@given(st.integers(1, 3), st.integers(2, 8), st.integers(0, 1000))
def test_evidence_is_what_its_definition_says(n_experts, n_species, seed):
    random = np.random.default_rng(seed)
    scores = [random.normal(size=(4, n_species)) for _ in range(n_experts)]
    if n_species > 2:
        for own in scores:
            own[0, 0] = -np.inf
    trust = [random.uniform(0.1, 1, 4) for _ in range(n_experts)]
    weights, confidence = random.uniform(0.1, 2, n_experts), random.uniform(0, 1, 4)
    found = compute_evidence(scores, trust, weights, confidence)
    assert found.shape == (4, count_evidence(n_experts))
    for row in range(4):
        expected = compute_evidence_slowly(
            [own[row] for own in scores], [own[row] for own in trust], weights, confidence[row]
        )
        np.testing.assert_allclose(found[row], expected, atol=1e-9)


def make_examples(centre, n, seed):
    random = np.random.default_rng(seed)
    return Examples(random.normal(centre, 1, (n, 6)), random.normal(0, 1, (n, 2)), np.ones(n))


def test_a_fitted_rejection_separates_what_it_was_fitted_to():
    known, unknown = make_examples(2, 200, 0), make_examples(-2, 150, 1)
    non_leaves = Examples(make_examples(-2, 100, 2).evidence, np.full((100, 2), 9.0), np.ones(100))
    rejection = fit_rejection(known, unknown, non_leaves)
    other = make_examples(2, 100, 3)
    leaf, is_known = rejection.assess(other.evidence, other.measures)
    assert leaf.min() > 0.5
    assert is_known.mean() > 0.95
    other = make_examples(-2, 100, 4)
    leaf, is_known = rejection.assess(other.evidence, other.measures)
    assert leaf.min() > 0.5
    assert is_known.mean() < 0.05
    leaf, _ = rejection.assess(other.evidence, np.full((100, 2), 9.0))
    assert leaf.max() < 0.5


def test_sample_weights_count():
    known, unknown = make_examples(0, 100, 0), make_examples(0, 100, 1)
    # Only the unknown examples on one side count.
    weights = (unknown.evidence[:, 0] > 0).astype(float)
    rejection = fit_rejection(known, Examples(unknown.evidence, unknown.measures, weights), make_examples(-5, 50, 2))
    assert rejection.known[0] < 0


def test_the_threshold_rejects_the_share_asked_for():
    known, unknown = make_examples(1, 500, 0), make_examples(-1, 500, 1)
    rejection = fit_rejection(known, unknown, make_examples(-9, 50, 2))
    product = np.multiply(*rejection.assess(known.evidence, known.measures))
    for share in (0.0, 0.05, 0.5, 1.0):
        assert np.mean(product < rejection.threshold(share)) == pytest.approx(share, abs=0.005)
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match="expected a share"):
            rejection.threshold(share)


def test_extreme_evidence_gives_probabilities():
    rejection = Rejection(np.full(9, 1e6), np.full(7, -1e6), np.ones(1))
    leaf, known = rejection.assess(np.full((2, 6), 1e6), np.zeros((2, 2)))
    assert np.isfinite(leaf).all()
    assert ((leaf >= 0) & (leaf <= 1) & (known >= 0) & (known <= 1)).all()
