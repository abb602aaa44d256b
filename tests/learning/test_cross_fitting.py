import numpy as np
import pytest
from msgspec import structs

from leafid.errors import LeafidError
from leafid.learning.classifiers.cross_fitting import Fold, cross_fit
from leafid.learning.classifiers.rows import make_rows
from leafid.learning.classifiers.scorers import LinearScorer
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.learning.folds import Folds

SETTINGS = ClassifierSettings()
NO_FOLDS = Folds([], [], [])
KINDS = {
    "ridge": {},
    "LinearSVC": {"classifier": "sklearn.svm.LinearSVC"},
    "LDA": {
        "classifier": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "classifier_options": {"solver": "lsqr", "shrinkage": 0.1},
    },
    "LogisticRegression": {"classifier": "sklearn.linear_model.LogisticRegression"},
    "GaussianNB": {"classifier": "sklearn.naive_bayes.GaussianNB"},
}


def drawn(n, d, n_species=3):
    random = np.random.default_rng(0)
    labels = np.arange(n) % n_species
    return (
        3 * random.normal(size=(n_species, d))[labels] + random.normal(size=(n, d))
    ).astype(np.float32), labels


def cross_fit_ways(vectors, labels, ways, kind="ridge", asked=None, weights=None):
    """Fit without each fold of some partitions.

    Give the scorer, and the scores of each.
    """
    rows = make_rows(vectors, standardise=True)
    asked = np.arange(len(labels)) if asked is None else asked
    settings = structs.replace(SETTINGS, **KINDS[kind])
    weights = np.ones(len(labels)) if weights is None else weights
    folds = []
    for way in ways:
        is_held_out = [np.isin(np.arange(len(labels)), fold) for fold in way]
        folds.append(
            [
                Fold(fold, np.where(mask, 0, weights))
                for fold, mask in zip(way, is_held_out, strict=True)
            ]
        )
    folds += [[]] * (3 - len(folds))
    expert = cross_fit(rows, labels, weights, Folds(*folds), asked, settings)
    return expert.make_scorer(), expert.held_out_scores[: len(ways)]


def learned(vectors, labels, folds, kind="ridge", asked=None):
    scorer, [scores] = cross_fit_ways(vectors, labels, [folds], kind, asked)
    return scorer, scores


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [5, 60])
def test_what_is_held_out_is_never_seen(kind, d):
    """The labels of a fold's rows don't change the classifier that scores them."""
    vectors, labels = drawn(30, d)
    folds = [np.arange(0, 15), np.arange(15, 30)]
    _, before = learned(vectors, labels, folds, kind)
    turned = labels.copy()
    turned[folds[0]] = (labels[folds[0]] + 1) % 3
    _, after = learned(vectors, turned, folds, kind)
    # To the bit: nothing that a label of the fold has a part in has a part in its
    # scores.
    np.testing.assert_array_equal(after[folds[0]], before[folds[0]])
    assert np.abs(after[folds[1]] - before[folds[1]]).max() > 0.1


@pytest.mark.parametrize("kind", ["ridge", "LogisticRegression"])
@pytest.mark.parametrize("d", [5, 60])
def test_held_out_scores_are_those_of_a_fit_to_the_other_rows(kind, d):
    """Means are not learned from rows that are held out."""
    vectors, labels = drawn(60, d)
    domains = np.random.default_rng(1).integers(2, size=60)
    rows = make_rows(vectors, domains=domains)
    settings = structs.replace(SETTINGS, **KINDS[kind])
    fold, weights = np.arange(0, 60, 4), np.random.default_rng(2).uniform(0.2, 2, 60)
    remaining = np.where(np.isin(np.arange(60), fold), 0, weights)
    expert = cross_fit(
        rows, labels, weights, Folds([Fold(fold, remaining)], [], []), fold, settings
    )
    alone = cross_fit(rows, labels, remaining, NO_FOLDS, fold, settings)
    centred = alone.transform.transform(vectors[fold], domains[fold])
    coefficients, intercepts = alone.classifier
    # Scores are up to 10.
    np.testing.assert_allclose(
        expert.held_out_scores.without_plant,
        centred @ coefficients + intercepts,
        atol=1e-3,
    )


@pytest.mark.parametrize("kind", ["ridge", "LogisticRegression"])
def test_targets_are_what_a_classifier_scores(kind):
    vectors, labels = drawn(60, 5)
    settings = structs.replace(SETTINGS, **KINDS[kind])
    weights = np.random.default_rng(2).uniform(0.2, 2, 60)
    expert = cross_fit(
        make_rows(vectors),
        labels,
        weights,
        NO_FOLDS,
        np.arange(60),
        settings,
        keep_statistics=True,
    )
    scores = expert.make_scorer().scores(vectors)
    is_right = labels[:, None] == np.arange(3)
    right = np.average(scores[is_right], weights=weights)
    wrong = np.average(scores[~is_right].reshape(60, 2).mean(axis=1), weights=weights)
    expected = (-1, 1) if kind == "ridge" else (wrong, right)
    np.testing.assert_allclose(expert.targets, expected, atol=1e-3)
    assert wrong < right
    assert expert.statistics.weight == pytest.approx(weights.sum())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [5, 60])
def test_rows_may_be_divided_in_several_ways(kind, d):
    """Each gives the scores that it gives alone."""
    vectors, labels = drawn(30, d)
    ways = [
        np.array_split(np.random.default_rng(seed).permutation(30), n)
        for seed, n in ((1, 4), (2, 2))
    ]
    scorer, (first, nothing, second) = cross_fit_ways(
        vectors, labels, [ways[0], [], ways[1]], kind
    )
    assert np.isneginf(nothing).all()
    for scores, way in ((first, ways[0]), (second, ways[1])):
        alone, expected = learned(vectors, labels, way, kind)
        # Sums over other folds are added up in another order.
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            alone.scores(vectors), scorer.scores(vectors), rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [5, 60])
def test_a_species_that_a_fold_did_not_see(kind, d):
    vectors, labels = drawn(30, d)
    unseen = np.flatnonzero(labels == 2)
    _, scores = learned(
        vectors, labels, [unseen, np.setdiff1d(np.arange(30), unseen)], kind
    )
    assert np.isneginf(scores[unseen, 2]).all()
    assert np.isfinite(scores[unseen][:, :2]).all()
    # Whoever saw one species only can't tell: a constant for it, and nothing for the
    # others.
    others = np.setdiff1d(np.arange(30), unseen)
    assert np.ptp(scores[others, 2]) < 1e-6
    assert np.isneginf(scores[others][:, :2]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_species_needs_no_classifier(kind):
    vectors, _ = drawn(30, 5)
    scorer, scores = learned(vectors, np.zeros(30, int), [np.arange(15)], kind)
    assert isinstance(scorer, LinearScorer)
    assert not scorer.coefficients.any()
    assert scorer.scores(vectors).shape == scores.shape == (30, 1)
    assert np.isfinite(scores[:15]).all()


@pytest.mark.parametrize("d", [4, 40])
def test_a_penalty_that_is_too_weak(d):
    vectors = 1e6 * np.repeat(np.random.default_rng(0).normal(size=(30, 1)), d, axis=1)
    settings = structs.replace(SETTINGS, regularisation=1e-300)
    with pytest.raises(
        LeafidError, match=r"regularisation of 1e-300 is too weak for 30 pictures"
    ):
        cross_fit(
            make_rows(vectors),
            np.arange(30) % 2,
            np.ones(30),
            NO_FOLDS,
            np.arange(30),
            settings,
        )
