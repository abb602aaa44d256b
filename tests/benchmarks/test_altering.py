"""Drawn scans as others would take them: on a table, beside charts, on card."""

import numpy as np
import pytest

from benchmarks.altering import ALTERATIONS, put_together
from benchmarks.disturbing import bleach_margin, cast_shadow
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment

KINDS = ALTERATIONS | {"hard shadow": cast_shadow, "cream margin": bleach_margin}
# Leaves of twelve that may be missed, if more than one: a compound leaf isn't told from
# another.
MISSED = {"hard shadow": 2, "cream margin": 2, "neighbour": 4}


@pytest.mark.parametrize("name", KINDS)
def test_the_leaf_is_found_however_the_picture_is_taken(name, sample_leaves):
    overlaps = []
    for index, (image, mask) in enumerate(sample_leaves):
        picture, expected = KINDS[name](image, mask, np.random.default_rng(index))
        leaf = segment(picture, AcquisitionType.SCAN_LIKE, petiole=False).mask
        overlaps.append((leaf & expected).sum() / (leaf | expected).sum())
    assert np.sort(overlaps)[MISSED.get(name, 1)] >= 0.9


@pytest.mark.parametrize("number", [2, 3, 4])
def test_leaves_on_one_sheet_are_counted(number, sample_leaves):
    are_counted, overlaps = [], []
    for index in range(len(sample_leaves)):
        several = [
            sample_leaves[(index + 5 * step) % len(sample_leaves)]
            for step in range(number)
        ]
        picture, masks = put_together(several, np.random.default_rng(index))
        answered = segment(picture, AcquisitionType.SCAN_LIKE, petiole=False)
        are_counted.append(answered.n_leaves == number)
        overlaps.append(
            max(
                (answered.mask & mask).sum() / (answered.mask | mask).sum()
                for mask in masks
            )
        )
    # One sheet of twelve may be missed.
    assert np.sort(are_counted)[1]
    assert np.sort(overlaps)[1] >= 0.9
