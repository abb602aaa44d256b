from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from leafid.features.extractor import Features
from leafid.features.recipe import Expert, Recipe
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.segmentation.condition import Condition
from leafid.training.folds import FoldPlan
from leafid.training.training_set import build_training_set

SCAN = AcquisitionType.SCAN
SHEET = AcquisitionType.SCAN_LIKE
PHOTO = AcquisitionType.PHOTO
EXPERTS = {
    "one": Expert(descriptor="measures", families=("hu",)),
    "two": Expert(descriptor="measures", families=("hu",)),
}
RECIPE = Recipe(
    types=(SCAN,), experts=EXPERTS, training_types=(SCAN, SHEET, PHOTO), jittered=2
)
PICTURES = [
    Picture(Path(f"{number}.jpg"), SCAN, taxon=Taxon("Genus a"), plant=str(number))
    for number in range(4)
]


def _number(augmentation):
    if augmentation is None:
        return 0
    return (
        augmentation.number if augmentation.kind == "jitter" else -augmentation.number
    )


class Given:
    """Stands for `FeatureLoader`: vectors tell the picture and its augmentation.

    Those of composited ones are below 0; some pictures can't be read.
    """

    folder = None

    def __init__(self, unreadable=()):
        self.unreadable = unreadable

    def stream_augmented(self, pictures, extractor, augmentations):
        for picture in pictures:
            number = int(picture.file.stem)
            vectors = [
                np.array([number, _number(augmentation)], np.float32)
                for augmentation in augmentations
            ]
            views = [
                Features({"one": vector, "two": -vector}, Condition(0.5 + number / 10))
                for vector in vectors
            ]
            yield None if number in self.unreadable else views


def gathered(unreadable=(), recipe=RECIPE, pictures=PICTURES):
    training_set = build_training_set(pictures, recipe, Given(unreadable))
    return training_set, training_set.vectors


def test_a_row_for_each_picture_then_for_each_variant():
    training_set, arrays = gathered()
    assert training_set.pictures == PICTURES
    np.testing.assert_allclose(training_set.confidence, [0.5, 0.6, 0.7, 0.8] * 3)
    np.testing.assert_array_equal(training_set.picture_indices, [0, 1, 2, 3] * 3)
    np.testing.assert_array_equal(training_set.augmentations, np.repeat([0, 1, 2], 4))
    expected = np.stack(
        [training_set.picture_indices, training_set.augmentations], axis=1
    )
    np.testing.assert_array_equal(arrays["one"], expected)
    np.testing.assert_array_equal(arrays["two"], -arrays["one"])


def test_photos_are_staged_of_leaves_on_sheets():
    pictures = [
        replace(picture, type=type_)
        for picture, type_ in zip(PICTURES, (SCAN, PHOTO, SHEET, PHOTO), strict=True)
    ]
    recipe = structs.replace(
        RECIPE, types=(SCAN, SHEET, PHOTO), jittered=1, composited=2
    )
    training_set, arrays = gathered({1}, recipe, pictures)
    np.testing.assert_array_equal(
        training_set.picture_indices, [0, 1, 2, 0, 1, 2, 0, 1, 0, 1]
    )
    np.testing.assert_array_equal(
        training_set.augmentations, [0] * 3 + [1] * 3 + [2] * 2 + [3] * 2
    )
    np.testing.assert_array_equal(arrays["one"][:, 0], [0, 2, 3, 0, 2, 3, 0, 2, 0, 2])
    np.testing.assert_array_equal(
        arrays["one"][:, 1], [0] * 3 + [1] * 3 + [-1] * 2 + [-2] * 2
    )
    np.testing.assert_allclose(
        training_set.relative_weights, [1] * 3 + [0.5] * 3 + [0.5] * 4
    )


