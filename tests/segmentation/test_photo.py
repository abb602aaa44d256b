"""Photos: the main leaf where there is one, and little confidence where there is none."""

import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment


@pytest.mark.parametrize("soil", [(60, 80, 110), (10, 12, 10), (120, 120, 125)])
@pytest.mark.parametrize("turn", [0, 130])
def test_a_leaf_on_rough_ground(drawn_leaf, iou, soil, turn):
    image, mask = drawn_leaf(rows=300, cols=240, sheet=soil, leaf=(60, 160, 90), turn=turn, radius=0.3, noise=18)
    leaf = segment(image, AcquisitionType.PHOTO)
    assert leaf.confidence > 0.5
    # At 200 pixels, with an edge between the pixels: what is rounded is less than a pixel of the picture.
    assert iou(leaf.mask, mask) > 0.97


@pytest.mark.parametrize("skin", [(110, 140, 195), (75, 95, 140)])
def test_a_leaf_held_in_a_hand(drawn_leaf, iou, skin):
    image, mask = drawn_leaf(rows=300, cols=240, sheet=(45, 80, 50), radius=0.22, noise=6)
    hand = np.zeros(mask.shape, np.uint8)
    cv2.ellipse(hand, (120, 160), (90, 120), 0, 0, 360, 1, -1)
    image[(hand > 0) & ~mask] = skin
    assert iou(segment(image, AcquisitionType.PHOTO).mask, mask) > 0.9


def test_noise_is_no_leaf():
    image = np.random.default_rng(1).integers(0, 256, (200, 160, 3), dtype=np.uint8)
    assert segment(image, AcquisitionType.PHOTO).confidence < 0.5
