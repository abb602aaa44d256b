from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.changed_pictures import (
    CHANGES,
    UNCHANGED,
    compute_interval,
    replace_sheet,
    select_pictures,
    tint_sheet,
)
from leafid.pictures import AcquisitionType, Picture

SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO


@pytest.fixture
def leaf():
    image, mask = np.full((240, 180, 3), 245, np.uint8), np.zeros((240, 180), np.uint8)
    for canvas, colour in ((image, (40, 110, 60)), (mask, 1)):
        cv2.ellipse(canvas, (90, 120), (40, 70), 10, 0, 360, colour, -1)
    return image, mask > 0


@pytest.mark.parametrize("name", CHANGES)
def test_the_leaf_is_where_its_mask_is(leaf, name):
    image, mask = CHANGES[name](*leaf)
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert image.shape[:2] == mask.shape
    scale = max(image.shape[:2]) / 240 if name.startswith("longest side") else 1
    assert np.count_nonzero(mask) == pytest.approx(scale**2 * np.count_nonzero(leaf[1]), rel=0.15)
    # Far from the edge, all pixels of the leaf have one colour but for what the light does to them.
    inside = cv2.erode(mask.astype(np.uint8), np.ones((15, 15), np.uint8)) > 0
    assert image[inside].std(axis=0).max() < 10
    if name != UNCHANGED:
        assert image.shape != leaf[0].shape or (image != leaf[0]).any()


def test_a_sheet_is_tinted_and_the_leaf_is_not(leaf):
    image, _ = tint_sheet((1.0, 0.8, 0.6), *leaf)
    assert image[2, 2].tolist() == [245, 196, 147]
    assert image[120, 90].tolist() == [40, 110, 60]
    image, _ = replace_sheet(130, *leaf)
    assert image[2, 2].tolist() == [130, 130, 130]


def test_the_first_pictures_of_each_plant_are_selected():
    pictures = [Picture(Path(f"{n}.jpg"), SCAN, plant="1" if n < 5 else "2") for n in range(8)]
    pictures += [Picture(Path("9.jpg"), PHOTO, plant="1")]
    assert [picture.name for picture in select_pictures(pictures, 2)] == ["0.jpg", "1.jpg", "5.jpg", "6.jpg"]


def test_an_interval_is_wider_where_plants_differ():
    differences = np.array([0.0, 0.0, 1.0, 1.0])
    low, high = compute_interval(differences, ["1", "1", "2", "2"])
    assert (low, high) == (0.0, 1.0)
    assert compute_interval(differences, ["1", "2", "1", "2"]) == (0.5, 0.5)
