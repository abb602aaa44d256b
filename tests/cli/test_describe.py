import csv
import io

import cv2
import numpy as np
import pytest

from leafid.descriptors.registry import get_column_names


def draw(path, rows=240, cols=200, leaf=True):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = np.full((rows, cols, 3), 252, np.uint8)
    if leaf:
        cv2.ellipse(image, (cols // 2, rows // 2), (cols // 4, rows // 3), 0, 0, 360, (50, 120, 70), -1)
    cv2.imwrite(str(path), image)
    return path


def table(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return rows


def test_a_picture_becomes_a_row(cli, tmp_path):
    picture = draw(tmp_path / "leaf.png")
    outcome = cli("describe", picture, "--families", "geometry,hu", "--jobs", "1")
    assert (outcome.status, outcome.err) == (0, "")
    (row,) = table(outcome.out)
    assert list(row) == ["picture", "type", "species", *get_column_names(["geometry", "hu"])]
    assert (row["picture"], row["type"], row["species"]) == (str(picture), "scan", "")
    # Axes of 80 and 50: the logarithm of 1.6, within a pixel.
    assert float(row["geometry.log_aspect_axes"]) == pytest.approx(np.log(1.6), abs=0.03)


def test_bad_pictures_are_reported_and_the_others_measured(cli, tmp_path):
    draw(tmp_path / "a.png")
    (tmp_path / "b.jpg").write_text("not a picture")
    (tmp_path / "c.jpg").touch()
    draw(tmp_path / "d.png", leaf=False)
    draw(tmp_path / "e.png")
    outcome = cli("describe", tmp_path, "--families", "hu", "--assume-type", "scan", "--jobs", "1")
    assert outcome.status == 1
    assert [row["picture"][-5:] for row in table(outcome.out)] == ["a.png", "e.png"]
    lines = outcome.err.splitlines()
    assert [name for name in "bcd" if any(f"/{name}." in line for line in lines)] == ["b", "c", "d"]
    assert "no leaf was found" in outcome.err
    assert lines[-1] == "leafid: 3 of 5 pictures left out"


def test_a_name_that_is_no_text_is_escaped(cli, tmp_path, monkeypatch, name_in_latin_1):
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "a.png").rename(tmp_path / name_in_latin_1)
    words = ("--families", "hu", "--assume-type", "scan", "--output", "table.csv")
    assert cli("describe", name_in_latin_1, *words).status == 0
    assert "\\udce9rable.jpg" in (tmp_path / "table.csv").read_text()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ((), 2, "expected at least one picture"),
        (("missing.jpg",), 1, "missing.jpg: no such file or folder"),
        (("leaf.png", "--families", "hue"), 2, "unknown descriptor family 'hue'"),
        (("leaf.png", "--output", "folder.csv"), 1, "found a folder"),
        (("leaf.png", "--assume-type", "xray"), 2, "invalid choice: 'xray'"),
    ],
)
def test_wrong_usage(cli, tmp_path, monkeypatch, words, status, message):
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "leaf.png")
    (tmp_path / "folder.csv").mkdir()
    outcome = cli("describe", *words, "--jobs", "1")
    assert outcome.status == status
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
