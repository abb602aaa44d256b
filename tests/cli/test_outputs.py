"""No command may write over what it reads."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def garden(drawn, tmp_path):
    """A folder of a species with a picture."""
    folder = tmp_path / "garden"
    (folder / "Olea europaea").mkdir(parents=True)
    shutil.copy(next((drawn / "Test").glob("*.jpg")), folder / "Olea europaea" / "a.jpg")
    return folder


@pytest.fixture
def refused(cli, tmp_path):
    """Run a command that must say one line, and leave all files as they are."""

    def run(*words):
        before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
        done = cli(*words)
        assert done.status == 2
        assert done.out == ""
        assert done.err.count("\n") == 1
        assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
        return done.err

    return run


def test_the_first_of_several_pictures_is_no_output(refused, garden):
    picture = garden / "Olea europaea" / "a.jpg"
    expected = f"--output {picture}: expected a name without the ending of a picture, found .jpg"
    assert expected in refused("predict", "--output", picture, garden)
    assert expected in refused("train", garden, "--assume-type", "scan", "--output", picture)


def test_the_model_that_is_read_is_no_output(refused, garden, drawn_model, tmp_path):
    model = shutil.copy(drawn_model, tmp_path / "my.leafid")
    link = tmp_path / "link"
    link.symlink_to(model)
    for output in (model, link):
        assert "found one that is read" in refused("predict", garden, "--model", model, "--output", output)


def test_runs_are_no_output(refused, tmp_path):
    golden = Path(__file__).parents[1] / "golden" / "plant_task"
    for command, name in (("report", "report.html"), ("evaluate", "OfficialScores.csv")):
        run = shutil.copy(golden / "runs" / "good.txt", tmp_path / name)
        assert "found one that is read" in refused(command, golden / "truth", run, "--output", tmp_path)
