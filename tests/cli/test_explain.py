import shutil

import pytest

from tests.pages.written_pages import check_page


@pytest.fixture
def pictures(drawn):
    return sorted((drawn / "Test").glob("*.jpg"))


def test_text(cli, pictures, drawn_model):
    found = cli("explain", *pictures[:3], "--model", drawn_model, "--assume-type", "scan")
    assert found.status == 0
    # Type and probabilities are those that predict gives.
    predicted = cli("predict", *pictures[:3], "--model", drawn_model, "--assume-type", "scan").out
    heads = [line for line in predicted.splitlines() if line.startswith(str(pictures[0].parent))]
    assert len(heads) == 3
    assert all("of a known species" in head for head in heads)
    assert [line for line in found.out.splitlines() if line.startswith(str(pictures[0].parent))] == heads
    assert "simple leaf" in found.out or "compound leaf" in found.out
    for expert in ("local", "shape"):
        assert f"\n  {expert} " in found.out


def test_page(cli, pictures, drawn_model, tmp_path):
    found = cli("explain", *pictures, "--model", drawn_model, "--output", tmp_path / "out")
    file = tmp_path / "out" / "explanation.html"
    assert (found.status, found.out) == (0, f"{file}\n")
    page = check_page(file)
    assert [name for name in page.headings[2] if name.endswith(".jpg")] == [picture.name for picture in pictures]
    assert page.text.count("Training pictures") == len(pictures)
    assert page.text.count(", of a known species") == len(pictures)


def test_a_name_that_is_no_utf_8_costs_nothing(cli, pictures, drawn_model, tmp_path, name_in_latin_1):
    odd = tmp_path / name_in_latin_1
    shutil.copy(pictures[0], odd)
    assert cli("explain", odd, pictures[1], "--model", drawn_model, "--output", tmp_path / "out").status == 0
    headings = check_page(tmp_path / "out" / "explanation.html").headings[2]
    assert {"\ufffdrable.jpg", pictures[1].name} <= set(headings)
    assert "rable.jpg" in cli("explain", odd, "--model", drawn_model).out


def test_a_picture_that_can_not_be_read_costs_only_itself(cli, pictures, drawn_model, tmp_path):
    bad = tmp_path / "bad.jpg"
    bad.write_text("no picture")
    found = cli("explain", bad, pictures[0], "--model", drawn_model)
    assert found.status == 1
    assert str(pictures[0]) in found.out
    assert str(bad) in found.err
    alone = cli("explain", bad, "--model", drawn_model, "--output", tmp_path / "out")
    assert (alone.status, alone.out) == (1, "")
    assert not (tmp_path / "out").exists()


def test_wrong_input(cli, pictures, drawn_model, tmp_path):
    taken = tmp_path / "taken"
    taken.touch()
    found = cli("explain", pictures[0], "--model", drawn_model, "--output", taken)
    assert found.status == 1
    assert "expected a folder to write to" in found.err
    assert cli("explain", tmp_path / "nothing.jpg", "--model", drawn_model).status == 1
    assert cli("explain", pictures[0], "--model", pictures[0]).status == 1
    assert cli("explain").status == 2
