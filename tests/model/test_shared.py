"""What is selected from a shared training set, against a training set built from the same pictures alone."""

from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from leafid.features.extractor import FeatureExtractor, Features
from leafid.features.recipe import Expert, Recipe
from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.training_matrix import TrainingMatrix
from leafid.model.crossvalidation import cross_validate
from leafid.model.fitting.shared import SharedTrainingSet
from leafid.model.fitting.training_set import build_training_set
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.protocols import make_fold_splits

SCAN, SHEET, PHOTO = AcquisitionType
EXPERTS = {
    "one": Expert(descriptor="measures", families=("hu",)),
    "two": Expert(descriptor="measures", families=("hu",)),
}
RECIPE = Recipe(types=(PHOTO,), experts=EXPERTS, training_types=(PHOTO, SCAN), jittered=1, composited=2)
# Twelve pictures of four plants, scans and photos in turn.
PICTURES = [
    Picture(Path(f"{number}.jpg"), (SCAN, PHOTO)[number % 2], taxon=Taxon("Genus a"), plant=str(number // 2 % 4))
    for number in range(12)
]


class Loader:
    """Stands for `FeatureLoader`: vectors are random, by picture and augmentation; one picture can't be read."""

    folder = None

    def stream(self, pictures, extractor):
        for picture in pictures:
            number = int(picture.file.stem)
            augmentation = extractor.augmentation
            key = (0, 0) if augmentation is None else (len(augmentation.kind), augmentation.number)
            one, two = np.random.default_rng([number, *key]).normal(size=(2, 20)).astype(np.float16)
            yield None if number == 5 else Features({"one": one, "two": two}, 0.5 + number / 100)


def share():
    return SharedTrainingSet(PICTURES, RECIPE, Loader(), FeatureExtractor(EXPERTS))


def test_a_selection_is_what_its_pictures_alone_would_be():
    chosen = [picture for picture in PICTURES if picture.plant != "1"]
    selected, vectors = share().select(chosen)
    arrays = {name: DiskBackedArray() for name in EXPERTS}
    expected = build_training_set(chosen, RECIPE, Loader(), FeatureExtractor(EXPERTS), arrays)
    assert selected.pictures == expected.pictures
    for name in ("confidence", "picture_indices", "augmentations", "relative_weights"):
        np.testing.assert_array_equal(getattr(selected, name), getattr(expected, name))
    domains = expected.number_domains(RECIPE)
    for name, array in arrays.items():
        assert vectors[name].shape == array.shape
        indices = np.random.default_rng(0).permutation(len(array))
        np.testing.assert_array_equal(vectors[name][indices], array[indices])
        kernels = [
            TrainingMatrix(array, "none", standardise=False, domains=domains, read_kernel=read).compute_kernel()
            for read in (None, vectors[name].read_kernel)
        ]
        np.testing.assert_allclose(*kernels, atol=1e-4)


@pytest.mark.parametrize("number", [1, 3])
def test_parts_of_plants_and_small_parts_are_not_selected(number):
    """Photos would be composited of other pictures of a part of a plant."""
    left_out = {1: PICTURES[:1], 3: [picture for picture in PICTURES if picture.plant != "1"]}[number]
    assert share().select([picture for picture in PICTURES if picture not in left_out]) is None


def test_cross_validation_answers_as_without_sharing(training, recipes, loader, monkeypatch):
    recipe = structs.replace(recipes[SHEET], jittered=0)

    def answer():
        splits = make_fold_splits(training, 2, (0,))
        found = cross_validate(training, {SHEET: recipe}, loader, splits, shared_codebooks=True)
        return [own.held_out.probabilities for own in found]

    shared = answer()
    monkeypatch.setattr(SharedTrainingSet, "select", lambda *_: None)
    for own, expected in zip(shared, answer(), strict=True):
        np.testing.assert_allclose(own, expected, atol=1e-3)
