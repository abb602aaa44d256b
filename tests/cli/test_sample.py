from pathlib import Path

import pytest


def small(cli, folder, *more):
    words = ("--species", 2, "--plants", 2, "--pictures", 1, "--size", 40, "--jobs", 1)
    return cli("sample", folder, *words, *more)


def test_it_prints_what_was_written(cli, tmp_path):
    outcome = small(cli, tmp_path / "leaves")
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].startswith(f"{tmp_path / 'leaves'}: 12 pictures, ")
    assert lines[1].split() == ["types", "4", "scan,", "4", "scan-like,", "4", "photo"]
    assert "train    6 pictures in" in outcome.out
    assert len(list((tmp_path / "leaves").rglob("*.jpg"))) == 12


def test_one_type_only(cli, tmp_path):
    outcome = small(cli, tmp_path / "leaves", "--only-type", "scan-like")
    assert outcome.status == 0
    assert "  types    4 scan-like" in outcome.out.splitlines()
    assert {"pseudoscan"} == {
        file.read_text().split("<Type>")[1].split("</Type>")[0] for file in (tmp_path / "leaves").rglob("*.xml")
    }


def test_a_single_plant_is_for_training(cli, tmp_path):
    outcome = cli("sample", tmp_path / "leaves", "--species", 1, "--plants", 1, "--size", 40, "--only-type", "scan")
    assert outcome.status == 0
    assert "(0 of 1 per species for test)" in outcome.out
    assert "  test     0 pictures" in outcome.out


@pytest.mark.parametrize("words", [[], ["--force"]])
def test_refuses_a_folder_with_files(cli, tmp_path, words):
    (tmp_path / "notes.txt").write_text("mine")
    outcome = small(cli, tmp_path, *words)
    assert outcome.status == 1
    assert outcome.err == (
        f"leafid: error: {tmp_path}: expected a new or empty folder, found files that were not drawn by leafid; "
        "name another\n"
    )
    assert outcome.out == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_force_replaces_a_drawn_collection(cli, tmp_path):
    assert small(cli, tmp_path).status == 0
    outcome = small(cli, tmp_path)
    assert outcome.status == 1
    assert "found a drawn collection; name another, or use --force" in outcome.err
    assert small(cli, tmp_path, "--force").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--species", 99), "species: expected a number from 1 to 28, found 99"),
        (("--species", "many"), "expected a whole number"),
        (("--size", 5), "size: expected a number from 32"),
        (("--test-plants", 9), "test plants: expected"),
        (("--seed", -3), "seed: expected"),
        (("--only-type", "painting"), "invalid choice"),
    ],
)
def test_wrong_usage(cli, tmp_path, words, message):
    outcome = cli("sample", tmp_path / "leaves", *words)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert not (tmp_path / "leaves").exists()


def test_help_has_examples(cli):
    outcome = cli("sample", "--help")
    assert outcome.status == 0
    assert "examples:" in outcome.out
    assert "--force" in outcome.out


def test_the_shipped_sample_is_complete():
    from leafid.pictures import read_collection

    folder = Path(__file__).parents[2] / "data" / "sample"
    pictures = read_collection(folder).pictures
    assert {picture.part for picture in pictures} == {"train", "test"}
    assert len({picture.species for picture in pictures}) >= 12
    assert all(picture.file.stat().st_size > 0 for picture in pictures)
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 5e6
