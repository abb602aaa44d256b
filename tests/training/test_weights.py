"""Weights of pictures in training, of plants in fusion, and of experts by trust."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from leafid.features.recipe import Expert, Recipe
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.training.folds import FoldPlan
from leafid.training.training_set import TrainingSet

SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO
SHAPE = Expert(descriptor="measures", families=("hu",))
EVENLY = ClassifierSettings(species_balance=0.0, plant_balance=0.0)


def picture(plant, species="Acer campestre", type_=SCAN, number=0):
    return Picture(
        Path(f"{plant}-{species}-{type_}-{number}.jpg"),
        type_,
        taxon=Taxon(species),
        plant=plant,
    )


def make_training_set(pictures):
    n = len(pictures)
    recipe = Recipe(
        types=(SCAN,), experts={"shape": SHAPE}, training_types=(SCAN, PHOTO)
    )
    return TrainingSet(
        recipe,
        None,
        pictures,
        np.ones(n),
        np.arange(n),
        np.zeros(n, int),
        np.ones(n),
        {},
    )


def weigh(pictures, settings):
    """Give the weights of pictures in training on all and without each fold."""
    n = len(pictures)
    training_set = make_training_set(pictures)
    plan = FoldPlan(training_set, [SCAN], np.arange(n), 0, learn_rejection=False)
    folds = plan.folds.without_plant
    return [plan.weigh_rows(settings, fold) for fold in ((), *folds)], folds


def test_scans_and_photos_of_a_plant_are_weighed_as_two_plants():
    pictures = [picture("a", number=n) for n in range(3)] + [picture("a", type_=PHOTO)]
    [weights] = weigh(pictures, structs.replace(EVENLY, plant_balance=1.0))[0]
    np.testing.assert_allclose(weights / weights[3], [1 / 3, 1 / 3, 1 / 3, 1])


def test_what_is_held_out_has_no_part_in_what_others_count():
    """The number of a plant's pictures doesn't change classifiers without the plant."""
    few = [picture(p, number=n) for p in "abc" for n in range(3)] + [
        picture("d", "Salix alba", number=n) for n in "xy"
    ]
    more = few + [picture("a", number=n) for n in range(3, 12)]
    kept = []
    for pictures in (few, more):
        weights, folds = weigh(pictures, ClassifierSettings())
        [(fold, remaining)] = [
            (f, w) for f, w in zip(folds, weights[1:], strict=True) if 0 in f
        ]
        assert not remaining[fold].any()
        assert remaining[remaining > 0].mean() == pytest.approx(1)
        kept.append(remaining[: len(few)])
    # What else is in the fold may differ.
    both = (kept[0] > 0) & (kept[1] > 0)
    np.testing.assert_allclose(
        kept[0][both] / kept[0][both][0], kept[1][both] / kept[1][both][0]
    )


def test_another_collection_takes_no_weight_from_the_one_with_more_plants():
    """Its pictures weigh half, however many there are of a species."""
    alone = [picture("a"), picture("b"), picture("c", "Salix alba")]
    further = [replace(picture("d", number=n), collection="other") for n in range(4)]
    settings = structs.replace(EVENLY, species_balance=1.0)
    before = weigh(alone, settings)[0][0]
    weights = weigh(alone + further, settings)[0][0]
    np.testing.assert_allclose(weights[:3] / weights[2], before / before[2])
    np.testing.assert_allclose(weights[3:] / weights[2], [1 / 4 / 2] * 4)


def test_each_collection_is_centred_on_a_mean_of_its_own():
    """The first mean of a type is of the collection with the most of its plants."""
    pictures = [
        replace(picture("a"), collection="few"),
        *(replace(picture(p), collection="many") for p in "bc"),
        replace(picture("d", type_=PHOTO), collection="few"),
    ]
    training_set = make_training_set(pictures)
    assert training_set.collection_ranks.tolist() == [1, 0, 0, 0]
    domains = training_set.number_domains()
    assert domains.tolist() == [2, 0, 0, 1]
