import shutil

import pytest

import leafid
from leafid.features.non_leaves import ALL_KINDS, TEST_KINDS
from tests.drawing.collection import copy_sample


@pytest.fixture
def crossval(cli, light_recipe, drawn, drawn_cache):
    def run(*words, recipe=light_recipe, collection=drawn):
        return cli(
            "crossval",
            collection,
            "--recipe",
            recipe,
            "--cache",
            drawn_cache,
            "--jobs",
            1,
            *words,
        )

    return run


def test_scores_are_those_of_the_run_files(crossval, cli, drawn, tmp_path):
    words = ("--folds", 2, "--repeats", 2, "--format", "json")
    scores = crossval(*words, "--output", tmp_path).json[0]["rows"]
    runs = [tmp_path / f"seed-{seed}.txt" for seed in (0, 1)]
    rows = cli("evaluate", drawn / "Train", *runs, "--format", "json").json[0]["rows"]
    for row in scores:
        of_seeds = [scored["S"] for scored in rows if scored["type"] == row["type"]]
        assert row["S"] == pytest.approx(sum(of_seeds) / 2)


def test_folds_of_a_file(crossval, tmp_path):
    words = ("--only-type", "scan-like", "--format", "csv")
    first = crossval("--folds", 2, "--repeats", 2, *words, "--output", tmp_path / "a")
    assert first.status == 0, first.err
    folds = (tmp_path / "a" / "folds.csv").read_text()
    lines = folds.splitlines()
    assert lines[0] == "picture,plant,fold,repeat"
    assert {line.split(",")[2] for line in lines[1:]} == {"0", "1"}
    again = crossval(
        "--folds", tmp_path / "a" / "folds.csv", *words, "--output", tmp_path / "b"
    )
    assert (again.status, again.out) == (0, first.out), again.err
    for name in ("folds.csv", "seed-0.txt", "seed-1.txt"):
        assert (tmp_path / "a" / name).read_text() == (
            tmp_path / "b" / name
        ).read_text()
    # Names of folds, of columns, and of pictures without their ending are free.
    first_folds = [
        line.replace(".png", "").replace(".jpg", "")
        for line in lines
        if line.endswith(("repeat", ",0"))
    ]
    renamed = [
        ",".join([line.split(",")[0], f"fold {line.split(',')[2]}"])
        for line in first_folds[1:]
    ]
    (tmp_path / "mine.csv").write_text(
        "\n".join(["file;fold", *renamed]).replace(",", ";")
    )
    crossval("--folds", tmp_path / "mine.csv", *words, "--output", tmp_path / "c")
    assert (tmp_path / "c" / "seed-0.txt").read_text() == (
        tmp_path / "a" / "seed-0.txt"
    ).read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda lines: [lines[0], *lines[2:]],
            "expected a fold for each of the 27 pictures in repeat 0, found none for 1",
        ),
        (
            lambda lines: [*lines, lines[1]],
            ":29: expected every picture of repeat 0 once, found",
        ),
        (
            lambda lines: [*lines, f"here\\{lines[1]}"],
            ":29: expected every picture of repeat 0 once, found",
        ),
        (
            lambda lines: [lines[0], f"{lines[1][:-1]}x", *lines[2:]],
            ":2: expected a repeat (0, 1, …), found 'x'",
        ),
        (lambda lines: lines[:1], ": expected rows below the heading, found none"),
        (
            lambda lines: [line.rsplit(",", 2)[0] for line in lines],
            "expected the folds of pictures in a column 'fold', found none",
        ),
        (
            lambda lines: [lines[0], "x.jpg,,1,0"],
            "expected folds of the pictures of the collection, found none of them",
        ),
        (
            lambda lines: [
                line[:-4] + ",0,0" if index else line
                for index, line in enumerate(lines)
            ],
            "found one",
        ),
        (lambda lines: [], "expected a heading with the column 'file'"),
    ],
)
def test_broken_files_of_folds_give_one_line(
    crossval, training, tmp_path, change, message
):
    plants = sorted({picture.plant for picture in training})
    rows = [
        f"{picture.name},{picture.plant},{plants.index(picture.plant) % 3},0"
        for picture in training
    ]
    (tmp_path / "folds.csv").write_text(
        "\n".join(change(["picture,plant,fold,repeat", *rows]))
    )
    outcome = crossval("--folds", tmp_path / "folds.csv", "--only-type", "scan-like")
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1), (
        outcome.err
    )
    assert message in outcome.err


