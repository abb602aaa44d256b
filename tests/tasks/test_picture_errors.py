import itertools
from pathlib import Path

import cv2
import numpy as np
import pytest

from leafid.tasks.interpretation.label_masks import make_objects
from leafid.tasks.interpretation.metric import (
    Scene,
    average_errors,
    score_objects,
    score_scene,
)
from leafid.tasks.interpretation.regions import Box, BoxedObject, ObjectPair


def score_masks(truth, result, *names):
    masks = [
        make_objects(mask, Path("m"), names[0] if names else {})
        for mask in (truth, result)
    ]
    return score_objects(ObjectPair("", *masks))


def test_pictures_and_their_means():
    truth, result = np.zeros((20, 30), int), np.zeros((20, 30), int)
    truth[5:15, 5:15], truth[5:15, 20:25] = 3, 7
    result[5:15, 7:17] = 1
    first = score_masks(
        truth, result, {("m", label): ("oak", 1.0) for label in (1, 3, 7)}
    )
    counts = [first[name] for name in ("objects", "found", "matches", "missed")]
    assert (counts, first["invented"]) == ([2, 1, 1, 1], 0)
    error = first["interpretation-error"]
    assert error == pytest.approx((0.8 * 0.2 + 1) / 2)
    assert first["pas"] == pytest.approx(80 / 120)
    assert first["martin"] == pytest.approx(0.2)
    assert first["rob-com"] == first["rob-cor"] == 0
    empty = score_masks(truth, np.zeros_like(truth))
    assert np.isnan(empty["pas"])
    means = average_errors([first, empty])
    assert means["interpretation-error"] == pytest.approx((error + 1) / 2)
    assert means["pas"] == first["pas"]


def test_boxes_and_masks_agree():
    boxes = [BoxedObject("", Box(5, 5, 10, 12)), BoxedObject("", Box(18, 2, 8, 8))]
    moved = [
        item._replace(box=item.box._replace(left=item.box.left + 2)) for item in boxes
    ]

    def draw(objects):
        mask = np.zeros((30, 40), int)
        for label, item in enumerate(objects, start=1):
            box = item.box
            mask[box.top : box.top + box.height, box.left : box.left + box.width] = (
                label
            )
        return mask

    by_boxes, by_masks = (
        score_objects(ObjectPair("", boxes, moved)),
        score_masks(draw(boxes), draw(moved)),
    )
    assert by_masks == pytest.approx(by_boxes)


def draw_leaf():
    """Draw a leaf with a stalk and a notch: neither convex nor symmetric."""
    mask = np.zeros((240, 240), np.uint8)
    outline = [
        [70, 60],
        [120, 40],
        [150, 80],
        [140, 120],
        [105, 95],
        [110, 150],
        [80, 130],
        [55, 180],
        [60, 110],
    ]
    cv2.fillPoly(mask, [np.array(outline) * 8 + 64], 1, shift=3)
    return mask


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("kind", ["translation", "scale", "rotation"])
def test_stronger_alterations_cost_more(kind, direction):
    leaf, errors = draw_leaf(), []
    for amount in np.linspace(0, direction, 6):
        turned, larger = (
            (20 * amount, 1)
            if kind == "rotation"
            else (0, 1 + 0.3 * amount * (kind == "scale"))
        )
        matrix = cv2.getRotationMatrix2D((120, 120), turned, larger)
        matrix[0, 2] += 20 * amount * (kind == "translation")
        altered = cv2.warpAffine(leaf, matrix, (240, 240), flags=cv2.INTER_NEAREST)
        errors.append(
            score_scene(
                Scene.from_objects(
                    *(make_objects(m, Path("m"), {}) for m in (leaf, altered))
                )
            )[0]
        )
    assert errors[0] == 0
    assert all(weaker <= stronger for weaker, stronger in itertools.pairwise(errors))
    # A leaf that is inside the other costs nothing.
    assert kind == "scale" or errors[-1] > 0.1
