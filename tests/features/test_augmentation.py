import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.features import augmentation as module
from leafid.features.augmentation import Augmentation, AugmentedPicture, jitter_picture
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment

SCAN = AcquisitionType.SCAN
IMAGES = st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)).flatmap(
    lambda shape: arrays(np.uint8, shape)
)


@pytest.fixture(autouse=True)
def good_camera(monkeypatch):
    """Poor pictures have other tests."""
    monkeypatch.setattr(module, "_POOR_SHARE", 0)


def jitter(image, number, type_):
    return jitter_picture(image, np.zeros(image.shape[:2], bool), number, type_)


@given(
    IMAGES, st.integers(1, 5), st.sampled_from(AcquisitionType), st.sampled_from([0, 1])
)
@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_jittered_picture_is_no_larger_and_always_the_same(
    monkeypatch, image, number, type_, poor_share
):
    monkeypatch.setattr(module, "_POOR_SHARE", poor_share)
    before = image.copy()
    jittered = jitter(image, number, type_)
    assert max(jittered.shape[:2]) <= max(image.shape[:2])
    assert jittered.dtype == np.uint8
    np.testing.assert_array_equal(jitter(image.copy(), number, type_), jittered)
    np.testing.assert_array_equal(image, before)


def replace_ranges(monkeypatch, table, ranges):
    """Replace ranges of a table, and constants."""
    for name, value in ranges.items():
        if name.isupper():
            monkeypatch.setattr(module, name, value)
        else:
            monkeypatch.setitem(module.RANGES[table], name, value)


def jitter_without(monkeypatch, image, number, type_, **ranges):
    """Jitter a picture with some ranges replaced, to see its tilt or light alone."""
    replace_ranges(monkeypatch, "jitter", ranges)
    return jitter(image, number, type_)


EVEN_LIGHT = {"gamma": (1, 1), "brightness": (1, 1), "_LIGHT_SLOPE": 0}
SAME_LIGHT = EVEN_LIGHT | {"reduction": (1, 1)}
NO_TILT = {"_MIN_WIDTH": 1, "_PERSPECTIVE": 0}


def test_neither_tilted_nor_relit_a_picture_stays_the_same(monkeypatch, leaf_on_white):
    jittered = jitter_without(
        monkeypatch, leaf_on_white, 1, SCAN, **SAME_LIGHT, **NO_TILT
    )
    np.testing.assert_array_equal(jittered, leaf_on_white)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_tilted_leaf_is_narrower_but_at_least_half_as_wide(leaf_on_white, number):
    """It is narrowed to 0.6 at least; perspective resizes it by 0.16 · 2 at most."""
    area = segment(leaf_on_white, SCAN).mask.sum()
    tilted = segment(jitter(leaf_on_white, number, SCAN), SCAN).mask.sum()
    assert 0.6 * 0.6 * area < tilted < 1.4 * area


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_sheet_continues_beside_a_tilted_sheet(monkeypatch, leaf_on_white, number):
    jittered = jitter_without(monkeypatch, leaf_on_white, number, SCAN, **SAME_LIGHT)
    edge = np.concatenate([jittered[0], jittered[-1], jittered[:, 0], jittered[:, -1]])
    assert (edge == 250).all()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_in_other_light_a_leaf_keeps_its_place(monkeypatch, leaf_on_white, number):
    jittered = jitter_without(monkeypatch, leaf_on_white, number, SCAN, **NO_TILT)
    assert (jittered != leaf_on_white).any()
    mask, lit = segment(leaf_on_white, SCAN).mask, segment(jittered, SCAN).mask
    # Read at less than half its size and enlarged again, an edge may move by a pixel.
    assert (mask & lit).sum() / (mask | lit).sum() > 0.95


NUMBERS = range(1, 21)


