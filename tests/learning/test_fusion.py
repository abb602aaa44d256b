import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from leafid.learning.fusion import fit_fusion_weights, fuse


def simulated(n=4000, n_species=5, temperature=1.0, seed=0):
    """Scores, and labels drawn from their posterior at this temperature."""
    random = np.random.default_rng(seed)
    scores = random.normal(scale=2, size=(n, n_species))
    posterior = softmax(scores * temperature, axis=1)
    return scores, (random.random((n, 1)) > posterior.cumsum(axis=1)).sum(axis=1).clip(
        0, n_species - 1
    )


@given(st.integers(0, 1000), st.floats(0, 50), st.floats(0, 1))
def test_rows_are_probabilities(seed, weight, trust):
    random = np.random.default_rng(seed)
    scores = [random.normal(size=(6, 4)) * 30 for _ in range(2)]
    probabilities = fuse(
        scores, [np.full(6, trust), np.ones(6)], np.array([weight, 1.0])
    )
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()


def test_equals_the_product_of_posteriors():
    first, second = np.random.default_rng(0).normal(size=(2, 7, 3))
    trust = np.linspace(0, 1, 7)
    wanted = (
        softmax(first, axis=1) ** (0.5 * trust[:, None]) * softmax(second, axis=1) ** 2
    )
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        fuse([first, second], [trust, np.ones(7)], np.array([0.5, 2])), wanted
    )


@pytest.mark.parametrize("weight", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("trust", [0.0, 0.5, 1.0])
def test_what_can_not_be_stays_at_zero(weight, trust):
    scores = np.array([[1.0, -np.inf, 2.0], [-np.inf, 0.0, -np.inf]])
    probabilities = fuse([scores], [np.full(2, trust)], np.array([weight]))
    assert probabilities[0, 1] == 0
    assert probabilities[1].tolist() == [0, 1, 0]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_finds_a_known_temperature_in_any_unit(temperature, unit):
    scores, labels = simulated(temperature=temperature)
    (weight,) = fit_fusion_weights(
        [scores * unit], [np.ones(len(labels))], labels, np.ones(len(labels))
    )
    # 4,000 draws tell it to some percent.
    assert weight * unit == pytest.approx(temperature, rel=0.1)


def test_a_worthless_expert_gets_next_to_no_weight_and_a_contrary_one_none():
    scores, labels = simulated()
    noise = np.random.default_rng(9).normal(size=scores.shape)
    ones = np.ones(len(labels))
    weights = fit_fusion_weights([scores, noise, -scores], [ones] * 3, labels, ones)
    assert (weights >= 0).all()
    # Of other draws, the first weight has a standard deviation of 0.02, and the second
    # stays below 0.05.
    assert weights[0] == pytest.approx(1, abs=0.06)
    assert weights[1] < 0.05
    assert weights[2] == 0


def test_importance_counts_as_repetition():
    scores, labels = simulated(200)
    importance = np.random.default_rng(0).integers(1, 4, size=200)
    repeated = np.repeat(np.arange(200), importance)
    direct = fit_fusion_weights([scores], [np.ones(200)], labels, importance)
    literal = fit_fusion_weights(
        [scores[repeated]],
        [np.ones(len(repeated))],
        labels[repeated],
        np.ones(len(repeated)),
    )
    # The light pull to 0 is in units of the scores' spread, which repetition changes.
    np.testing.assert_allclose(direct, literal, rtol=1e-4)


@pytest.mark.parametrize("mute", ["scores", "trust"])
def test_an_expert_without_an_opinion_does_not_get_a_huge_weight(mute):
    scores, labels = simulated(100)
    silent = np.zeros_like(scores) if mute == "scores" else scores
    trust = np.zeros(100) if mute == "trust" else np.ones(100)
    weights = fit_fusion_weights(
        [scores, silent], [np.ones(100), trust], labels, np.ones(100)
    )
    assert weights[1] < 0.5
    assert np.isfinite(weights).all()


def test_perfect_experts_get_a_finite_weight():
    labels = np.arange(30) % 3
    scores = 5 * np.eye(3)[labels]
    (weight,) = fit_fusion_weights([scores], [np.ones(30)], labels, np.ones(30))
    assert np.isfinite(weight)
    likelihood = log_softmax(scores * weight, axis=1)[np.arange(30), labels]
    assert likelihood.mean() > -0.05
