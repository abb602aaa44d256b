import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from tests.pages.written_pages import check_page


@pytest.fixture
def pictures(drawn):
    """Test pictures on a sheet: so small a model may take photos of leaves for none."""
    return sorted(
        picture.file
        for picture in read_collection(drawn).pictures
        if picture.part == "test" and picture.type is not AcquisitionType.PHOTO
    )


def test_text(cli, pictures, drawn_model):
    outcome = cli(
        "explain", *pictures[:3], "--model", drawn_model, "--assume-type", "scan"
    )
    assert outcome.status == 0
    # The type is that which predict gives.
    predicted = cli(
        "predict", *pictures[:3], "--model", drawn_model, "--assume-type", "scan"
    ).out
    heads = [
        line
        for line in predicted.splitlines()
        if line.startswith(str(pictures[0].parent))
    ]
    assert len(heads) == 3
    assert outcome.out.count(", of a known species") == 3
    assert [
        line
        for line in outcome.out.splitlines()
        if line.startswith(str(pictures[0].parent))
    ] == heads
    assert "simple leaf" in outcome.out or "compound leaf" in outcome.out
    for expert in ("local", "shape"):
        assert f"\n  {expert} " in outcome.out


def test_json(cli, pictures, drawn_model, tmp_path):
    """The explanations for programs; a picture that can't be read is left out."""
    (tmp_path / "bad.jpg").write_text("no picture")
    words = (
        "explain",
        tmp_path / "bad.jpg",
        *pictures[:2],
        "--model",
        drawn_model,
        "--assume-type",
        "scan",
    )
    outcome = cli(*words, "--format", "json")
    assert outcome.status == 1
    # Nothing is printed of it, not even an empty line, and one between the others.
    blocks = cli(*words).out.split(f"{pictures[0].parent}/")
    assert [block.endswith("\n\n") for block in blocks[:2]] == [False, True]
    assert blocks[0] == ""
    records = outcome.json
    assert [record["answer"]["picture"] for record in records] == list(
        map(str, pictures[:2])
    )
    assert any(record["outlines"] and record["opinions"] for record in records)
    for record in records:
        assert {"traits", "opinions", "species", "differences", "note"} <= record.keys()
        assert all(
            0 <= col <= record["width"]
            for polygon in record["outlines"]
            for col, row in polygon
        )
    assert cli(*words, "--format", "json", "--output", tmp_path / "out").status == 2


def test_page(cli, pictures, drawn_model, tmp_path):
    outcome = cli(
        "explain", *pictures, "--model", drawn_model, "--output", tmp_path / "out"
    )
    file = tmp_path / "out" / "explanation.html"
    assert (outcome.status, outcome.out) == (0, f"{file}\n")
    page = check_page(file)
    assert any(target.endswith("-pictures-1") for target in page.targets)
    assert [name for name in page.headings[2] if name.endswith(".jpg")] == [
        picture.name for picture in pictures
    ]
    assert page.text.count("Pictures to compare with") == len(pictures)
    assert page.text.count(", of a known species") == len(pictures)


def test_a_picture_that_can_not_be_read_gives_no_page(cli, drawn_model, tmp_path):
    bad = tmp_path / "bad.jpg"
    bad.write_text("no picture")
    alone = cli("explain", bad, "--model", drawn_model, "--output", tmp_path / "out")
    assert (alone.status, alone.out) == (1, "")
    assert not (tmp_path / "out").exists()


def test_what_may_be_cut_out_wrongly_has_no_traits(cli, drawn, drawn_model, tmp_path):
    picture = cv2.imread(str(drawn / "Test" / "170.jpg"))
    is_leaf = (picture.min(axis=2) < 150).view(np.uint8)
    blade = cv2.morphologyEx(is_leaf, cv2.MORPH_OPEN, np.ones((15, 15), np.uint8))
    depth = cv2.distanceTransform(blade, cv2.DIST_L2, 5)
    pale = picture.copy()
    pale[(blade > 0) & (depth < 0.25 * depth.max())] = (205, 232, 240)
    for name, image in (("green", picture), ("pale", pale)):
        cv2.imwrite(str(tmp_path / f"{name}.png"), image)
    words = ("--model", drawn_model, "--assume-type", "scan", "--format", "json")
    green, cream = cli("explain", tmp_path, *words).json
    assert green["outline_confidence"] > 0.9
    assert green["traits"]
    assert cream["outline_confidence"] < 0.5
    assert cream["traits"] == {}
    assert "the leaf may be cut out wrongly" in cream["note"]
