import pytest

from tests.pages.written_pages import check_page


@pytest.fixture
def pictures(drawn):
    return sorted((drawn / "Test").glob("*.jpg"))


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
    # So small a model may take a leaf for none.
    assert page.text.count("Pictures to compare with") >= len(pictures) - 1
    assert page.text.count(", of a known species") == len(pictures)


def test_a_picture_that_can_not_be_read_gives_no_page(cli, drawn_model, tmp_path):
    bad = tmp_path / "bad.jpg"
    bad.write_text("no picture")
    alone = cli("explain", bad, "--model", drawn_model, "--output", tmp_path / "out")
    assert (alone.status, alone.out) == (1, "")
    assert not (tmp_path / "out").exists()
