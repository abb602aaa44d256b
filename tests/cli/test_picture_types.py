"""Segment and describe recognise the type of a picture as predict does."""

import re

import cv2
import numpy as np


def draw_sheet(file, light=200.0, shade=0.0, noise=0.0):
    """Draw a leaf on coarse paper whose light falls off towards a corner."""
    rows, cols = 480, 360
    falloff = (
        1 - shade * (np.linspace(0, 1, cols) + np.linspace(0, 1, rows)[:, None]) / 2
    )
    grain = cv2.GaussianBlur(
        np.random.default_rng(0).normal(0, 1, (rows, cols)), (0, 0), 2
    )
    sheet = light * falloff + noise * grain / grain.std()
    image = np.repeat(np.clip(sheet, 0, 255).astype(np.uint8)[..., None], 3, axis=2)
    cv2.ellipse(
        image,
        (cols // 2, rows // 2),
        (cols // 5, rows // 3),
        0,
        0,
        360,
        (40, 110, 60),
        -1,
    )
    cv2.line(
        image, (cols // 2, rows // 2), (cols // 2, rows * 9 // 10), (40, 110, 60), 5
    )
    file.parent.mkdir(exist_ok=True)
    cv2.imwrite(str(file), image)
    return file


def test_leaves_on_sheets_are_not_taken_for_photos(cli, tmp_path):
    """Thresholds on the border take dark, uneven or coarse sheets for photos."""
    folder = tmp_path / "sheets"
    draw_sheet(folder / "plain.png")
    draw_sheet(folder / "shaded.png", shade=0.6)
    draw_sheet(folder / "coarse.png", noise=8)
    draw_sheet(folder / "dark.png", light=110, shade=0.3)
    cut = cli("segment", folder, "--output", tmp_path / "cut", "--jobs", 1)
    assert [line.split()[1] for line in cut.out.splitlines()[1:]] == ["scan-like"] * 4
    described = cli("describe", folder, "--families", "hu", "--jobs", 1)
    assert [row["type"] for row in described.rows] == ["scan-like"] * 4
    for file in folder.iterdir():
        mask = cv2.imread(
            str(tmp_path / "cut" / f"{file.stem}_mask.png"), cv2.IMREAD_UNCHANGED
        )
        assert 0.20 < (mask > 0).mean() < 0.22


def test_the_types_of_pictures_of_several_types_are_told(cli, drawn_model, tmp_path):
    for number in range(8):
        draw_sheet(tmp_path / "pictures" / f"{number}.png")
    noise = np.random.default_rng(0).integers(0, 256, (480, 360, 3), np.uint8)
    for number in range(2):
        cv2.imwrite(str(tmp_path / "pictures" / f"noise {number}.png"), noise)
    for command, words in {
        "describe": ["--families", "hu"],
        "predict": ["--no-cache"],
    }.items():
        given = [
            command,
            tmp_path / "pictures",
            "--model",
            drawn_model,
            "--jobs",
            1,
            *words,
        ]
        outcome = cli(*given)
        # It alarms nobody: a mixture is no error.
        (note,) = [
            line for line in outcome.err.splitlines() if "types recognised" in line
        ]
        assert re.match(
            r"acquisition types recognised: [a-z-]+ (8|2), [a-z-]+ (8|2); "
            r".*--assume-type",
            note,
        )
        assert "recognised" not in cli(*given, "--assume-type", "scan").err
