from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor, Features
from leafid.features.recipe import Expert, Recipe
from leafid.model.fitting import training_set as module
from leafid.model.fitting.training_set import SharedTrainingSet, build_training_set
from leafid.model.validation import cross_validate
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.protocols import make_fold_splits

SCAN, SHEET, PHOTO = AcquisitionType
EXPERTS = {
    "one": Expert(descriptor="measures", families=("hu",)),
    "two": Expert(descriptor="measures", families=("hu",)),
}
RECIPE = Recipe(types=(SCAN,), experts=EXPERTS, training_types=(SCAN,), jittered=2)
PICTURES = [Picture(Path(f"{number}.jpg"), SCAN, taxon=Taxon("Genus a"), plant=str(number)) for number in range(4)]


def _number(augmentation):
    if augmentation is None:
        return 0
    return augmentation.number if augmentation.kind == "jitter" else -augmentation.number


class Given:
    """Stands for `FeatureLoader`: vectors tell the picture and its look, staged ones below 0; some can't be read."""

    folder = None

    def __init__(self, unreadable=()):
        self.unreadable = unreadable

    def stream(self, pictures, extractor):
        for picture in pictures:
            number = int(picture.file.stem)
            augmentations = _number(extractor.augmentation)
            if (number, augmentations) in self.unreadable or (number, None) in self.unreadable:
                yield None
            else:
                vector = np.array([number, augmentations], np.float32)
                yield Features({"one": vector, "two": -vector}, 0.5 + number / 10)


def gathered(unreadable=(), recipe=RECIPE, pictures=PICTURES):
    found = build_training_set(pictures, recipe, Given(unreadable), FeatureExtractor(recipe.experts))
    return found, found.vectors


def test_a_row_for_each_picture_then_for_each_variant():
    found, arrays = gathered()
    assert found.pictures == PICTURES
    np.testing.assert_allclose(found.confidence, [0.5, 0.6, 0.7, 0.8])
    np.testing.assert_array_equal(found.picture_indices, [0, 1, 2, 3] * 3)
    np.testing.assert_array_equal(found.augmentations, np.repeat([0, 1, 2], 4))
    np.testing.assert_array_equal(arrays["one"], np.stack([found.picture_indices, found.augmentations], axis=1))
    np.testing.assert_array_equal(arrays["two"], -arrays["one"])


def test_pictures_and_variants_that_cannot_be_read_are_left_out():
    found, arrays = gathered({(1, None), (3, 2)})
    assert [picture.file.stem for picture in found.pictures] == ["0", "2", "3"]
    read = [
        (int(found.pictures[index].file.stem), number)
        for index, number in zip(found.picture_indices, found.augmentations, strict=True)
    ]
    assert read == [(0, 0), (2, 0), (3, 0), (0, 1), (2, 1), (3, 1), (0, 2), (2, 2)]
    np.testing.assert_array_equal(arrays["one"], read)


def test_photos_are_staged_of_leaves_on_sheets():
    pictures = [
        replace(picture, type=type_) for picture, type_ in zip(PICTURES, (SCAN, PHOTO, SHEET, PHOTO), strict=True)
    ]
    recipe = structs.replace(RECIPE, jittered=1, composited=2)
    found, arrays = gathered({(2, -1)}, recipe, pictures)
    np.testing.assert_array_equal(found.picture_indices, [0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 2])
    np.testing.assert_array_equal(found.augmentations, [0] * 4 + [1] * 4 + [2, 3, 3])
    np.testing.assert_array_equal(arrays["one"][:, 1], [0] * 4 + [1] * 4 + [-1, -2, -2])
    np.testing.assert_allclose(found.relative_weights, [1] * 4 + [0.5] * 4 + [0.5] * 3)


def test_where_there_are_photos_only_none_are_staged():
    photos = [replace(picture, type=PHOTO) for picture in PICTURES]
    found, _ = gathered(recipe=structs.replace(RECIPE, jittered=0, composited=2), pictures=photos)
    assert not found.augmentations.any()
    np.testing.assert_array_equal(found.weigh_rows(np.arange(4.0)), np.arange(4.0))


def test_of_many_pictures_of_a_plant_some_are_staged_and_count_for_all(monkeypatch):
    monkeypatch.setattr(module, "MAX_COMPOSITED_PER_PLANT", 2)
    pictures = [replace(PICTURES[0], file=Path(f"{number}.jpg")) for number in range(5)]
    pictures += [replace(PICTURES[1], file=Path("5.jpg")), replace(PICTURES[0], file=Path("6.jpg"), type=SHEET)]
    found, _ = gathered(recipe=structs.replace(RECIPE, jittered=0, composited=1), pictures=pictures)
    np.testing.assert_array_equal(found.picture_indices, [0, 1, 2, 3, 4, 5, 6, 0, 2, 5, 6])
    np.testing.assert_allclose(found.relative_weights[7:], [2.5, 2.5, 1, 1])


