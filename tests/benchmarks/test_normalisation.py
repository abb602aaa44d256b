import cv2
import numpy as np
import pytest

from benchmarks.normalisation import OF_PHOTOS, OF_SHEETS, Workers
from leafid.features.extractor import make_views
from leafid.features.recipe_reader import load_recipe
from leafid.pictures import AcquisitionType

SCAN_LIKE, PHOTO = AcquisitionType.SCAN_LIKE, AcquisitionType.PHOTO


@pytest.fixture(scope="module")
def sheet():
    """A leaf with a stalk, a leaflet apart and a shadow, askew on a yellowish sheet that darkens to one side."""
    light = np.linspace(1, 0.45, 400)[None, :, None]
    image = np.full((300, 400, 3), (200, 235, 240)) * light
    cv2.ellipse(image, (190, 180), (90, 50), 30, 0, 360, (50, 55, 55), -1)
    image = cv2.GaussianBlur(image, (0, 0), 8)
    cv2.ellipse(image, (200, 150), (90, 50), 30, 0, 360, (40, 120, 60), -1)
    cv2.line(image, (270, 190), (345, 233), (40, 120, 60), 6)
    cv2.ellipse(image, (84, 83), (35, 20), 30, 0, 360, (40, 120, 60), -1)
    return np.clip(image, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def photo():
    """A reddish leaf with a stalk on soil, and green leaves at the edge."""
    image = np.random.default_rng(0).uniform(40, 110, (300, 400, 3))
    for centre in ((20, 40), (380, 260), (390, 30)):
        cv2.circle(image, centre, 45, (40, 150, 60), -1)
    cv2.ellipse(image, (170, 150), (90, 60), 0, 0, 360, (60, 110, 170), -1)
    cv2.line(image, (170, 90), (170, 10), (60, 110, 170), 9)
    return cv2.GaussianBlur(image, (0, 0), 1).clip(0, 255).astype(np.uint8)


def seen(image, type_, step):
    with step.apply():
        views = make_views(image, type_)
        crop, _ = views.crop("upright", 64)
    return views.segmentation.mask, views.segmentation.blade, crop


@pytest.mark.parametrize(("kind", "step"), [("sheet", s) for s in OF_SHEETS] + [("photo", s) for s in OF_PHOTOS])
def test_each_step_changes_what_is_seen_or_the_recipe(request, kind, step):
    image, type_ = request.getfixturevalue(kind), SCAN_LIKE if kind == "sheet" else PHOTO
    plain = seen(image, type_, OF_SHEETS[0])
    other = seen(image, type_, step)
    recipe = load_recipe("default", type_)
    same_views = all(np.array_equal(first, second) for first, second in zip(plain, other, strict=True))
    assert (same_views and step.recipe(recipe) == recipe) == (step.what == "the recipe")
    # Nothing stays replaced.
    assert all(np.array_equal(*pair) for pair in zip(plain, seen(image, type_, OF_SHEETS[0]), strict=True))


def test_workers_have_what_was_replaced(sheet):
    step = next(step for step in OF_SHEETS if "Otsu" in step.what)
    (in_worker,) = Workers(step, 1).ordered_map(_mask, [sheet])
    assert np.array_equal(in_worker, seen(sheet, SCAN_LIKE, step)[0])
    assert not np.array_equal(in_worker, _mask(sheet))


def _mask(image):
    return make_views(image, SCAN_LIKE).segmentation.mask
