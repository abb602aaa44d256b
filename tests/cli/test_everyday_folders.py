"""Folders as people have them: blanks in names, parts, classes without a picture."""

import shutil
import unicodedata

import pytest

from leafid.pictures.reading import read_collection

BLANK_NAMES = (
    "WhatsApp Image {}.jpg",
    "leaf\xa0{}.jpg",
    "leaf  {} (copy).jpg",
    " {}.jpg",
    "u\u0308ber\u202f{}.jpg",
)


@pytest.fixture
def garden(drawn, tmp_path):
    """Training pictures of the drawn collection as folders, some with blanks."""
    folder = tmp_path / "my garden"
    rows = ["file,plant,type"]
    for number, picture in enumerate(read_collection(drawn).part("train").pictures):
        name = (
            BLANK_NAMES[number % 6].format(number)
            if number % 6 < 5
            else f"{number}.jpg"
        )
        (folder / picture.species).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture.file, folder / picture.species / name)
        rows.append(f'"{picture.species}/{name}",{picture.plant},{picture.type}')
    (tmp_path / "garden.csv").write_text("\n".join(rows), encoding="utf-8")
    return folder


@pytest.fixture
def work(cli, light_recipe, drawn_cache, tmp_path):
    """Run a command of the garden that computes."""

    def run(command, folder, *words):
        given = (
            ["--metadata", tmp_path / "garden.csv"]
            if (tmp_path / "garden.csv").exists()
            else []
        )
        recipe = (
            []
            if command == "predict"
            else ["--recipe", light_recipe, "--only-type", "scan-like"]
        )
        return cli(
            command,
            folder,
            *recipe,
            *given,
            "--cache",
            drawn_cache,
            "--jobs",
            1,
            *words,
        )

    return run


def list_run_names(file):
    return {line.split()[0] for line in file.read_text(encoding="utf-8").splitlines()}


def test_blanks_in_names_are_underscores_in_run_files(cli, work, garden, tmp_path):
    outcome = work(
        "crossval", garden, "--folds", 3, "--repeats", 1, "--output", tmp_path / "runs"
    )
    assert outcome.status == 0, outcome.err
    run = tmp_path / "runs" / "seed-0.txt"
    of_type = [
        p
        for p in read_collection(garden, metadata=tmp_path / "garden.csv").pictures
        if p.type == "scan-like"
    ]
    names = {unicodedata.normalize("NFC", picture.file.name) for picture in of_type}
    assert list_run_names(run) == {
        name.translate(dict.fromkeys(map(ord, " \xa0\u202f"), "_")) for name in names
    }
    for words in (
        ["check", run, "--against"],
        ["evaluate"],
        ["report", "--output", tmp_path / "report"],
    ):
        read = cli(
            *words,
            garden,
            *([] if words[0] == "check" else [run]),
            "--metadata",
            tmp_path / "garden.csv",
        )
        assert read.status == 0, read.err
        assert "found 'WhatsApp" not in read.err
        assert f"{27 - 9} of 27 pictures are missing" in read.err


@pytest.mark.parametrize("form", ["run", "csv", "json", "text"])
def test_blanks_in_names_in_all_formats(work, garden, drawn_model, tmp_path, form):
    outcome = work(
        "predict",
        garden,
        "--model",
        drawn_model,
        "--format",
        form,
        "--output",
        tmp_path / "answers",
    )
    assert outcome.status == 0, outcome.err
    text = (tmp_path / "answers").read_text(encoding="utf-8")
    assert ("WhatsApp_Image_0.jpg" in text, "WhatsApp Image 0.jpg" in text) == (
        form == "run",
        form != "run",
    )


def test_names_that_run_files_do_not_tell_apart(work, garden, tmp_path, monkeypatch):
    first = next(garden.rglob("WhatsApp Image 0.jpg"))
    shutil.copy(first, first.with_name("WhatsApp_Image 0.jpg"))
    monkeypatch.setattr(
        "leafid.features.loader.FeatureLoader.stream",
        lambda *_: pytest.fail("work began"),
    )
    outcome = work("crossval", garden, "--output", tmp_path / "out")
    assert outcome.status == 1
    (line,) = [
        line for line in outcome.err.splitlines() if "leafid: warning" not in line
    ]
    assert line.startswith(
        f"leafid: error: {first.parent.name.replace(' ', '_')}/WhatsApp_Image_0.jpg: "
        "several pictures have this name"
    )
    assert f"{first}" in line
    assert not (tmp_path / "out").exists()


def test_an_output_that_can_not_be_written_is_refused_before_the_work(
    work, garden, tmp_path, monkeypatch
):
    (tmp_path / "out").write_text("a file")
    monkeypatch.setattr(
        "leafid.cli.training.crossval.crossval",
        lambda *_, **__: pytest.fail("work began"),
    )
    outcome = work("crossval", garden, "--output", tmp_path / "out")
    assert (outcome.status, outcome.err.count("\n")) == (1, 1)
    assert f"can't be written: {tmp_path / 'out'} is not a folder" in outcome.err


