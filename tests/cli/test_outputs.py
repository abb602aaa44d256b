"""No command may write over what it reads."""

import shutil

import pytest

from tests.scoring.golden_files import GOOD, TRUTH


@pytest.fixture
def garden(drawn, tmp_path):
    """A folder of a species with a picture."""
    folder = tmp_path / "garden"
    (folder / "Olea europaea").mkdir(parents=True)
    shutil.copy(
        next((drawn / "Test").glob("*.jpg")), folder / "Olea europaea" / "a.jpg"
    )
    return folder


@pytest.fixture
def refused(cli, tmp_path):
    """Run a command that must say one line, and change no file."""

    def run(*words):
        before = {
            file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
        }
        done = cli(*words)
        assert done.status == 2
        assert done.out == ""
        assert done.err.count("\n") == 1
        assert {
            file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
        } == before
        return done.err

    return run


def test_the_first_of_several_pictures_is_no_output(refused, garden):
    picture = garden / "Olea europaea" / "a.jpg"
    expected = (
        f"--output {picture}: expected a name without the ending of a picture, found "
        ".jpg"
    )
    assert expected in refused("predict", "--output", picture, garden)
    assert expected in refused(
        "train", garden, "--assume-type", "scan", "--output", picture
    )


def test_the_model_that_is_read_is_no_output(refused, garden, drawn_model, tmp_path):
    model = shutil.copy(drawn_model, tmp_path / "my.leafid")
    link = tmp_path / "link"
    link.symlink_to(model)
    for output in (model, link):
        assert "found one that is read" in refused(
            "predict", garden, "--model", model, "--output", output
        )


def test_runs_are_no_output(refused, tmp_path):
    for command, name in (
        ("report", "report.html"),
        ("evaluate", "OfficialScores.csv"),
    ):
        run = shutil.copy(GOOD, tmp_path / name)
        assert "found one that is read" in refused(
            command, TRUTH, run, "--output", tmp_path
        )


def test_a_missing_folder_above_the_output_is_named_before_the_work(
    cli, garden, drawn_model, tmp_path
):
    absent = tmp_path / "absent"
    for words in (
        ("predict", garden, "--output", absent / "run.txt"),
        ("train", garden, "--output", absent / "my.leafid"),
        ("check", GOOD, "--to", "csv", absent / "run.csv"),
        ("info", garden, "--similar", absent / "plants.csv"),
        ("info", drawn_model, "--output", absent / "guide"),
        ("report", TRUTH, GOOD, "--output", absent / "report"),
        ("segment", garden, "--output", absent / "cut"),
        ("crossval", garden, "--output", absent / "folds"),
    ):
        outcome = cli(*words)
        assert (outcome.status, outcome.out) == (1, "")
        assert f"there is no folder {absent}; create it first" in outcome.err
    assert not absent.exists()
    # A folder that is named itself is created.
    assert cli("report", TRUTH, GOOD, "--output", absent).status == 0
    assert (absent / "tables").is_dir()


@pytest.mark.parametrize("command", ["predict", "describe", "measure"])
def test_metadata_of_the_pictures_are_not_overwritten(cli, tmp_path, command):
    (tmp_path / "leaves").mkdir()
    table = tmp_path / "table.csv"
    files = [
        table,
        *(
            tmp_path / "leaves" / name
            for name in ("metadata.csv", "labels.csv", "1.xml")
        ),
    ]
    for file in files:
        file.write_text("file,label\n")
        words = ("--metadata", table) if file is table else ()
        outcome = cli(command, tmp_path / "leaves", *words, "--output", file)
        assert outcome.status == 2
        assert "expected a file of its own, found one that is read" in outcome.err
        assert file.read_text() == "file,label\n"
