"""``leafid train --extend``."""

import shutil

import pytest

from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection


@pytest.fixture(scope="module")
def parts(drawn, tmp_path_factory):
    """Training pictures of the drawn species: two in ``old``, one in ``new``."""
    folder = tmp_path_factory.mktemp("parts")
    training = [
        picture
        for picture in read_collection(drawn).pictures
        if picture.part == "train"
    ]
    names = sorted({picture.species for picture in training})
    for picture in training:
        target = (
            folder
            / ("old" if picture.species in names[:2] else "new")
            / picture.species
        )
        if picture.type is AcquisitionType.SCAN:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture.file, target)
    return folder


@pytest.fixture
def train(cli, drawn_cache, tmp_path):
    def run(folder, *words, output=tmp_path / "model.leafid"):
        jobs = [] if "--jobs" in words else ["--jobs", 1]
        return cli(
            "train", folder, "--output", output, "--cache", drawn_cache, *jobs, *words
        )

    return run


@pytest.fixture
def old(train, parts, ridge_recipe, tmp_path):
    outcome = train(
        parts / "old",
        "--recipe",
        ridge_recipe,
        "--assume-type",
        "scan",
        output=tmp_path / "old.leafid",
    )
    assert outcome.status == 0, outcome.err
    return tmp_path / "old.leafid"


def test_species_are_added_and_predicted(cli, train, old, parts, tmp_path):
    outcome = train(parts / "new", "--extend", old, "--assume-type", "scan")
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""
    new = tmp_path / "model.leafid"
    assert outcome.out == f"{new}: 1 species of 3 pictures added to 2\n"
    (name,) = (folder.name for folder in (parts / "new").iterdir())
    answers = cli(
        "predict",
        parts / "new",
        "--model",
        new,
        "--assume-type",
        "scan",
        "--format",
        "csv",
    )
    assert answers.out.count(name) >= 3, answers.out + answers.err
    described = cli("info", new)
    assert f"before species were added: {name}." in described.out
    assert cli("info", new, "--format", "json").json["types"]["scan"]["added"] == [name]
    assert "before species" not in cli("info", old).out


def test_bytes_do_not_depend_on_the_number_of_processes(train, old, parts, tmp_path):
    words = ("--extend", old, "--assume-type", "scan", "--no-thumbnails")
    assert train(parts / "new", *words, output=tmp_path / "a").status == 0
    assert train(parts / "new", *words, "--jobs", 2, output=tmp_path / "b").status == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    (name,) = (folder.name for folder in (parts / "new").iterdir())
    assert not Model.read(tmp_path / "b").species[name].thumbnails


def test_wrong_usage_is_one_line(train, old, parts, tmp_path):
    for words in (["--recipe", "fast"], ["--only-type", "scan"]):
        outcome = train(parts / "new", "--extend", old, *words)
        assert outcome.status == 2
        assert "leave out --recipe, --only-type and --unknown" in outcome.err
    assert not (tmp_path / "model.leafid").exists()


def test_bad_data_is_one_line(cli, train, old, parts, drawn_model, tmp_path):
    (tmp_path / "empty").mkdir()
    photo = ("--assume-type", "photo", "--extend", old)
    for folder, words, message in [
        (
            parts / "old",
            ("--assume-type", "scan", "--extend", old),
            "found 2 that the model knows",
        ),
        (
            parts / "new",
            photo,
            "the model learns from pictures of type scan, scan-like only",
        ),
        (
            parts / "new",
            ("--extend", drawn_model),
            "the model keeps no statistics",
        ),
        (parts / "new", ("--extend", tmp_path / "none.leafid"), "none.leafid"),
        (tmp_path / "empty", ("--extend", old), "empty"),
    ]:
        outcome = train(folder, *words)
        assert outcome.status == 1, outcome.out
        lines = [line for line in outcome.err.splitlines() if "warning" not in line]
        assert len(lines) == 1, outcome.err
        assert message in lines[0]
    assert not (tmp_path / "model.leafid").exists()
    assert train(parts / "new", "--extend", old, output=old).status == 2
