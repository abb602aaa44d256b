"""``leafid.measure``: the rows of the command of this name, from Python."""

import cv2
import numpy as np
import pytest
from PIL import Image

import leafid
from leafid.errors import LeafidError
from tests.drawing.leaves import Form, draw_leaf


def test_rows_are_those_of_the_command(cli, tmp_path):
    picture = draw_leaf(Form(0.66, 0.6, 0.72, petiole=0.4), 0, 0.3).picture
    cv2.imwrite(str(tmp_path / "leaf.png"), picture)
    outcome = cli(
        "measure", tmp_path / "leaf.png", "--mm-per-pixel", 0.5, "--format", "json"
    )
    [written] = outcome.json
    for image, words in (
        (tmp_path / "leaf.png", {}),
        (picture[..., ::-1], {"color": "rgb"}),
    ):
        [row] = leafid.measure(image, written["type"], mm_per_pixel=0.5, **words)
        assert [*row] == [name for name in written if name in row]
        for name, value in row.items():
            assert value == (
                pytest.approx(written[name], rel=1e-5)
                if isinstance(value, float)
                else written[name]
            )


def test_what_is_no_leaf_is_called_so_as_by_the_command(cli, tmp_path):
    # A grey sheet of paper with a ruled edge.
    picture = np.full((500, 700, 3), 250, np.uint8)
    cv2.rectangle(picture, (150, 120), (560, 380), (120, 120, 120), -1)
    cv2.rectangle(picture, (200, 150), (520, 160), (240, 240, 240), -1)
    cv2.imwrite(str(tmp_path / "card.png"), picture)
    options = ("--unit", "cm", "--mm-per-pixel", 0.2, "--assume-type", "scan")
    [written] = cli("measure", tmp_path / "card.png", *options, "--format", "json").json
    words = {"mm_per_pixel": 0.2, "unit": "cm", "each_leaf": True}
    [row] = leafid.measure(tmp_path / "card.png", "scan", **words)
    assert row["verdict"] == written["verdict"] != "leaf"
    assert row["unit"] == "cm"
    assert row["length"] == pytest.approx(written["length"], rel=1e-5)
    assert row["area_confidence"] == pytest.approx(written["area_confidence"], abs=1e-5)
    assert row["area_confidence"] < 0.5


def test_a_mask_is_measured_as_by_the_command(cli, tmp_path):
    mask = np.zeros((300, 500), np.uint8)
    cv2.ellipse(mask, (140, 150), (110, 60), 20, 0, 360, 1, -1)
    cv2.ellipse(mask, (390, 150), (40, 90), 0, 0, 360, 1, -1)
    # Without the mask, the picture shows no leaf.
    picture = np.full((*mask.shape, 3), 235, np.uint8)
    alpha = mask * np.uint8(255)
    cv2.imwrite(str(tmp_path / "leaf.png"), np.dstack([picture, alpha]))
    outcome = cli("measure", tmp_path / "leaf.png", "--each-leaf", "--format", "json")
    areas = [row["area"] for row in outcome.json]
    assert len(areas) == 2
    rgba = np.dstack([picture, alpha])
    for image, leaf in (
        (tmp_path / "leaf.png", None),
        ((tmp_path / "leaf.png").read_bytes(), None),
        (rgba, None),
        (Image.fromarray(rgba), None),
        (picture, mask),
        (picture, leafid.Segmentation.from_mask(mask)),
    ):
        # A photo, too, as the leaf isn't searched for.
        measured = leafid.measure(image, "photo", leaf=leaf, each_leaf=True)
        assert [row["area"] for row in measured] == areas
        assert {row["verdict"] for row in measured} == {None}
        [whole] = leafid.measure(image, leaf=leaf)
        assert whole["area"] == sum(areas)
    with pytest.raises(LeafidError, match="or a mask of the leaf as leaf, found photo"):
        leafid.measure(picture, "photo")


def test_what_is_wrong_is_said():
    picture = draw_leaf(Form(0.66, 0.6, 0.72), 0, 0).picture
    with pytest.raises(LeafidError, match="expected scan or scan-like"):
        leafid.measure(picture, "photo")
    message = "mm_per_pixel: expected a number above 0, at most 100000, found"
    for size in (0, -1, "x", float("nan"), 1e308):
        with pytest.raises(LeafidError, match=message):
            leafid.measure(picture, "scan", mm_per_pixel=size)
    with pytest.raises(LeafidError, match="unit: expected mm or cm, found 'inch'"):
        leafid.measure(picture, "scan", mm_per_pixel=1, unit="inch")
    with pytest.raises(LeafidError, match="leaf: expected a mask of an image"):
        leafid.measure(picture, leaf=np.eye(9))
    with pytest.warns(DeprecationWarning, match="call leafid.measure"):
        [row] = leafid.traits(picture, "scan", mm_per_pixel=np.int64(2))
    assert row == leafid.measure(picture, "scan", mm_per_pixel=np.float32(2))[0]
    picture[:] = 250
    assert leafid.measure(picture, "scan") == []
