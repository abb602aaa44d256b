"""Pictures of no leaf, with unusual masks and contours, go through the whole pipeline."""

import numpy as np
import pytest

from fuzz.drawings import DRAWINGS
from fuzz.targets.content import check_drawing
from leafid import AcquisitionType, Segmentation, load_model, measure


@pytest.fixture(scope="module")
def bundled():
    return load_model()


@pytest.mark.parametrize("name", DRAWINGS)
def test_any_content_gets_an_answer(bundled, name):
    # Sheets and photos are segmented in different ways.
    for type_ in (AcquisitionType.SCAN_LIKE, AcquisitionType.PHOTO):
        check_drawing(bundled, DRAWINGS[name](np.random.default_rng(0)), type_, name)


@pytest.mark.parametrize(
    "make_mask",
    [
        lambda mask: mask.__setitem__((100, 100), True),
        lambda mask: mask.__setitem__((slice(None), 100), True),
        lambda mask: mask.__setitem__((slice(None, None, 2), slice(None, None, 2)), True),
        lambda mask: mask.fill(True),
    ],
    ids=["pixel", "line", "thousands of components", "everything"],
)
def test_any_mask_can_be_measured(make_mask):
    mask = np.zeros((200, 200), bool)
    make_mask(mask)
    image = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    rows, cols = mask.any(axis=1).nonzero()[0], mask.any(axis=0).nonzero()[0]
    box = int(rows[0]), int(rows[-1]) + 1, int(cols[0]), int(cols[-1]) + 1
    values = measure(image, Segmentation(mask, mask, 1.0, box))
    assert np.isfinite(list(values.values())).all()
