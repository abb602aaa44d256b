"""Altered scans of the sample are answered with the reason why they are hard."""

import cv2
import numpy as np
import pytest

import leafid
from benchmarks.altering import put_together
from leafid.model.reasons import explain_doubt
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.condition import Condition, measure_condition
from leafid.segmentation.result import find_bounding_box
from leafid.segmentation.segment import segment

SCAN = AcquisitionType.SCAN


def cut_in_half(image, mask):
    row0, row1, _, _ = find_bounding_box(mask)
    return image[: (row0 + row1) // 2].copy()


def reduce(image, mask):
    row0, row1, col0, col1 = find_bounding_box(mask)
    factor = 50 / max(row1 - row0, col1 - col0)
    return cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)


ALTERATIONS = {
    "it is blurred": lambda image, mask: cv2.GaussianBlur(
        image, (0, 0), 6 * max(image.shape) / 800
    ),
    "it is dark": lambda image, mask: (0.15 * image).astype(np.uint8),
    "what leafid takes for the leaf is cut off": cut_in_half,
    "the leaf is small": reduce,
}


def explain(image):
    return explain_doubt(measure_condition(image, segment(image, SCAN, petiole=False)))


def test_clear_pictures_are_not_doubted(sample_leaves):
    # One leaf of twelve may touch the border.
    assert sum(bool(explain(image)) for image, _ in sample_leaves) <= 1


@pytest.mark.parametrize("reason", ALTERATIONS)
def test_altered_pictures_are_doubted_for_what_was_altered(reason, sample_leaves):
    reasons = [explain(ALTERATIONS[reason](*leaf)) for leaf in sample_leaves]
    # One leaf of twelve may be missed.
    assert (
        sum(any(text.startswith(reason) for text in of_leaf) for of_leaf in reasons)
        >= len(sample_leaves) - 1
    )


def test_the_most_important_reason_is_first():
    worst = Condition(0.9, side=48, n_leaves=3, sharpness=0.1, lightness=0.1, cut=0.5)
    assert [text.split(":")[0] for text in explain_doubt(worst)] == [
        "leafid sees 3 leaves",
        "it is dark",
        "it is blurred",
        "what leafid takes for the leaf is cut off by the border",
        "the leaf is small, 48 pixels",
    ]


def test_no_region_is_called_a_leaf_where_there_is_none():
    worst = Condition(0.9, side=48, n_leaves=3, sharpness=0.1, lightness=0.1, cut=0.5)
    assert [text.split(":")[0] for text in explain_doubt(worst, "no-leaf")] == [
        "it is dark",
        "it is blurred",
        *explain_doubt(Condition(0.9), "no-leaf"),
    ]


def test_advice_for_a_picture_without_a_leaf_fits_every_cause():
    # A leaf that fills the picture, but lies on soil or half in the shade, isn't small.
    [advice] = explain_doubt(Condition(0.9, side=800), "no-leaf")
    assert "small" not in advice
    for remedy in ("not needles", "all of it alone", "plain light", "even light"):
        assert remedy in advice
    assert advice.endswith("or cut it out")
    assert explain_doubt(Condition(0.9), "unknown") == ()


def test_several_leaves_are_named_in_every_format(cli, sample_leaves, tmp_path):
    picture, _ = put_together(sample_leaves[:3], np.random.default_rng(0))
    file = tmp_path / "three.png"
    cv2.imwrite(str(file), picture)
    words = (
        "predict",
        file,
        "--assume-type",
        "scan",
        "--cache",
        tmp_path / "cache",
        "--jobs",
        1,
    )
    assert "\n  3 leaves; the largest is answered\n" in cli(*words).out
    assert cli(*words, "--format", "json").json[0]["n_leaves"] == 3
    assert (
        cli(
            "explain", file, "--assume-type", "scan", "--output", tmp_path / "pages"
        ).status
        == 0
    )
    pages = [page.read_text() for page in (tmp_path / "pages").glob("*.html")]
    assert any("3 leaves; the largest is answered." in page for page in pages)
    [answer] = leafid.load_model().identify(file, assume_type="scan")
    assert answer.reasons[0] == "leafid sees 3 leaves: photograph one, or cut it out"
