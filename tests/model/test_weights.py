"""Weights of pictures in training, of plants in the fusion, and of experts by the confidence of the segmentation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from leafid.features.extractor import Features
from leafid.features.recipe import ClassifierSettings, Expert, Recipe
from leafid.features.sampling import weigh_by_plant
from leafid.learning.fusion import fuse
from leafid.model.fitting import fusing
from leafid.model.fitting import identifiers as module
from leafid.model.fitting.identifiers import fit_identifiers
from leafid.model.fitting.plan import FitPlan, split_into_folds
from leafid.model.fitting.training_set import TrainingSet
from leafid.model.identifier import expert_trust
from leafid.pictures.picture import AcquisitionType, Picture, Taxon

SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO
SHAPE = Expert(descriptor="measures", families=("hu",))
EVENLY = ClassifierSettings(species_balance=0.0, plant_balance=0.0)


def picture(plant, species="Acer campestre", type_=SCAN, number=0):
    return Picture(Path(f"{plant}-{species}-{type_}-{number}.jpg"), type_, taxon=Taxon(species), plant=plant)


#: Four pictures of two plants of a species, two of two plants of another.
PICTURES = [picture("a", number=n) for n in range(3)] + [picture("b"), *(picture(p, "Salix alba") for p in "cd")]


class Loader:
    """Stands for `FeatureLoader`: a vector for each picture, which tells its species and its plant."""

    folder = None

    def show_progress(self, items, total, what):
        return items

    def learn_encoders(self, pictures, recipe, seed):
        return {}

    def stream(self, pictures, extractor):
        for own in pictures:
            vector = np.array([len(own.species), ord(own.plant), len(own.file.name)], np.float32)
            yield Features(dict.fromkeys(extractor.experts, vector), 0.25)


def weigh(pictures, settings):
    """Give the weights of pictures in training on all of them and then without each fold, and the folds."""
    n = len(pictures)
    recipe = Recipe(types=(SCAN,), experts={"shape": SHAPE}, training_types=(SCAN, PHOTO))
    training_set = TrainingSet(recipe, pictures, np.ones(n), np.arange(n), np.zeros(n, int), np.ones(n), {})
    plan = FitPlan(recipe, [SCAN], training_set, np.arange(n), None, 0, rejection=False)
    return plan.weigh(settings), plan.partitions[0]


def test_scans_and_photos_of_a_plant_are_weighed_as_two_plants():
    pictures = [picture("a", number=n) for n in range(3)] + [picture("a", type_=PHOTO)]
    [weights] = weigh(pictures, structs.replace(EVENLY, plant_balance=1.0))[0]
    np.testing.assert_allclose(weights / weights[3], [1 / 3, 1 / 3, 1 / 3, 1])


@pytest.mark.parametrize(
    ("species_balance", "plant_balance", "ratio"), [(0.0, 0.0, 1), (1.0, 0.0, 4), (0.5, 0.0, 2), (0.0, 0.5, 2**0.5)]
)
def test_the_exponents_of_a_recipe_decide_the_weights(species_balance, plant_balance, ratio):
    """Four pictures of two plants of the first species, one picture of the second species."""
    pictures = [picture("a"), picture("a"), picture("b"), picture("b"), picture("c", "Salix alba")]
    settings = ClassifierSettings(species_balance=species_balance, plant_balance=plant_balance)
    weights = weigh(pictures, settings)[0][0]
    assert weights[4] / weights[0] == pytest.approx(ratio)
    assert weights.mean() == pytest.approx(1)


def test_classifiers_are_trained_with_these_weights(monkeypatch):
    expert = structs.replace(SHAPE, species_balance=1.0, plant_balance=1.0)
    given = []
    cross_fit = module.cross_fit

    def spy(matrix, labels, weights, *others, **options):
        given.append(weights)
        return cross_fit(matrix, labels, weights, *others, **options)

    monkeypatch.setattr(module, "cross_fit", spy)
    recipe = Recipe(types=(SCAN,), experts={"shape": expert}, training_types=(SCAN,))
    fit_identifiers(recipe, recipe.types, PICTURES, Loader())
    # 1 / (pictures of the species) / (pictures of the plant), with mean 1.
    expected = np.array([1 / 12, 1 / 12, 1 / 12, 1 / 4, 1 / 2, 1 / 2])
    np.testing.assert_allclose(given[0][0], expected / expected.mean())


def test_each_plant_counts_once_in_the_fusion(monkeypatch):
    np.testing.assert_allclose(weigh_by_plant(PICTURES), [1 / 3, 1 / 3, 1 / 3, 1, 1, 1])
    given = []
    fit_fusion_weights = fusing.fit_fusion_weights

    def spy(scores, trust, labels, importance):
        given.append((trust, importance))
        return fit_fusion_weights(scores, trust, labels, importance)

    monkeypatch.setattr(fusing, "fit_fusion_weights", spy)
    experts = {"always": SHAPE, "confident": structs.replace(SHAPE, trust="segmentation")}
    recipe = Recipe(types=(SCAN,), experts=experts, training_types=(SCAN,))
    fit_identifiers(recipe, recipe.types, PICTURES, Loader())
    [(trust, importance)] = given
    np.testing.assert_allclose(importance, [1 / 3, 1 / 3, 1 / 3, 1, 1, 1])
    np.testing.assert_allclose(trust, [[1.0] * 6, [0.25] * 6])


def test_an_expert_is_trusted_as_far_as_the_segmentation_is_confident():
    recipe = Recipe(
        types=(SCAN,),
        experts={"always": SHAPE, "confident": structs.replace(SHAPE, trust="segmentation")},
        training_types=(SCAN,),
    )
    confidence = np.array([0.0, 0.5, 1.0])
    always, confident = expert_trust(recipe, confidence)
    np.testing.assert_array_equal(always, [1, 1, 1])
    np.testing.assert_array_equal(confident, confidence)


def test_answers_scale_the_scores_of_such_an_expert():
    recipe = Recipe(
        types=(SCAN,), experts={"shape": structs.replace(SHAPE, trust="segmentation")}, training_types=(SCAN,)
    )
    [(identifier, _)] = fit_identifiers(recipe, recipe.types, PICTURES, Loader())
    identifier = replace(identifier, weights=np.ones(1))
    vector = np.array([10, 97, 30], np.float32)
    scores = identifier.scorers["shape"].scores(vector[None])
    for confidence in (0.25, 1.0):
        found = identifier.predict_proba([Features({"shape": vector}, confidence)])
        np.testing.assert_allclose(found, fuse([confidence * scores], [np.ones(1)], np.ones(1)))
    assert np.ptp(found) > 0.01


@pytest.mark.parametrize(("n_plants", "n_folds"), [(1, 0), (3, 3), (5, 5), (20, 5)])
def test_held_out_answers_come_from_five_folds_of_plants(n_plants, n_folds):
    pictures = [Picture(Path(f"{number}.jpg"), SCAN, plant=str(number % n_plants)) for number in range(2 * n_plants)]
    folds = split_into_folds(pictures, 0)
    assert len(folds) == n_folds
    assert sorted(np.concatenate(folds).tolist() if folds else []) == list(range(2 * n_plants if folds else 0))


def test_what_is_held_out_has_no_part_in_what_others_count():
    """However many pictures of a plant there are, the classifiers that it is held out of are the same."""
    few = [picture(p, number=n) for p in "abc" for n in range(3)] + [picture("d", "Salix alba", number=n) for n in "xy"]
    more = few + [picture("a", number=n) for n in range(3, 12)]
    found = []
    for pictures in (few, more):
        weights, folds = weigh(pictures, ClassifierSettings())
        [(fold, own)] = [(f, w) for f, w in zip(folds, weights[1:], strict=True) if 0 in f]
        assert not own[fold].any()
        assert own[own > 0].mean() == pytest.approx(1)
        found.append(own[: len(few)])
    # What else is in the fold may differ.
    both = (found[0] > 0) & (found[1] > 0)
    np.testing.assert_allclose(found[0][both] / found[0][both][0], found[1][both] / found[1][both][0])
