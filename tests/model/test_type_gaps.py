"""Species that training knows from pictures of other acquisition types only."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from leafid.features.extractor import Features
from leafid.features.recipe import Expert, Measures, Recipe
from leafid.learning.fusion import fuse
from leafid.model.fitting import fusing
from leafid.model.fitting.identifiers import fit_identifiers
from leafid.model.fitting.type_gaps import RISE_PENALTY, find_type_gaps, fit_rise
from leafid.pictures.picture import AcquisitionType, Picture, Taxon

SCAN, SHEET = AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE
SHAPE = Expert(Measures(("hu",)))
RECIPE = Recipe(SHEET, {"shape": SHAPE}, (SCAN, SHEET))
N_SPECIES = 12


@given(st.integers(0, 10_000))
def test_gaps_are_the_species_without_a_picture_of_the_type(seed):
    random = np.random.default_rng(seed)
    labels = np.append(random.integers(0, 5, 20), np.arange(5))
    is_of_type = random.random(25) < 0.4
    folds_of = random.integers(0, 3, 25)
    folds = [np.flatnonzero(folds_of == fold) for fold in range(3)]
    indices = np.flatnonzero(is_of_type)
    gaps = find_type_gaps(labels, is_of_type, [folds, []], indices)

    def is_gap(species, trained):
        return not any(labels[i] == species and is_of_type[i] for i in trained)

    final = [is_gap(species, range(25)) for species in range(5)]
    assert gaps.final.tolist() == final
    assert gaps.held_out[1].tolist() == [final] * len(indices)
    for index, row in zip(indices, gaps.held_out[0], strict=True):
        trained = np.flatnonzero(folds_of != folds_of[index])
        assert row.tolist() == [is_gap(species, trained) for species in range(5)]


def simulate_answers(seed, rise, n=100):
    """Probabilities of equally frequent species, those of gaps too low by a factor, the exponential of the rise."""
    random = np.random.default_rng(seed)
    gaps = random.random((n, 6)) < 0.3
    labels = random.integers(0, 6, n)
    # The logarithms of the likelihoods of values with a standard deviation of 1, and a mean of 2 for the label.
    scores = 2 * (random.normal(size=(n, 6)) + 2 * (labels[:, None] == np.arange(6)))
    return fuse([scores - rise * gaps], [np.ones(n)], np.ones(1)), gaps, labels, random.random(n)


@given(st.integers(0, 10_000), st.floats(-1, 3))
def test_the_rise_is_the_likeliest(seed, rise):
    has_gaps = simulate_answers(seed, rise)[1].any(axis=1)
    probabilities, gaps, labels, importance = (values[has_gaps] for values in simulate_answers(seed, rise))
    is_gap = gaps[np.arange(len(labels)), labels]
    frequency = np.average(gaps.sum(axis=1) / 6, weights=importance)
    most = 2 * frequency / (1 - frequency) * importance[~is_gap].sum()
    if importance[is_gap].sum() > most:
        importance = np.where(is_gap, importance * most / importance[is_gap].sum(), importance)

    def compute_loss(rise):
        raised = fuse([np.log(probabilities) + rise * gaps], [np.ones(len(labels))], np.ones(1))
        log_likelihood = np.log(raised[np.arange(len(labels)), labels])
        return -np.average(log_likelihood, weights=importance) + RISE_PENALTY * rise**2

    best = minimize_scalar(compute_loss, bounds=(0, 10), method="bounded").x
    # Twice the tolerance of the bounded minimisation.
    assert fit_rise(*simulate_answers(seed, rise)) == pytest.approx(best, abs=2e-5)


def test_finds_a_known_rise():
    found = fit_rise(*simulate_answers(0, 1.5, 20_000))
    assert found == pytest.approx(1.5, abs=0.1)
    assert fit_rise(*simulate_answers(0, -1.5, 20_000)) == 0


def test_little_evidence_raises_little():
    """A single picture in 20 says that its gap is the species, and nearly nothing the contrary."""
    gaps = np.repeat([[True, False], [False, True]], [1, 19], axis=0)
    probabilities = np.repeat([[0.5, 0.5], [0.9999, 0.0001]], [1, 19], axis=0)
    rise = fit_rise(probabilities, gaps, np.zeros(20, int), np.ones(20))

    def compute_slope(rise):
        factor = np.exp(rise)
        others = 0.0001 * factor / (0.9999 + 0.0001 * factor)
        return 0.006 * rise + 19 / 20 * others - 1 / 20 / (1 + factor)

    assert rise == pytest.approx(brentq(compute_slope, 0, 10), abs=1e-4)
    assert rise == pytest.approx(1.478, abs=0.01)


def test_being_held_out_does_not_tell_the_species():
    """Where every held-out picture is the only one of its species and type, nothing is learned from that."""
    gaps = np.arange(20)[:, None] // 4 == np.arange(20)[None] // 4
    assert fit_rise(np.full((20, 20), 0.05), gaps, np.arange(20), np.ones(20)) == 0
    # Nor from pictures of a species that is never a gap, where nothing is.
    gaps = np.concatenate([gaps, np.zeros((20, 20), bool)])
    assert fit_rise(np.full((40, 20), 0.05), gaps, np.append(np.arange(20), np.full(20, 19)), np.ones(40)) == 0


def test_nothing_rises_without_evidence():
    probabilities, _, labels, importance = simulate_answers(0, 1)
    nowhere, everywhere = np.zeros((len(labels), 6), bool), np.ones((len(labels), 6), bool)
    assert fit_rise(probabilities, nowhere, labels, importance) == 0
    assert fit_rise(probabilities, everywhere, labels, importance) == 0
    assert fit_rise(probabilities[:0], nowhere[:0], labels[:0], importance[:0]) == 0


def test_gaps_that_are_too_frequent_count_less():
    """Nine of ten pictures are of a gap, one of four species: they count as 0.4 of the pictures."""
    gaps = np.tile(np.arange(4) == 0, (10, 1))
    rise = fit_rise(np.full((10, 4), 0.25), gaps, np.repeat([0, 1], [9, 1]), np.ones(10))

    def compute_slope(rise):
        factor = np.exp(rise)
        return 0.006 * rise + factor / (3 + factor) - 0.4

    assert rise == pytest.approx(brentq(compute_slope, 0, 10), abs=1e-4)


class Loader:
    """Stands for `FeatureLoader`: has the vector of each picture."""

    folder = None

    def __init__(self, vectors):
        self.vectors = vectors

    def show_progress(self, items, total, what):
        return items

    def stream(self, pictures, extractor):
        for picture in pictures:
            yield Features(dict.fromkeys(extractor.experts, self.vectors[picture.file]), 0.9)


def simulate_pictures(n_scan_like, seed=0):
    """Two scanned plants of each species, and scan-like ones, which differ from them in another way in each species."""
    centres = 2 * np.random.default_rng(1).normal(size=(2, N_SPECIES, 10))
    random = np.random.default_rng(seed)
    vectors, pictures = {}, []
    for species in range(N_SPECIES):
        for type_, number in ((SCAN, 2), (SHEET, n_scan_like[species])):
            for plant in range(number):
                name = f"Genus {chr(ord('a') + species)}"
                own = Picture(Path(f"{species}-{type_}-{plant}"), type_, taxon=Taxon(name), plant=f"{name} {plant}")
                vector = centres[0, species] + 0.5 * random.normal(size=10)
                vectors[own.file] = (vector + (type_ is SHEET) * centres[1, species] / 2).astype(np.float32)
                pictures.append(own)
    return pictures, Loader(vectors)


def fit(recipe, n_scan_like, learn_rejection):
    [fitted] = fit_identifiers([recipe], *simulate_pictures(n_scan_like), learn_rejection=learn_rejection)
    return fitted.identifier


def fit_with_and_without(recipe, n_scan_like, monkeypatch, learn_rejection=False):
    raised = fit(recipe, n_scan_like, learn_rejection)
    monkeypatch.setattr(fusing, "fit_rise", lambda *_: 0.0)
    return raised, fit(recipe, n_scan_like, learn_rejection)


#: Scan-like plants of each species: none; one, which is of a gap when it is held out; three.
SOME_GAPS = [0] * 4 + [1] * 4 + [3] * 4


def test_species_without_a_picture_of_the_type_are_identified_better(monkeypatch):
    raised, plain = fit_with_and_without(RECIPE, SOME_GAPS, monkeypatch, learn_rejection=True)
    new, loader = simulate_pictures([5] * N_SPECIES, seed=2)
    own = [picture for picture in new if picture.type is SHEET]
    columns = [plain.species.index(picture.species) for picture in own]
    features = list(loader.stream(own, raised.extractor))
    log_loss = [
        -np.log(identifier.predict_proba(features)[np.arange(len(own)), columns]) for identifier in (raised, plain)
    ]
    is_gap = np.array(columns) < 4
    assert log_loss[0][is_gap].mean() < log_loss[1][is_gap].mean() - 0.1
    assert log_loss[0].mean() < log_loss[1].mean()


@pytest.mark.parametrize("trust", ["always", "segmentation"])
def test_only_gaps_rise_in_an_expert_that_is_trusted_in_all_pictures(trust, monkeypatch):
    experts = {"first": SHAPE.with_keys(trust="segmentation"), "second": SHAPE.with_keys(trust=trust)}
    raised, plain = fit_with_and_without(replace(RECIPE, experts=experts), SOME_GAPS, monkeypatch)
    np.testing.assert_array_equal(raised.weights, plain.weights)
    rise = {name: raised.scorers[name].intercepts - plain.scorers[name].intercepts for name in experts}
    assert not rise["first"].any()
    assert not rise["second"][4:].any()
    if trust == "segmentation":
        assert not rise["second"].any()
    else:
        assert rise["second"][:4].min() > 0.01
        np.testing.assert_allclose(rise["second"][:4], rise["second"][0], rtol=1e-5)


@pytest.mark.parametrize("n_scan_like", [[3] * N_SPECIES, [0] * 6 + [3] * 6])
def test_answers_stay_where_no_held_out_plant_is_of_a_gap(n_scan_like, monkeypatch):
    raised, plain = fit_with_and_without(RECIPE, n_scan_like, monkeypatch)
    for array in ("coefficients", "intercepts"):
        assert getattr(raised.scorers["shape"], array).tobytes() == getattr(plain.scorers["shape"], array).tobytes()
