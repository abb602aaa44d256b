from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leafid.collection.picture import AcquisitionType, Picture, Taxon
from leafid.errors import LeafidError
from leafid.learning import training_set as module
from leafid.learning.describing import Described, Describer
from leafid.learning.recipe import Expert, Recipe
from leafid.learning.spool import Spool
from leafid.learning.training_set import gather

SCAN = AcquisitionType.SCAN
EXPERTS = {"one": Expert("measures", ("hu",)), "two": Expert("measures", ("hu",))}
RECIPE = Recipe(SCAN, EXPERTS, (SCAN,), variants=2)
PICTURES = [Picture(Path(f"{number}.jpg"), SCAN, taxon=Taxon("Genus a"), plant=str(number)) for number in range(4)]


class Given:
    """Stands for `Descriptions`: vectors tell the picture and the variant; some can't be read."""

    def __init__(self, unreadable=()):
        self.unreadable = unreadable

    def stream(self, pictures, describer):
        for picture in pictures:
            number = int(picture.file.stem)
            if (number, describer.variant) in self.unreadable or (number, None) in self.unreadable:
                yield None
            else:
                vector = np.array([number, describer.variant], np.float32)
                yield Described({"one": vector, "two": -vector}, 0.5 + number / 10)


def gathered(unreadable=(), recipe=RECIPE):
    spools = {name: Spool() for name in recipe.experts}
    return gather(PICTURES, recipe, Given(unreadable), Describer(recipe.experts), spools), spools


def test_a_row_for_each_picture_then_for_each_variant():
    found, spools = gathered()
    assert found.pictures == PICTURES
    np.testing.assert_allclose(found.confidence, [0.5, 0.6, 0.7, 0.8])
    np.testing.assert_array_equal(found.shown, [0, 1, 2, 3] * 3)
    np.testing.assert_array_equal(found.variant, np.repeat([0, 1, 2], 4))
    np.testing.assert_array_equal(spools["one"][np.arange(12)], np.stack([found.shown, found.variant], axis=1))
    np.testing.assert_array_equal(spools["two"][np.arange(12)], -spools["one"][np.arange(12)])


def test_pictures_and_variants_that_cannot_be_read_are_left_out():
    found, spools = gathered({(1, None), (3, 2)})
    assert [picture.file.stem for picture in found.pictures] == ["0", "2", "3"]
    read = [
        (int(found.pictures[index].file.stem), number) for index, number in zip(found.shown, found.variant, strict=True)
    ]
    assert read == [(0, 0), (2, 0), (3, 0), (0, 1), (2, 1), (3, 1), (0, 2), (2, 2)]
    np.testing.assert_array_equal(spools["one"][np.arange(8)], read)


def test_a_large_collection_has_no_variants(monkeypatch):
    monkeypatch.setattr(module, "VARIED_PICTURES", 3)
    found, _ = gathered()
    assert not found.variant.any()
    assert len(found.shown) == 4


def test_rows_that_show_pictures():
    found, _ = gathered({(0, 1)})
    np.testing.assert_array_equal(found.rows(np.array([0, 2])), [0, 2, 5, 7, 9])
    assert not len(found.rows(np.array([], int)))


def test_weights_are_shared_between_a_picture_and_its_variants():
    found, _ = gathered()
    of_pictures = np.array([1.0, 2.0, 0.5, 0.0])
    weights = found.weights(of_pictures, 0.5)
    np.testing.assert_allclose(weights[:4], of_pictures / 1.5)
    np.testing.assert_allclose(weights[4:8], of_pictures * 0.25 / 1.5)
    np.testing.assert_allclose(weights[8:], weights[4:8])
    assert weights.sum() == pytest.approx(of_pictures.sum())


def test_without_variants_weights_are_those_of_the_pictures():
    found, _ = gathered(recipe=replace(RECIPE, variants=0))
    of_pictures = np.array([1.0, 2.0, 0.5, 0.0])
    np.testing.assert_array_equal(found.weights(of_pictures, 0.5), of_pictures)


def test_variants_count_for_what_fits_into_memory(monkeypatch):
    monkeypatch.setattr("leafid.learning.fitting.LARGEST_IN_MEMORY", 4 * 2 * 8)
    svm = {"one": replace(EXPERTS["one"], classifier="linear-svm")}
    gathered(recipe=replace(RECIPE, experts=svm, variants=1))
    with pytest.raises(LeafidError, match="expert 'one': linear-svm needs all of its 12 rows in memory"):
        gathered(recipe=replace(RECIPE, experts=svm))
