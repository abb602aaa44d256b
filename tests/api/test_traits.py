"""``leafid.traits``: the rows of ``leafid measure``, from Python."""

import cv2
import numpy as np
import pytest

import leafid
from leafid.errors import LeafidError
from tests.drawing.leaves import Form, draw_leaf


def test_traits_are_those_of_the_command(cli, tmp_path):
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
        [row] = leafid.traits(image, written["type"], mm_per_pixel=0.5, **words)
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
    [row] = leafid.traits(tmp_path / "card.png", "scan", **words)
    assert row["verdict"] == written["verdict"] != "leaf"
    assert row["unit"] == "cm"
    assert row["length"] == pytest.approx(written["length"], rel=1e-5)
    assert row["area_confidence"] == pytest.approx(written["area_confidence"], abs=1e-5)
    assert row["area_confidence"] < 0.5


def test_what_is_wrong_is_said():
    picture = draw_leaf(Form(0.66, 0.6, 0.72), 0, 0).picture
    with pytest.raises(LeafidError, match="expected scan or scan-like"):
        leafid.traits(picture, "photo")
    for size in (0, -1, "x", float("nan")):
        with pytest.raises(
            LeafidError, match="mm_per_pixel: expected a number above 0"
        ):
            leafid.traits(picture, "scan", mm_per_pixel=size)
    with pytest.raises(LeafidError, match="unit: expected mm or cm, found 'inch'"):
        leafid.traits(picture, "scan", mm_per_pixel=1, unit="inch")
    picture[:] = 250
    assert leafid.traits(picture, "scan") == []
