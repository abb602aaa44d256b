import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.tasks.interpretation.box import Box
from leafid.tasks.interpretation.label_masks import MaskPair, ObjectName
from leafid.tasks.interpretation.picture_errors import average_errors, score_masks, score_objects
from leafid.tasks.interpretation.region import BoxedObject, make_objects


def test_labels_need_names_where_others_have_some():
    with pytest.raises(LeafidError, match="expected a class for every label of the mask, found none for 2"):
        make_objects(np.array([[1, 2]]), {1: ObjectName("oak")})


def test_masks_of_other_sizes_are_refused():
    with pytest.raises(LeafidError, match="expected two masks of one size"):
        score_masks(MaskPair("", np.zeros((3, 4), int), np.zeros((4, 3), int), None, None))


def test_pictures_and_their_means():
    truth, result = np.zeros((20, 30), int), np.zeros((20, 30), int)
    truth[5:15, 5:15], truth[5:15, 20:25] = 3, 7
    result[5:15, 7:17] = 1
    oak = ObjectName("oak")
    first = score_masks(MaskPair("a", truth, result, {3: oak, 7: oak}, {1: oak}))
    found = first.interpretation
    assert (found.matches.shape, found.matches.sum(), found.missed, found.invented) == ((2, 1), 1, (1,), ())
    assert first.error == pytest.approx((0.8 * 0.2 + 1) / 2)
    assert first.measures["pas"] == pytest.approx(80 / 120)
    assert first.measures["martin"] == pytest.approx(0.2)
    assert first.measures["rob-com"] == first.measures["rob-cor"] == 0
    empty = score_masks(MaskPair("b", truth, np.zeros_like(truth), None, None))
    assert np.isnan(empty.measures["fom"])
    means = average_errors([first, empty])
    assert means["interpretation-error"] == pytest.approx((first.error + 1) / 2)
    assert means["pas"] == first.measures["pas"]


def test_pictures_without_any_object_have_no_error():
    box = BoxedObject("oak", Box(0, 0, 10, 10))
    errors = [score_objects("a", [box], []), score_objects("b", [box], [box]), score_objects("empty", [], [])]
    assert average_errors(errors)["interpretation-error"] == 1 / 2
    assert average_errors(errors, count_empty=True)["interpretation-error"] == 1 / 3


def test_boxes_and_masks_agree():
    boxes = [BoxedObject("", Box(5, 5, 10, 12)), BoxedObject("", Box(18, 2, 8, 8))]
    moved = [item._replace(box=item.box._replace(left=item.box.left + 2)) for item in boxes]

    def draw(objects):
        mask = np.zeros((30, 40), int)
        for label, item in enumerate(objects, start=1):
            box = item.box
            mask[box.top : box.top + box.height, box.left : box.left + box.width] = label
        return mask

    by_boxes, by_masks = (
        score_objects("", boxes, moved),
        score_masks(MaskPair("", draw(boxes), draw(moved), None, None)),
    )
    assert by_boxes.error == pytest.approx(by_masks.error)
    for name, value in by_boxes.measures.items():
        assert by_masks.measures[name] == pytest.approx(value)
