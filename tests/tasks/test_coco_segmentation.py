import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.errors import ProblemsError
from leafid.tasks.interpretation.coco import read_coco
from leafid.tasks.interpretation.coco_segmentation import SegmentationError, read_segmentation

SQUARE = [10, 10, 30, 10, 30, 30, 10, 30]


def count_runs(mask):
    """Count runs column by column, the first one outside."""
    counts, inside = [0], False
    for pixel in mask.T.ravel():
        if pixel != inside:
            counts.append(0)
            inside = not inside
        counts[-1] += 1
    return counts


def compress(counts):
    """Follow rleToString of the COCO API."""
    text = ""
    for index, count in enumerate(counts):
        value = count - counts[index - 2] if index > 2 else count
        more = True
        while more:
            code = value & 0x1F
            value >>= 5
            more = value != -1 if code & 0x10 else value != 0
            text += chr((code | 0x20 if more else code) + 48)
    return text


def paste(region, shape):
    mask = np.zeros(shape, bool)
    rows, columns = region.mask.shape
    mask[region.top : region.top + rows, region.left : region.left + columns] = region.mask
    return mask


@given(arrays(bool, st.tuples(st.integers(1, 40), st.integers(1, 40))).filter(np.any))
def test_runs_are_decoded(mask):
    height, width = mask.shape
    counts = count_runs(mask)
    for encoded in (counts, compress(counts)):
        region = read_segmentation({"size": [height, width], "counts": encoded}, width, height)
        assert np.array_equal(paste(region, mask.shape), mask)


def test_pixels_whose_centres_are_in_a_polygon():
    region = read_segmentation([SQUARE], 50, 40)
    assert (region.area, region.top, region.left) == (400, 10, 10)
    two = read_segmentation([SQUARE, [0, 0, 2, 0, 2, 2, 0, 2]], 50, 40)
    assert two.area == 404
    triangle = read_segmentation([[0, 0, 40, 0, 0, 40]], 50, 40)
    assert triangle.area == pytest.approx(800, abs=25)


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        ("all", "expected polygons or runs as segmentation, found str"),
        ([[1, 2, 3, 4]], "of at least three points"),
        ([[1, 2, 3, 4, 5, "x"]], "of at least three points"),
        ([[1, 2, 3, 4, 5, 10**400]], "of at least three points"),
        ([[1, 2, 3, 4, 5, float("nan")]], "expected a polygon inside the picture of 50x40, found 5, nan"),
        ([[1, 2, 60, 4, 5, 6]], "expected a polygon inside the picture of 50x40, found 60, 4"),
        ([[1, 1, 1, 1, 1, 1]], "expected a segmentation of some area"),
        ({"size": [50, 40], "counts": [2000]}, r"expected runs of size \[40, 50\], found \[50, 40\]"),
        ({"size": [40, 50], "counts": [2000]}, "expected a segmentation of some area"),
        ({"size": [40, 50], "counts": [1, 2]}, "add up to 2000 pixels"),
        ({"size": [40, 50], "counts": [2001, -1]}, "add up to 2000 pixels"),
        ({"size": [40, 50], "counts": None}, "add up to 2000 pixels"),
        ({"size": [40, 50], "counts": "~~~"}, "expected compressed runs"),
        ({"size": [40, 50], "counts": "o" * 1000}, "expected compressed runs"),
    ],
)
def test_bad_segmentations_are_refused(segmentation, message):
    with pytest.raises(SegmentationError, match=message):
        read_segmentation(segmentation, 50, 40)


def make_truth(*annotations):
    return {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 50, "height": 40}],
        "categories": [{"id": 1, "name": "oak"}, {"id": 2, "name": "ash"}],
        "annotations": [{"image_id": 1, "category_id": 1, **annotation} for annotation in annotations],
    }


@pytest.fixture
def score(cli, tmp_path):
    def run(truth, result, *words):
        (tmp_path / "truth.json").write_text(json.dumps(make_truth(*truth)))
        listed = [{"image_id": 1, "category_id": 1, **annotation} for annotation in result]
        (tmp_path / "result.json").write_text(json.dumps(listed))
        words = ["evaluate-interpretation", tmp_path / "truth.json", tmp_path / "result.json", *words]
        return cli(*words, "--format", "json")

    return run


def read_means(outcome):
    assert outcome.status == 0, outcome.err
    return {row["metric"]: row["mean"] for row in json.loads(outcome.out)[0]["rows"]}


def test_segmentations_count_and_not_their_boxes(score):
    # Two triangles that share the diagonal of one box.
    lower, upper = [10, 10, 30, 30, 10, 30], [10, 10, 30, 10, 30, 30]
    box = [10, 10, 20, 20]
    outcome = score(
        [{"segmentation": [lower], "bbox": box}, {"segmentation": [upper]}],
        [{"segmentation": [lower], "bbox": box}, {"segmentation": [upper]}],
    )
    found = read_means(outcome)
    assert found["interpretation-error"] == 0
    assert found["fom"] == found["pas"] == 1
    assert outcome.err == ""


def test_segmentations_on_one_side_only_are_warned_about(score):
    outcome = score([{"segmentation": [SQUARE]}], [{"bbox": [10, 10, 20, 20]}])
    assert read_means(outcome)["pas"] == 1
    assert "truth.json has segmentations; they are compared with the boxes of" in outcome.err


def test_found_objects_in_a_crowd_do_not_count(score):
    crowd = {"segmentation": [[0, 0, 50, 0, 50, 9, 0, 9]], "iscrowd": 1}
    oak, inside, beside = {"bbox": [10, 10, 20, 20]}, {"bbox": [0, 0, 9, 9]}, {"bbox": [40, 30, 9, 9]}
    assert read_means(score([oak, crowd], [oak]))["interpretation-error"] == 0
    outcome = score([oak, crowd], [oak, inside])
    assert read_means(outcome)["interpretation-error"] == 0
    assert "1 found objects are in crowds and don't count" in json.loads(outcome.out)[0]["notes"]
    assert read_means(score([oak, crowd], [oak, beside]))["interpretation-error"] == 0.5
    assert read_means(score([oak, crowd], [oak, {**inside, "category_id": 2}]))["interpretation-error"] == 0.5
    assert read_means(score([oak, {**crowd, "iscrowd": 0}], [oak]))["interpretation-error"] == 0.5


def test_problems_of_segmentations_are_named(tmp_path):
    truth = make_truth({"segmentation": [[1, 2]]}, {"bbox": [0, 0, 5, 5], "iscrowd": 2})
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    with pytest.raises(ProblemsError) as caught:
        read_coco(tmp_path / "truth.json")
    problems = "\n".join(caught.value.problems)
    assert "expected polygons [x1, y1, x2, y2, …] of at least three points" in problems
    assert "expected bbox" not in problems
    assert "expected iscrowd of 0 or 1, found 2" in problems
    del truth["images"][0]["width"], truth["images"][0]["height"]
    truth["annotations"] = [{"image_id": 1, "category_id": 1, "segmentation": [SQUARE]}]
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    with pytest.raises(ProblemsError, match="expected a whole width and height of the image of a segmentation"):
        read_coco(tmp_path / "truth.json")
