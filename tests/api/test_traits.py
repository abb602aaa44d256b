"""``leafid.traits``: the rows of ``leafid measure``, from Python."""

import cv2
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


def test_what_is_wrong_is_said():
    picture = draw_leaf(Form(0.66, 0.6, 0.72), 0, 0).picture
    with pytest.raises(LeafidError, match="expected scan or scan-like"):
        leafid.traits(picture, "photo")
    for size in (0, -1, "x", float("nan")):
        with pytest.raises(
            LeafidError, match="mm_per_pixel: expected a number above 0"
        ):
            leafid.traits(picture, "scan", mm_per_pixel=size)
    picture[:] = 250
    assert leafid.traits(picture, "scan") == []
