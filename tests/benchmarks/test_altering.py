"""Drawn scans as other people would take the picture: on paper on a table, beside charts, rulers, on card."""

import numpy as np
import pytest

from benchmarks.altering import ALTERATIONS
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
