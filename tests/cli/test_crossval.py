import json

import pytest


@pytest.fixture
def crossval(cli, small_recipe, drawn, drawn_cache):
    def run(*words, folder=drawn):
        return cli("crossval", folder, "--recipe", small_recipe, "--cache", drawn_cache, "--jobs", 1, *words)

    return run


def test_a_table_of_scores(crossval):
    words = ("--folds", 3, "--repeats", 1, "--only-type", "scan-like")
    outcome = crossval(*words)
    assert outcome.status == 0, outcome.err
    head, line = outcome.out.splitlines()
    assert head.split() == ["type", "S", "top-1", "top-5", "per-plant", "pictures", "left", "out"]
    assert line.split()[0] == "scan-like"
    # 3 species of 3 training plants, one in each fold: every training part has every species.
    assert line.split()[-2:] == ["9", "0"]
    assert outcome.err.splitlines() == [f"seed 0, fold {fold}: scan-like done" for fold in (1, 2, 3)]
    (table,) = json.loads(crossval(*words, "--format", "json").out)
    (row,) = table["rows"]
    assert (row["type"], row["pictures"]) == ("scan-like", 9)
    for name in ("S", "top-1", "top-5", "per-plant"):
        assert 0 <= row[name] <= 1
        assert f"{row[name]:.3f} ± {row[f'{name} sd']:.3f}" in line
    assert row["top-5"] == 1  # there are but three species


def test_sessions(crossval, drawn, tmp_path):
    words = ("--folds", 3, "--repeats", 1, "--output")
    for name, more in {"alone": [], "sessions": ["--sessions"]}.items():
        outcome = crossval(*words, tmp_path / name, *more)
        assert outcome.status == 0, outcome.err
    runs = [(tmp_path / name / "seed-0.txt").read_text() for name in ("alone", "sessions")]
    assert runs[0] != runs[1]
    assert len(runs[0].splitlines()) == len(runs[1].splitlines())


def test_reliability(crossval):
    words = ("--folds", 3, "--repeats", 1, "--reliability")
    table = crossval(*words)
    assert table.status == 0, table.err
    assert "Reliability of the probability of the first species" in table.out
    scores, reliability = (table["rows"] for table in json.loads(crossval(*words, "--format", "json").out))
    assert [row["type"] for row in scores] == ["scan", "scan-like", "photo"]
    by_type = {row["pictures of"]: row for row in reliability}
    for row in scores:
        assert by_type[row["type"]]["pictures"] == 9
        assert by_type[row["type"]]["top-1"] == pytest.approx(row["top-1"])


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (["--folds", 1], 2, "--folds: expected at least 2, found 1"),
        (["--repeats", "x"], 2, "--repeats"),
        (["--open-world", "--sessions"], 2, "expected --open-world without --reliability, --sessions"),
        (["--folds", 100, "--only-type", "scan-like"], 1, "expected at least 100 plants for 100 folds, found 9"),
        (["--folds", 9, "--by", "place", "--only-type", "scan-like"], 1, "expected at least 9 places"),
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
    assert [line.split("  ")[0] for line in lines[1:3]] == ["scan-like, 1 picture", "scan-like, 2 pictures"]
    runs = sorted(file.name for file in (tmp_path / "runs").iterdir())
    assert runs == [f"{n}-seed-{seed}.txt" for n in ("1-picture", "2-pictures") for seed in (0, 1)]
    first = [tmp_path / "runs" / name for name in runs[:2]]
    assert len({line.split()[0] for line in first[0].read_text().splitlines()}) == 9
    table = json.loads(crossval(*words, "--format", "json").out)[0]["rows"]
    assert [row["type"] for row in table] == ["scan-like, 1 picture", "scan-like, 2 pictures"]
    compared = cli("compare", drawn / "Train", *first, "--only-type", "scan-like")
    assert compared.status == 0, compared.err


def test_given_parts(crossval):
    outcome = crossval("--repeats", 1, "--only-type", "scan", "--parts")
    assert outcome.out.splitlines()[1].split()[-2:] == ["3", "0"]
