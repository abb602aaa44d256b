from pathlib import Path

import numpy as np
import pytest

from leafid.tasks.interpretation.label_masks import make_objects
from leafid.tasks.interpretation.metric import average_errors, score_objects
from leafid.tasks.interpretation.regions import Box, BoxedObject, ObjectPair


def score_masks(truth, result, *names):
    masks = [make_objects(mask, Path("m"), names[0] if names else None) for mask in (truth, result)]
    return score_objects(ObjectPair("", *masks))


def test_pictures_and_their_means():
    truth, result = np.zeros((20, 30), int), np.zeros((20, 30), int)
    truth[5:15, 5:15], truth[5:15, 20:25] = 3, 7
    result[5:15, 7:17] = 1
    first = score_masks(truth, result, {("m", label): ("oak", 1.0) for label in (1, 3, 7)})
    interpretation = first.interpretation
    assert (interpretation.matches.shape, interpretation.matches.sum()) == ((2, 1), 1)
    assert (interpretation.missed.tolist(), interpretation.invented.tolist()) == ([1], [])
    assert interpretation.error == pytest.approx((0.8 * 0.2 + 1) / 2)
    assert first.measures["pas"] == pytest.approx(80 / 120)
    assert first.measures["martin"] == pytest.approx(0.2)
    assert first.measures["rob-com"] == first.measures["rob-cor"] == 0
    empty = score_masks(truth, np.zeros_like(truth))
    assert np.isnan(empty.measures["pas"])
    means = average_errors([first, empty])
    assert means["interpretation-error"] == pytest.approx((interpretation.error + 1) / 2)
    assert means["pas"] == first.measures["pas"]


def test_boxes_and_masks_agree():
    boxes = [BoxedObject("", Box(5, 5, 10, 12)), BoxedObject("", Box(18, 2, 8, 8))]
    moved = [item._replace(box=item.box._replace(left=item.box.left + 2)) for item in boxes]

    def draw(objects):
        mask = np.zeros((30, 40), int)
        for label, item in enumerate(objects, start=1):
            box = item.box
            mask[box.top : box.top + box.height, box.left : box.left + box.width] = label
        return mask

    by_boxes, by_masks = score_objects(ObjectPair("", boxes, moved)), score_masks(draw(boxes), draw(moved))
    assert by_boxes.interpretation.error == pytest.approx(by_masks.interpretation.error)
    assert by_masks.measures == pytest.approx(by_boxes.measures)
