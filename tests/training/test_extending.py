"""Models that learn further species without their training pictures."""

from dataclasses import replace

import numpy as np
import pytest

from leafid.features.extractor import LEAF_MEASURES
from leafid.features.feature_cache import FeatureCache
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import load_recipe
from leafid.learning.forest import Forest
from leafid.learning.knownness import count_evidence
from leafid.learning.leafness import Leafness
from leafid.learning.rejection import Rejection
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType, Taxon
from leafid.pictures.reading import read_collection
from leafid.training import rejection
from leafid.training.extending import extend
from leafid.training.model import train
from tests.drawing.collection import TYPES
from tests.model.model_files import take_apart

SCAN = AcquisitionType.SCAN
PHOTO = AcquisitionType.PHOTO


@pytest.fixture(scope="module")
def ridge_recipes(ridge_recipe):
    return {type_: load_recipe(str(ridge_recipe), type_) for type_ in TYPES}


@pytest.fixture(scope="module")
def ridge_loader(tmp_path_factory):
    store = FeatureCache(tmp_path_factory.mktemp("cache"))
    yield FeatureLoader(store)
    store.close()


@pytest.fixture(scope="module")
def by_species(training):
    names = sorted({picture.species for picture in training})
    return {
        name: [picture for picture in training if picture.species == name]
        for name in names
    }


@pytest.fixture(scope="module")
def old_model(by_species, ridge_recipes, ridge_loader):
    """A model of the first two species of the drawn collection."""
    first, second, _ = by_species.values()
    return train(first + second, ridge_recipes, ridge_loader)


@pytest.fixture(scope="module")
def new_pictures(by_species):
    return list(by_species.values())[2]


@pytest.fixture(scope="module")
def extended_model(old_model, new_pictures, ridge_loader):
    return extend(old_model, new_pictures, ridge_loader)


def count_correct(model, pictures, loader):
    answers = model.predict(
        [replace(picture, taxon=None) for picture in pictures], loader
    )
    return sum(
        answer.ranking[0][0] == p.species
        for answer, p in zip(answers, pictures, strict=True)
    )


def probabilities(model, pictures, loader):
    queries = [replace(picture, taxon=None) for picture in pictures]
    return np.array(
        [
            [value for _, value in sorted(answer.ranking)]
            for answer in model.predict(queries, loader)
        ]
    )


def test_new_species_are_answered_and_old_ones_still(
    extended_model, training, drawn, ridge_loader
):
    test = [
        p
        for p in read_collection(drawn).pictures
        if p.part == "test" and p.type is not PHOTO
    ]
    sheets = [picture for picture in training if picture.type is not PHOTO]
    assert count_correct(extended_model, sheets, ridge_loader) >= 17  # of 18
    assert len(test) == 6
    assert count_correct(extended_model, test, ridge_loader) >= 5


def test_the_extended_model_answers_like_one_trained_on_all(
    extended_model, training, ridge_recipes, ridge_loader, old_model, monkeypatch
):
    # Rejection, which takes most of the time, is not compared.
    monkeypatch.setattr(rejection, "_N_SHEETS", 24)
    # Few rows: the components hold nearly all of their variance, and what differs is
    # the calibration.
    whole = train(training, {SCAN: ridge_recipes[SCAN]}, ridge_loader, thumbnails=False)
    # New pictures weigh as much as in training with the others.
    kept, wanted = (
        model[SCAN].identifier.statistics["local"].weight
        for model in (extended_model, whole)
    )
    assert kept == pytest.approx(wanted, rel=0.02)
    scans = [picture for picture in training if picture.type is SCAN]
    scores = []
    for model in (whole, extended_model):
        identifier = model[SCAN].identifier
        features = list(
            ridge_loader.stream(scans, old_model[SCAN].identifier.extractor)
        )
        (shape,) = identifier.score(features)[1:]
        scores.append(shape)
    assert np.corrcoef(scores[0].ravel(), scores[1].ravel())[0, 1] > 0.95


def test_added_species_are_rejected_no_more_than_allowed(
    old_model, new_pictures, ridge_loader
):
    # Two species are too few to learn rejection from: one is made that takes every
    # picture for no leaf.
    forest = Forest(
        columns=np.zeros(1, np.uint16),
        values=np.zeros(1, np.float16),
        jumps=np.zeros(1, np.uint16),
        roots=np.zeros(1, np.uint32),
    )
    leafness = Leafness({LEAF_MEASURES: forest}, {}, np.ones(2, np.float32))
    rejection = Rejection(
        leafness,
        known_coefficients=np.append(np.zeros(count_evidence(2)), 5.0),
        quantiles=np.linspace(0.9, 1, 20),
        calibration=np.array([1.0, 0.0]),
    )
    strict = replace(old_model[SCAN].identifier, rejection=rejection)
    model = replace(
        old_model,
        types={**old_model.types, SCAN: replace(old_model[SCAN], identifier=strict)},
    )
    scans = [picture for picture in new_pictures if picture.type is SCAN]
    extended = extend(model, new_pictures, ridge_loader)[SCAN].identifier
    features = list(ridge_loader.stream(scans, extended.extractor))
    assert set(strict.rejection.judge(*strict.assess(features))) == {"no-leaf"}
    assert set(extended.rejection.judge(*extended.assess(features))) == {"species"}
    assert (np.diff(extended.rejection.quantiles) >= 0).all()


def test_the_file_keeps_statistics_once_and_extends_like_the_model(
    old_model, extended_model, new_pictures, ridge_loader, tmp_path
):
    old_model.save(tmp_path / "old.leafid")
    manifest, _ = take_apart(tmp_path / "old.leafid")
    read = Model.read(tmp_path / "old.leafid")
    assert read[PHOTO].identifier.statistics.keys() == {"words"}
    scan, scan_like = (
        manifest["model"]["types"][type_]["identifier"]
        for type_ in ("scan", "scan-like")
    )
    assert scan["statistics"] == scan_like["statistics"]
    again = extend(read, new_pictures, ridge_loader)
    wanted = probabilities(extended_model, new_pictures, ridge_loader)
    np.testing.assert_allclose(
        probabilities(again, new_pictures, ridge_loader), wanted, atol=0.05
    )
    again.save(tmp_path / "new.leafid")
    copy = Model.read(tmp_path / "new.leafid")
    assert copy[SCAN].identifier.added == extended_model[SCAN].identifier.added
    copy.save(tmp_path / "copy.leafid")
    np.testing.assert_allclose(
        probabilities(copy, new_pictures, ridge_loader),
        probabilities(again, new_pictures, ridge_loader),
        atol=2e-3,
    )


def test_a_new_species_gets_the_family_of_its_genus(
    old_model, new_pictures, ridge_loader, by_species
):
    known = old_model.species[next(iter(by_species))].taxon
    model = extend(
        old_model,
        [replace(p, taxon=Taxon("X nova", known.genus)) for p in new_pictures],
        ridge_loader,
    )
    assert model.species["X nova"].taxon == Taxon(
        "X nova", known.genus, known.family, known.order
    )
