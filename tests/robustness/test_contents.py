"""Pictures of no leaf, with unusual masks and contours, go through the whole pipeline."""

import numpy as np
import pytest

from fuzz.drawings import DRAWINGS
from fuzz.targets.content import check_drawing
from leafid import AcquisitionType, load_model


@pytest.fixture(scope="module")
def bundled():
    return load_model()


@pytest.mark.parametrize("name", DRAWINGS)
def test_any_content_gets_an_answer(bundled, name):
    # Sheets and photos are segmented in different ways.
    for type_ in (AcquisitionType.SCAN_LIKE, AcquisitionType.PHOTO):
        check_drawing(bundled, DRAWINGS[name](np.random.default_rng(0)), type_, name)
