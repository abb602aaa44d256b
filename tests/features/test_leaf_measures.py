import cv2
import numpy as np
import pytest

from leafid.features.extractor import LEAF_MEASURES, FeatureExtractor
from leafid.features.leaf_measures import N_COLOUR_VALUES, describe_colours
from leafid.features.recipe import Expert
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment

# As many pixels as colours are measured on.
SHAPE = (48, 64)
MASK = np.zeros(SHAPE, bool)
MASK[8:40, 20:50] = True
# The values from 0 to 1: agreement of hues and share of grey, of three regions, cosine.
PARTS = [6, 7, 10, 17, 18, 21, 28, 29, 32, 36]


def paint(hue_inside, hue_outside, spread=0.3):
    """Paint a picture in Lab colours of two hues, with a chroma of 12 to 28."""
    random = np.random.default_rng(3)
    hues = np.where(MASK, hue_inside, hue_outside) + random.normal(0, spread, SHAPE)
    chroma = random.uniform(12, 28, SHAPE)
    lab = np.stack(
        [
            random.uniform(110, 150, SHAPE),
            128 + chroma * np.cos(hues),
            128 + chroma * np.sin(hues),
        ],
        axis=2,
    )
    return cv2.cvtColor(np.round(lab).astype(np.uint8), cv2.COLOR_LAB2BGR)


def describe_literally(image):
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB).astype(float)
    lab[..., 1:] -= 128
    values = []
    for region in (MASK, ~MASK, MASK | ~MASK):
        colours = lab[region]
        chromas = [float(np.hypot(a, b)) for _, a, b in colours]
        angles = [float(np.arctan2(b, a)) for _, a, b in colours]
        for numbers in (colours[:, 0], chromas):
            values += np.percentile(numbers, (10, 50, 90), method="nearest").tolist()
        for factor in (1, 2):
            east = sum(
                c * np.cos(factor * t) for c, t in zip(chromas, angles, strict=True)
            )
            north = sum(
                c * np.sin(factor * t) for c, t in zip(chromas, angles, strict=True)
            )
            values.append(np.hypot(east, north) / sum(chromas))
        middle = [np.mean(colours[:, channel]) for channel in (1, 2)]
        distances = [np.hypot(a - middle[0], b - middle[1]) for _, a, b in colours]
        values += np.percentile(distances, (50, 90), method="nearest").tolist()
        values.append(sum(chroma < 8 for chroma in chromas) / len(chromas))
    inside, outside = lab[MASK].mean(axis=0), lab[~MASK].mean(axis=0)
    chroma_inside, chroma_outside = np.hypot(*inside[1:]), np.hypot(*outside[1:])
    values.append(inside[0] - outside[0])
    values.append(np.hypot(*(inside - outside)[1:]))
    values.append(chroma_inside - chroma_outside)
    values.append(inside[1:] @ outside[1:] / (chroma_inside * chroma_outside))
    return values


def test_colours_are_described_as_by_the_formulas():
    image = paint(2, 4)
    described = describe_colours(image, MASK)
    assert described.dtype == np.float32
    assert described.shape == (N_COLOUR_VALUES,)
    np.testing.assert_allclose(
        described, describe_literally(image), rtol=1e-4, atol=1e-3
    )


@pytest.mark.parametrize("turn", [np.pi / 2, np.pi, 4])
def test_turned_hues_are_described_alike(turn):
    values, turned = (
        describe_colours(paint(2 + angle, 4 + angle), MASK) for angle in (0, turn)
    )
    parts = values[PARTS], turned[PARTS]
    np.testing.assert_allclose(*parts, atol=0.06)
    # In 8-bit units, after two roundings of colours.
    np.testing.assert_allclose(values, turned, atol=3)


def test_one_hue_agrees_and_many_hues_do_not():
    alike = describe_colours(paint(2, 2, spread=0), MASK)
    mixed = describe_colours(paint(2, 2, spread=3), MASK)
    assert alike[6] > 0.99
    assert mixed[6] < 0.2
    assert alike[36] > 0.99


@pytest.mark.parametrize("is_leaf", [False, True])
def test_a_mask_may_have_no_outside_or_inside(is_leaf):
    image = paint(2, 4)
    described = describe_colours(image, np.full(SHAPE, is_leaf))
    np.testing.assert_allclose(described[:11], described[22:33], rtol=1e-6)
    np.testing.assert_allclose(described[33:36], 0, atol=1e-3)


@pytest.mark.parametrize("is_photo", [False, True])
def test_only_photos_are_measured_by_colours(is_photo, leaf_on_white):
    experts = {"shape": Expert(descriptor="measures", families=("geometry",))}
    extractor = FeatureExtractor(experts, is_photo=is_photo)
    features = extractor.extract(leaf_on_white, AcquisitionType.SCAN)
    vector = features.vectors[LEAF_MEASURES]
    assert vector.shape == (extractor.count_leaf_measures(),)
    leaf = segment(leaf_on_white, AcquisitionType.SCAN)
    colours = describe_colours(leaf_on_white, leaf.mask)
    is_here = np.array_equal(vector[-64:-27], colours)
    assert is_here == is_photo