def test_perspective_makes_the_near_end_larger():
    """Each end changes by up to 0.16, so one half of a square becomes larger."""
    image = np.full((300, 300, 3), 255, np.uint8)
    image[75:225, 75:225] = 0
    ratios = []
    for number in NUMBERS:
        dark = (jitter(image, number, SCAN) < 128).any(axis=2)
        upper, lower = dark[:150].sum(), dark[150:].sum()
        ratios.append(max(upper, lower) / min(upper, lower))
    assert max(ratios) > 1.1
    assert np.mean(ratios) > 1.03


def test_light_differs_between_pictures_and_falls_to_a_side():
    grey = np.full((100, 100, 3), 128, np.uint8)
    lit = [jitter(grey, number, SCAN).astype(float) for number in NUMBERS]
    assert np.std([image.mean() for image in lit]) > 5
    assert (
        max(
            abs(image[:, :20].mean() - image[:, -20:].mean()) / image.mean()
            for image in lit
        )
        > 0.08
    )
    assert (
        max(abs(image[:20].mean() - image[-20:].mean()) / image.mean() for image in lit)
        > 0.08
    )


def test_pictures_in_other_light_are_less_sharp(monkeypatch):
    stripes = np.zeros((120, 120, 3), np.uint8)
    stripes[:, ::4] = stripes[:, 1::4] = 200
    jittered = [
        jitter_without(monkeypatch, stripes, number, SCAN, **EVEN_LIGHT, **NO_TILT)
        for number in NUMBERS
    ]
    contrast = [np.ptp(image[20:-20, 20:-20].astype(int)) / 200 for image in jittered]
    assert np.median(contrast) < 0.9


POOR = {"_POOR_SHARE": 1, "side": (40, 60), "_MIN_WIDTH": 1, "_PERSPECTIVE": 0}


def jitter_poorly(monkeypatch, image, number, **ranges):
    replace_ranges(monkeypatch, "poor", POOR | ranges)
    return jitter_picture(image, segment(image, SCAN).mask, number, SCAN)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_poor_picture_is_small_and_its_leaf_in_the_same_place(
    monkeypatch, leaf_on_white, number
):
    poor = jitter_poorly(monkeypatch, leaf_on_white, number, leaf_light=(0.4, 1.0))
    assert 40 <= max(poor.shape[:2]) <= 60
    mask = segment(leaf_on_white, SCAN).mask.astype(np.uint8)
    expected = cv2.resize(mask, poor.shape[1::-1], interpolation=cv2.INTER_AREA).astype(
        bool
    )
    leaf = segment(poor, SCAN).mask
    assert (leaf & expected).sum() > 0.7 * (leaf | expected).sum()


def test_the_light_of_a_poor_picture_changes_the_leaf_beside_its_sheet(
    monkeypatch, leaf_on_white
):
    even = {
        "gamma": (1, 1),
        "tint": (1, 1),
        "blur": (0, 0),
        "noise": (0, 0),
        "quality": (95, 96),
    }
    colours = {"side": (400, 400), "colourfulness": (0, 0), "leaf_light": (0.5, 0.5)}
    poor = jitter_poorly(monkeypatch, leaf_on_white, 1, **even, **colours)
    assert poor.shape == leaf_on_white.shape
    mask = segment(leaf_on_white, SCAN).mask.astype(np.uint8)
    inside, outside = (
        cv2.erode(mask, np.ones((15, 15))) > 0,
        cv2.dilate(mask, np.ones((15, 15))) == 0,
    )
    grey = 0.5 * cv2.cvtColor(leaf_on_white, cv2.COLOR_BGR2GRAY)[inside].mean()
    np.testing.assert_allclose(poor[inside].mean(axis=0), grey, atol=4)
    np.testing.assert_allclose(poor[outside], leaf_on_white[outside], atol=6)


@pytest.mark.parametrize(
    ("longest_side", "side"), [(400, 400), (640, 640), (800, 640), (2000, 640)]
)
def test_composited_photos_have_at_most_640_pixels(leaf_on_white, longest_side, side):
    views = AugmentedPicture(leaf_on_white, SCAN, longest_side).make_views(
        Augmentation("composite", 1)
    )
    assert max(views.image.shape[:2]) == side