def test_a_large_collection_has_neither_variants_nor_staged_photos(monkeypatch):
    monkeypatch.setattr(module, "MAX_AUGMENTED_PICTURES", 3)
    found, _ = gathered(recipe=structs.replace(RECIPE, composited=1))
    assert not found.augmentations.any()
    assert len(found.picture_indices) == 4


def test_rows_that_show_pictures():
    found, _ = gathered({(0, 1)})
    np.testing.assert_array_equal(found.find_rows(np.array([0, 2])), [0, 2, 5, 7, 9])
    assert not len(found.find_rows(np.array([], int)))


def test_weights_are_shared_between_pictures_and_their_looks():
    found, _ = gathered()
    of_pictures = np.array([1.0, 2.0, 0.5, 0.0])
    weights = found.weigh_rows(of_pictures)
    np.testing.assert_allclose(weights[:4], of_pictures / 1.5)
    np.testing.assert_allclose(weights[4:8], of_pictures * 0.25 / 1.5)
    np.testing.assert_allclose(weights[8:], weights[4:8])
    assert weights.sum() == pytest.approx(of_pictures.sum())


def test_pictures_with_more_looks_count_more_and_the_sum_stays():
    pictures = [PICTURES[0], replace(PICTURES[1], type=PHOTO)]
    found, _ = gathered(recipe=structs.replace(RECIPE, jittered=0, composited=2), pictures=pictures)
    # One counts 1 and twice 0.5, the other 1: three parts of a sum of 4.
    np.testing.assert_allclose(found.weigh_rows(np.array([2.0, 2.0])), np.array([2, 2, 1, 1]) * 4 / 6)
    np.testing.assert_array_equal(found.weigh_rows(np.zeros(2)), np.zeros(4))


def test_without_other_looks_weights_are_those_of_the_pictures():
    found, _ = gathered(recipe=structs.replace(RECIPE, jittered=0))
    of_pictures = np.array([1.0, 2.0, 0.5, 0.0])
    np.testing.assert_array_equal(found.weigh_rows(of_pictures), of_pictures)


def test_variants_count_for_what_fits_into_memory(monkeypatch):
    monkeypatch.setattr("leafid.learning.cross_fitting.MAX_BYTES_IN_MEMORY", 4 * 2 * 8)
    svm = {"one": structs.replace(EXPERTS["one"], classifier="linear-svm")}
    gathered(recipe=structs.replace(RECIPE, experts=svm, jittered=1))
    with pytest.raises(LeafidError, match="expert 'one': linear-svm needs all of its 12 rows in memory"):
        gathered(recipe=structs.replace(RECIPE, experts=svm))


@pytest.mark.parametrize(("n_pictures", "n_composited"), [(5, 5), (8, 8), (24, 8)])
def test_photos_are_composited_with_at_most_eight_pictures_of_a_plant(n_pictures, n_composited):
    pictures = [replace(PICTURES[0], file=Path(f"{number}.jpg")) for number in range(n_pictures)]
    found, _ = gathered(recipe=structs.replace(RECIPE, jittered=0, composited=1), pictures=pictures)
    assert len(found.picture_indices) == n_pictures + n_composited


@pytest.mark.parametrize(("left_out", "is_held"), [("1", True), ("0", False), ("012", False)])
def test_parts_of_plants_and_small_parts_are_not_selected(left_out, is_held):
    """Photos would be composited of other pictures of a part of a plant."""
    pictures = [*PICTURES, replace(PICTURES[0], file=Path("more.jpg"))]
    shared = SharedTrainingSet(pictures, RECIPE, Given(), FeatureExtractor(EXPERTS))
    assert shared.holds([picture for picture in pictures if picture.file.stem not in left_out]) == is_held


def test_cross_validation_answers_as_without_sharing(training, recipes, loader, monkeypatch):
    recipe = structs.replace(recipes[SHEET], jittered=0)

    def answer():
        splits = make_fold_splits(training, 2, (0,))
        found = cross_validate(training, {SHEET: recipe}, loader, splits, shared_codebooks=True)
        return [own.held_out.probabilities for own in found]

    shared = answer()
    monkeypatch.setattr(SharedTrainingSet, "holds", lambda *_: False)
    # Columns are standardised over other pictures.
    for own, expected in zip(shared, answer(), strict=True):
        np.testing.assert_allclose(own, expected, atol=0.05)