def test_pictures_of_the_served_types_are_jittered_and_share_their_domain():
    pictures = [
        replace(picture, type=type_)
        for picture, type_ in zip(PICTURES, (SCAN, PHOTO) * 2, strict=True)
    ]
    training_set, _ = gathered(
        recipe=structs.replace(RECIPE, jittered=1, composited=1), pictures=pictures
    )
    np.testing.assert_array_equal(
        training_set.picture_indices, [0, 1, 2, 3, 0, 2, 0, 2]
    )
    domains = training_set.number_domains()
    np.testing.assert_array_equal(domains[[4, 5]], domains[[0, 2]])
    assert len({*domains[:2].tolist(), *domains[6:].tolist()}) == 3
    np.testing.assert_array_equal(training_set.find_jittered(np.array([1, 2])), [5])


def test_weights_are_shared_between_pictures_and_their_looks():
    training_set, _ = gathered()
    of_pictures = np.array([1.0, 2.0, 0.5, 0.0])
    weights = training_set.weigh_rows(of_pictures)
    np.testing.assert_allclose(weights[:4], of_pictures / 1.5)
    np.testing.assert_allclose(weights[4:8], of_pictures * 0.25 / 1.5)
    np.testing.assert_allclose(weights[8:], weights[4:8])
    assert weights.sum() == pytest.approx(of_pictures.sum())


def test_photos_are_composited_of_eight_pictures_of_a_plant():
    sheets = [replace(PICTURES[0], file=Path(f"{number}.jpg")) for number in range(12)]
    photo = replace(PICTURES[0], file=Path("12.jpg"), type=PHOTO)
    recipe = structs.replace(RECIPE, jittered=0, composited=1)
    training_set, _ = gathered(recipe=recipe, pictures=[*sheets, photo])
    assert len(training_set.picture_indices) == 13 + 8
    np.testing.assert_allclose(training_set.relative_weights[13:], 1)


def test_a_recipe_for_photos_alone_learns_from_eight_sheets_of_a_plant():
    sheets = [replace(PICTURES[0], file=Path(f"{number}.jpg")) for number in range(12)]
    photos = [
        replace(PICTURES[0], file=Path(f"{number}.jpg"), type=PHOTO)
        for number in range(12, 22)
    ]
    recipe = structs.replace(RECIPE, types=(PHOTO,), jittered=0, composited=1)
    training_set, _ = gathered(recipe=recipe, pictures=[*sheets, *photos])
    assert [picture.type for picture in training_set.pictures] == [SCAN] * 8 + [
        PHOTO
    ] * 10
    np.testing.assert_allclose(training_set.relative_weights, 1)
    assert len(training_set.picture_indices) == 18 + 8


def test_photos_keep_to_collections_with_photos():
    sheets = [replace(PICTURES[0], file=Path("0.jpg"), collection="a")]
    photos = [replace(PICTURES[1], type=PHOTO, collection="a")]
    others = [replace(picture, collection="b") for picture in PICTURES[2:]]
    recipe = structs.replace(
        RECIPE, types=(PHOTO,), jittered=0, composited=1, training_types=(PHOTO, SCAN)
    )

    def gather(pictures):
        training_set, _ = gathered(recipe=recipe, pictures=pictures)
        return [picture.file.stem for picture in training_set.pictures]

    assert gather([*sheets, *photos, *others]) == ["0", "1"]
    # Photos alone have no sheets that further photos are composited from.
    assert gather([*photos, *others]) == ["1", "2", "3"]
    sheets_recipe = structs.replace(recipe, types=(SCAN,))
    training_set, _ = gathered(
        recipe=sheets_recipe, pictures=[*sheets, *photos, *others]
    )
    assert len(training_set.pictures) == 4


def test_pictures_are_held_out_in_five_folds_of_plants():
    pictures = [
        replace(PICTURES[0], file=Path(f"{number}.jpg"), plant=str(number))
        for number in range(10)
    ]
    training_set, _ = gathered(pictures=pictures)
    plan = FoldPlan(training_set, [SCAN], np.arange(10), 0, learn_rejection=False)
    assert [len(fold) for fold in plan.folds.without_plant] == [2] * 5
