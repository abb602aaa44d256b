import json

import cv2
import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.tasks.interpretation.contours import fill_contours
from leafid.tasks.interpretation.localisation import find_contour


@pytest.fixture
def labels():
    """Make a label mask with three objects; the first two touch, the third is no rectangle."""
    mask = np.zeros((60, 80), np.int32)
    mask[5:20, 5:20], mask[5:20, 20:40] = 1, 2
    cv2.circle(mask, (50, 40), 12, 3, -1)
    return mask


def draw_contours(labels):
    contours = np.zeros_like(labels)
    for label in np.unique(labels[labels > 0]):
        contours[find_contour(labels == label)] = label
    return contours


def test_numbered_contours_are_filled(labels):
    assert np.array_equal(fill_contours(draw_contours(labels)), labels)


@pytest.mark.parametrize("value", [1, 255])
def test_contours_of_one_value_are_numbered(labels, value):
    contours = np.where(draw_contours(labels) > 0, value, 0)
    assert np.array_equal(fill_contours(contours), labels)


def test_an_object_in_front_of_a_larger_one():
    labels = np.full((30, 30), 0, np.int32)
    labels[2:28, 2:28] = 5
    inner = np.zeros((30, 30), bool)
    inner[10:20, 10:20] = True
    contours = draw_contours(labels)
    contours[find_contour(inner)] = 9
    labels[inner] = 9
    assert np.array_equal(fill_contours(contours), labels)


def test_no_contours():
    assert not fill_contours(np.zeros((9, 9), int)).any()


@pytest.mark.parametrize("others", [0, 4])
def test_open_contours_are_refused(others):
    contours = np.zeros((20, 20), int)
    contours[3, 2:9] = contours[3:8, 2] = 1
    contours[12:15, 12:15] = others
    contours[13, 13] = 0
    with pytest.raises(LeafidError, match="expected closed contours, found one at row 3, column 2"):
        fill_contours(contours)


def test_contours_on_the_command_line(cli, labels, tmp_path):
    cv2.imwrite(str(tmp_path / "truth.png"), labels)
    cv2.imwrite(str(tmp_path / "result.png"), draw_contours(labels))
    words = ["evaluate-interpretation", tmp_path / "truth.png", tmp_path / "result.png", "--format", "json"]
    rows = {option: json.loads(cli(*words, *option).out)[0]["rows"] for option in ((), ("--contours", "result"))}
    errors = {option: {row["metric"]: row["mean"] for row in listed} for option, listed in rows.items()}
    assert errors["--contours", "result"]["interpretation-error"] == 0
    assert errors["--contours", "result"]["pas"] == 1
    assert errors[()]["pas"] != 1
    contours = np.zeros((60, 80), np.uint8)
    contours[5, 5:20] = 1
    cv2.imwrite(str(tmp_path / "result.png"), contours)
    assert "result.png: expected closed contours, found one at row 5" in cli(*words, "--contours", "result").err