def test_sessions(crossval, drawn, tmp_path):
    words = ("--folds", 3, "--repeats", 1, "--output")
    for name, more in {"alone": [], "sessions": ["--sessions"]}.items():
        outcome = crossval(*words, tmp_path / name, *more)
        assert outcome.status == 0, outcome.err
    runs = [
        (tmp_path / name / "seed-0.txt").read_text() for name in ("alone", "sessions")
    ]
    assert runs[0] != runs[1]
    assert len(runs[0].splitlines()) == len(runs[1].splitlines())


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (["--folds", 1], 2, "--folds: expected at least 2, found 1"),
        (["--repeats", "x"], 2, "--repeats"),
        (
            ["--folds", "folds.csv", "--repeats", 2],
            2,
            "expected --folds FILE, or --hold-out, without --repeats",
        ),
        (
            ["--open-world", "--sessions"],
            2,
            "expected --open-world without --sessions, --output and --metrics",
        ),
        (
            ["--folds", 100, "--only-type", "scan-like"],
            1,
            "expected at least 100 plants for 100 folds, found 9",
        ),
        (
            ["--folds", 9, "--by", "place", "--only-type", "scan-like"],
            1,
            "expected at least 9 places",
        ),
    ],
)
def test_wrong_numbers(crossval, words, status, expected):
    outcome = crossval(*words)
    assert outcome.status == status
    assert expected in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_few_shots_with_run_files(crossval, cli, drawn, tmp_path):
    words = ("--folds", 3, "--repeats", 2, "--only-type", "scan-like", "--shots", "2,1")
    outcome = crossval(*words, "--output", tmp_path / "runs")
    assert outcome.status == 0, outcome.err
    lines = outcome.out.splitlines()
    assert [line.split("  ")[1:2] for line in lines[3:5]] == [
        ["1 picture (a)"],
        ["2 pictures (b)"],
    ]
    runs = sorted(file.name for file in (tmp_path / "runs").iterdir())
    assert runs == [
        f"{n}-seed-{seed}.txt" for n in ("1-picture", "2-pictures") for seed in (0, 1)
    ] + ["folds.csv"]
    first = [tmp_path / "runs" / name for name in runs[:2]]
    assert len({line.split()[0] for line in first[0].read_text().splitlines()}) == 9
    compared = cli("compare", drawn / "Train", *first, "--only-type", "scan-like")
    assert compared.status == 0, compared.err


def test_given_parts(crossval, light_recipe):
    outcome = crossval("--repeats", 1, "--only-type", "scan", "--parts")
    assert outcome.out.splitlines()[3].split()[:3] == ["scan", light_recipe.stem, "3"]


def test_tables_of_rejection(crossval, tmp_path):
    copy_sample(tmp_path / "five", n_species=5)
    words = ("--only-type", "scan-like", "--open-world", "--folds", 2, "--repeats", 1)
    outcome = crossval(*words, "--format", "json", collection=tmp_path / "five")
    assert outcome.status == 0, outcome.err
    species, kinds = outcome.json
    (row,) = species["rows"]
    # One of five species is held out of each fold, with all of its plants.
    assert (row["type"], row["unknown"]) == ("scan-like", 3)
    for name in ("AUROC", "OSCR", "FPR-95", "unknown rejected", "known rejected"):
        assert 0 <= row[name] <= 1
    assert 0 <= row["unknown ≥ 0.9"] <= 1 - row["unknown rejected"]
    assert row["OSCR"] <= row["AUROC"]
    assert {row["kind"] for row in kinds["rows"]} <= set(ALL_KINDS)
    for row in kinds["rows"]:
        assert (
            row["pictures"]
            == row["no leaf"] + row["unclear"] + row["unknown"] + row["named"]
        )
        assert row["learned"] == ("no" if row["kind"] in TEST_KINDS else "yes")


def test_each_collection_is_tested_with_a_model_of_the_others(
    crossval, drawn, light_recipe, drawn_cache, tmp_path
):
    shutil.copytree(drawn / "Train", tmp_path / "other")
    words = ("--only-type", "scan-like", "--format", "json")
    outcome = crossval(tmp_path / "other", *words, "--hold-out", "collection")
    assert outcome.status == 0, outcome.err
    rows = outcome.json[0]["rows"]
    # All plants are in both, so that nothing is left out.
    assert [(row["pictures"], row["left out"]) for row in rows] == [
        (9, 0),
        (9, 0),
        (18, 0),
    ]
    assert [row["type"].rpartition("/")[2] for row in rows][1:] == [
        "other: scan-like",
        "scan-like",
    ]
    records = leafid.crossval(
        [drawn, tmp_path / "other"],
        str(light_recipe),
        hold_out="collection",
        intervals="bounds",
        only_type="scan-like",
        cache=drawn_cache,
    )
    assert [record["pictures"] for record in records] == [9, 9, 18]
    alone = crossval("--hold-out", "collection")
    assert "expected at least 2 collections for 2 folds, found 1" in alone.err
    refused = crossval("--hold-out", "collection", "--parts")
    assert (refused.status, refused.out) == (2, "")
