from pathlib import Path

import numpy as np
import pytest

from benchmarks.other_collections import Variant, keep_picture, resize, rotate, select_evenly, tint_sheet, write_variant
from leafid.collection import AcquisitionType, Picture
from leafid.collection.picture import Taxon

SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO


def picture(number, species="Acer campestre", plant="1", type_=SCAN, author="A"):
    taxon = Taxon(species)
    return Picture(Path(f"{number}.jpg"), type_, taxon=taxon, plant=plant, author=author, date=f"2010-07-0{number % 9}")


@pytest.fixture
def leaf():
    image = np.full((60, 40, 3), 250, np.uint8)
    image[20:40, 10:30] = (40, 120, 60)
    return image


@pytest.fixture
def random():
    return np.random.default_rng(0)


def test_pictures_are_drawn_from_all_plants_in_turn():
    pictures = [picture(n, plant="1" if n < 5 else "2") for n in range(7)]
    pictures += [picture(7, "Quercus ilex", "3"), picture(8, "Quercus ilex", "4"), picture(9, "Quercus ilex", "5")]
    assert [picture.name for picture in select_evenly(pictures, 1, 2)] == ["7.jpg", "8.jpg"]
    drawn = select_evenly(pictures, 2, 4)
    assert [picture.name for picture in drawn[3:]] == ["0.jpg", "5.jpg", "1.jpg", "6.jpg"]


def test_changes_of_pictures(leaf, random):
    assert keep_picture(leaf, random) is leaf
    assert resize(30, leaf, random).shape == (30, 20, 3)
    found = rotate(leaf, random)
    assert found.shape == (73, 73, 3)
    # As large a leaf on a sheet of the same colour; the edge is a pixel wide on four sides of twenty.
    assert abs(int((found[..., 2] < 155).sum()) - 400) < 80
    assert found[0, 0].tolist() == [250, 250, 250]


def test_a_sheet_is_tinted_and_the_leaf_is_not(random):
    # Large enough for the segmentation to find the leaf.
    image = np.full((240, 200, 3), 250, np.uint8)
    image[60:180, 50:150] = (40, 120, 60)
    found = tint_sheet((1.0, 0.8, 0.6), image, random)
    assert found[2, 2].tolist() == [250, 200, 150]
    assert found[120, 100].tolist() == [40, 120, 60]


def test_a_collection_is_laid_out_by_species_and_keeps_its_plants(tmp_path, leaf):
    import cv2

    originals = []
    for number, (species, plant) in enumerate([("Acer campestre", "1"), ("Acer campestre", "2"), ("Ilex sp", None)]):
        file = tmp_path / f"{number}.png"
        cv2.imwrite(str(file), leaf)
        originals.append(Picture(file, taxon=Taxon(species), plant=plant))
    found = write_variant(Variant("all", originals, keep_picture, PHOTO), tmp_path / "out")
    assert [(picture.species, picture.plant, picture.type) for picture in found] == [
        ("Acer campestre", "Acer campestre 1", PHOTO),
        ("Acer campestre", "Acer campestre 2", PHOTO),
        ("Ilex sp", None, PHOTO),
    ]
    assert [picture.file.parent.name for picture in found] == ["Acer_campestre", "Acer_campestre", "Ilex_sp"]
