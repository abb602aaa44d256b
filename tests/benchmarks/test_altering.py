"""Drawn scans as other people would take the picture: on paper on a table, beside charts, rulers, on card."""

import numpy as np
import pytest

from benchmarks.altering import ALTERATIONS, put_together
from benchmarks.pictures import SAMPLE
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.segmentation.segment import segment


@pytest.fixture(scope="module")
def leaves():
    """Scans of different species with their masks."""
    scans = {p.species: p.file for p in read_collection(SAMPLE).pictures if p.type == AcquisitionType.SCAN}
    images = [read_image(file) for _, file in sorted(scans.items())]
    return [(image, segment(image, AcquisitionType.SCAN, petiole=False).mask) for image in images]


@pytest.mark.parametrize("name", ALTERATIONS)
def test_the_leaf_is_found_however_the_picture_is_taken(name, leaves):
    overlaps = []
    for index, (image, mask) in enumerate(leaves):
        picture, expected = ALTERATIONS[name](image, mask, np.random.default_rng(index))
        leaf = segment(picture, AcquisitionType.SCAN_LIKE, petiole=False).mask
        overlaps.append((leaf & expected).sum() / (leaf | expected).sum())
    # One leaf of twelve may be missed.
    assert np.sort(overlaps)[1] >= 0.9


@pytest.mark.parametrize("number", [2, 3, 4])
def test_leaves_on_one_sheet_are_counted(number, leaves):
    are_counted, overlaps = [], []
    for index in range(len(leaves)):
        several = [leaves[(index + 5 * step) % len(leaves)] for step in range(number)]
        picture, masks = put_together(several, np.random.default_rng(index))
        answered = segment(picture, AcquisitionType.SCAN_LIKE, petiole=False)
        are_counted.append(answered.n_leaves == number)
        overlaps.append(max((answered.mask & mask).sum() / (answered.mask | mask).sum() for mask in masks))
    # One sheet of twelve may be missed.
    assert np.sort(are_counted)[1]
    assert np.sort(overlaps)[1] >= 0.9


def test_leaves_that_are_put_together_stay_apart(leaves):
    picture, masks = put_together(leaves[:4], np.random.default_rng(0))
    assert len(masks) == 4
    assert all(mask.any() and mask.shape == picture.shape[:2] for mask in masks)
    assert np.sum(masks, axis=0).max() == 1