@pytest.fixture
def leaking(drawn, tmp_path):
    """The drawn collection with a training picture among those of the test."""
    folder = shutil.copytree(drawn, tmp_path / "leaking")
    pictures = [p for p in read_collection(folder).pictures if p.type == "scan-like"]
    source, target = (
        next(p.file for p in pictures if p.part == part) for part in ("train", "test")
    )
    shutil.copy(source, target)
    return (
        folder,
        f"1 duplicate of several parts, {source} and {target} first: correct the "
        "metadata, or remove pictures",
    )


def test_a_picture_in_two_parts_is_warned_of(cli, work, drawn, leaking, tmp_path):
    folder, warning = leaking
    assert warning in cli("info", folder, "--jobs", 1).out
    run = tmp_path / "run.txt"
    run.write_text(
        "".join(
            f"{p.name} {p.species} 1 1\n"
            for p in read_collection(folder).pictures
            if p.part == "test"
        )
    )
    calls = {
        "train": lambda place: work("train", place, "--output", tmp_path / "m.leafid"),
        "crossval": lambda place: work("crossval", place, "--parts", "--repeats", 1),
        "evaluate": lambda place: cli("evaluate", place, run),
        "report": lambda place: cli(
            "report", place, run, "--output", tmp_path / "report"
        ),
    }
    for name, call in calls.items():
        warned, clean = call(folder), call(drawn)
        assert (name, warned.status, clean.status) == (name, 0, 0), warned.err
        assert f"leafid: warning: {warning}\n" in warned.err
        assert "duplicate" not in clean.err


def test_a_class_whose_pictures_are_all_unreadable_is_named(work, garden, tmp_path):
    (garden / "Ulmus minor").mkdir()
    (garden / "Ulmus minor" / "1.jpg").write_text("no picture")
    outcome = work("train", garden, "--output", tmp_path / "m.leafid")
    assert (
        "no picture could be read of Ulmus minor; the model doesn't know it"
        in outcome.err
    )


@pytest.mark.parametrize("command", ["train", "crossval"])
def test_a_class_without_a_picture_is_refused(work, garden, tmp_path, command):
    (garden / "Tilia cordata").mkdir()
    (garden / "Ulmus minor" / "raw").mkdir(parents=True)
    (garden / "Ulmus minor" / "raw" / "1.cr2").touch()
    outcome = work(command, garden, "--output", tmp_path / "out")
    assert outcome.status == 1
    assert [line.split(": ")[2] for line in outcome.err.splitlines()] == [
        f"{garden}/Tilia cordata",
        f"{garden}/Ulmus minor",
    ]
    assert (
        "expected pictures of a label, found no file with the ending of a picture"
        in outcome.err
    )
    assert not (tmp_path / "out").exists()


def test_folders_without_a_picture_beside_labels_of_a_table(work, garden, tmp_path):
    (garden / "notes").mkdir()
    lines = (tmp_path / "garden.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{line[1:].split('/')[0]}" for line in lines[1:]]
    (tmp_path / "garden.csv").write_text(
        "\n".join([f"{lines[0]},label", *rows]), encoding="utf-8"
    )
    outcome = work("train", garden, "--output", tmp_path / "m.leafid")
    assert outcome.status == 0, outcome.err


@pytest.mark.parametrize("ending", [".jfif", ".JPE", ".pjpeg", ".mpo", ".dib"])
def test_every_ending_of_a_readable_format_is_a_picture(garden, ending):
    folder = garden / "Tilia cordata"
    folder.mkdir()
    shutil.copy(next(garden.rglob("5.jpg")), folder / f"1{ending}")
    assert "Tilia cordata" in read_collection(garden).species


@pytest.mark.parametrize("command", ["train", "crossval", "experiment"])
def test_a_single_label_is_refused(cli, garden, tmp_path, command):
    folder = tmp_path / "leaves"
    shutil.copytree(next(garden.iterdir()), folder / "images")
    table = folder / "answers.csv"
    table.write_text("name of the picture;kind\n5.jpg;oak\n5.jpg;maple\n")
    words = ["recipes"] if command == "experiment" else []
    outcome = cli(command, *words, folder, "--output", tmp_path / "out")
    assert outcome.status == 1
    assert f"warning: {table}: expected annotations.csv, " in outcome.err
    assert (
        "expected pictures of at least two labels to learn from, found only 'images'"
        in outcome.err
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("is_list", [False, True])
def test_only_pictures_of_the_table_are_answered(
    cli, garden, drawn_model, drawn_cache, tmp_path, is_list
):
    files = sorted(garden.rglob("*.jpg"))
    names = [f"{file.parent.name}/{file.name}" for file in files]
    table = tmp_path / "mine.csv"
    table.write_text("\n".join(["file", *(f'"{name}"' for name in names[:4])]))
    outcome = cli(
        *("predict", *(files if is_list else [garden]), "--model", drawn_model),
        *("--metadata", table, "--format", "csv", "--cache", drawn_cache),
        *("--top", 1, "--jobs", 1),
    )
    assert outcome.status == 0, outcome.err
    assert len(outcome.out.splitlines()) == 1 + 4
    assert f"{len(files) - 4} pictures that it lacks are left out" in outcome.err
