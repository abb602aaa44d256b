import cv2
import numpy as np
import pytest


def draw(path, rows=240, cols=200, leaf=True):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = np.full((rows, cols, 3), 252, np.uint8)
    if leaf:
        cv2.ellipse(
            image,
            (cols // 2, rows // 2),
            (cols // 4, rows // 3),
            0,
            0,
            360,
            (50, 120, 70),
            -1,
        )
    cv2.imwrite(str(path), image)
    return path


def test_bad_pictures_are_reported_and_the_others_measured(cli, tmp_path):
    draw(tmp_path / "a.png")
    (tmp_path / "b.jpg").write_text("not a picture")
    (tmp_path / "c.jpg").touch()
    draw(tmp_path / "d.png", leaf=False)
    draw(tmp_path / "e.png")
    outcome = cli(
        "describe", tmp_path, "--families", "hu", "--assume-type", "scan", "--jobs", "1"
    )
    assert outcome.status == 1
    assert [row["picture"][-5:] for row in outcome.rows] == ["a.png", "e.png"]
    lines = outcome.err.splitlines()
    assert [name for name in "bcd" if any(f"/{name}." in line for line in lines)] == [
        "b",
        "c",
        "d",
    ]
    assert "no leaf was found" in outcome.err
    assert lines[-1] == "leafid: 3 of 5 pictures left out"


def test_leaves_are_taken_from_masks(cli, tmp_path):
    """The masks that segment writes give what describe measures; others are named."""
    small = draw(tmp_path / "pictures" / "small.png")
    draw(tmp_path / "pictures" / "large.png", 1500, 1300)
    words = ("--assume-type", "scan", "--families", "geometry", "--jobs", "1")
    assert (
        cli(
            "segment",
            small.parent,
            "--assume-type",
            "scan",
            "--output",
            tmp_path / "cut",
        ).status
        == 0
    )
    expected = cli("describe", small.parent, *words).rows
    measured = cli("describe", small.parent, *words, "--masks", tmp_path / "cut").rows
    assert len(measured) == 2
    for row, searched in zip(measured, expected, strict=True):
        assert row["picture"] == searched["picture"]
        assert float(row["geometry.log_aspect_axes"]) == pytest.approx(
            float(searched["geometry.log_aspect_axes"]), abs=0.01
        )
    # Half of the leaf: the mask is measured, and not the picture.
    mask = cv2.imread(str(tmp_path / "cut" / "small_mask.png"))
    mask[: len(mask) // 2] = 0
    cv2.imwrite(str(tmp_path / "cut" / "small_mask.png"), mask)
    (half,) = cli("describe", small, *words, "--masks", tmp_path / "cut").rows
    assert (
        float(half["geometry.log_aspect_axes"])
        < float(expected[1]["geometry.log_aspect_axes"]) - 0.2
    )
    for name, content in (
        ("empty", mask * 0),
        ("narrow", mask[:, 9:]),
        ("missing", None),
        ("unreadable", "text"),
    ):
        draw(tmp_path / "bad" / f"{name}.png")
        if content is None:
            continue
        (tmp_path / "masks").mkdir(exist_ok=True)
        file = tmp_path / "masks" / f"{name}.png"
        file.write_text(content) if isinstance(content, str) else cv2.imwrite(
            str(file), content
        )
    outcome = cli("describe", tmp_path / "bad", *words, "--masks", tmp_path / "masks")
    assert (outcome.status, len(outcome.rows)) == (1, 0)
    for name, problem in (
        ("empty", "mask: expected finite numbers above 0 where the leaf is, found 0"),
        ("narrow", "expected a mask of (240, 200) pixels, found (240, 191)"),
        ("missing", "expected one mask, missing.png or missing_mask.png ("),
        ("unreadable", "masks/unreadable.png: expected a JPEG"),
    ):
        assert [
            line
            for line in outcome.err.splitlines()
            if f"bad/{name}.png: " in line and problem in line
        ]
    assert (
        cli("describe", small, "--masks", tmp_path / "nowhere").err.count(
            "expected a folder of masks"
        )
        == 1
    )
