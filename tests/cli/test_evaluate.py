import re
import shutil
from pathlib import Path

import pytest

from leafid import evaluate
from leafid.scoring.tables import read_metrics
from tests.scoring.golden_files import GOLDEN, GOOD, PARTIAL, TRUTH


def test_missing_pictures_count_0_and_are_left_out_of_the_official_number(cli):
    outcome = cli("evaluate", TRUTH, PARTIAL, "--format", "csv")
    assert (
        outcome.err
        == "leafid: warning: partial.txt: 11 of 40 pictures are missing and count 0\n"
    )
    table = {row["type"]: row for row in outcome.rows}
    assert float(table["scan"]["S"]) == 0.4375
    assert float(table["mean of types"]["S"]) == pytest.approx(
        (0.4375 + 0.25925925925925924 + 0.4166666666666667) / 3
    )
    assert (
        sum(int(table[kind]["missing"]) for kind in ("scan", "scan-like", "photo"))
        == 11
    )
    official = cli("evaluate", TRUTH, PARTIAL, "--format", "csv", "--official")
    assert float(official.rows[0]["S"]) == 0.5
    assert "left out of the means" in official.err


@pytest.mark.parametrize(
    ("mode", "folder"), [([], "leafid"), (["--official"], "official")]
)
def test_all_files_are_written(cli, tmp_path, mode, folder):
    outcome = cli("evaluate", TRUTH, GOOD, PARTIAL, "--output", tmp_path / "out", *mode)
    assert outcome.status == 0
    expected = {path.name for path in (GOLDEN / "expected" / folder).iterdir()}
    assert {path.name for path in (tmp_path / "out").iterdir()} == expected
    assert outcome.err.endswith(f"13 files written to {tmp_path / 'out'}\n")
    scores = (tmp_path / "out" / "OfficialScores.csv").read_text()
    assert sorted(scores.splitlines()) == sorted(
        (GOLDEN / "expected" / folder / "OfficialScores.csv").read_text().splitlines()
    )


def test_all_problems_of_a_run(cli, tmp_path):
    (tmp_path / "a.txt").write_text("1.jpg Quercus ilex 1 1,0\n\n")
    outcome = cli(
        "evaluate", TRUTH, GOOD, tmp_path / "a.txt", "--output", tmp_path / "out"
    )
    assert outcome.status == 1
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 2
    assert (
        f"leafid: error: {tmp_path / 'a.txt'}:1: expected a score as a finite number, "
        "found '1,0'" in outcome.err
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command", [["evaluate"], ["compare"], ["report", "--output", "out"]]
)
def test_a_run_given_twice(cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOOD, tmp_path / "r")
    outcome = cli(*command, TRUTH, "r", "r")
    assert (outcome.status, outcome.out) == (2, "")
    assert (
        outcome.err
        == "leafid: error: expected run files that differ, found r, r; name each once\n"
    )


def test_runs_of_one_name_are_told_apart(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine/good.txt", "good.txt", "good.run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(GOOD, tmp_path / name)
    runs = ["mine/good.txt", "good.txt", "good.run"]
    names = ["mine-good-txt", "good-txt", "good-run"]
    outcome = cli("evaluate", TRUTH, *runs, "--output", "out", "--format", "json")
    assert list(dict.fromkeys(row["run"] for row in outcome.json[0]["rows"])) == names
    assert {f"{name}ScoreByPicture.csv" for name in names} <= {
        file.name for file in Path("out").iterdir()
    }
    records = evaluate(TRUTH, [Path(run) for run in runs])
    assert list(dict.fromkeys(record["run"] for record in records)) == names


@pytest.mark.parametrize("name", ["AllRun", "MeanRun"])
def test_a_run_may_not_take_the_names_of_the_official_files(cli, tmp_path, name):
    shutil.copy(GOOD, tmp_path / f"{name}.txt")
    runs = [tmp_path / f"{name}.txt", PARTIAL]
    outcome = cli("evaluate", TRUTH, *runs, "--output", tmp_path / "out")
    assert (outcome.status, outcome.out) == (2, "")
    assert (
        f"expected no run called {name}, as the files about all runs are" in outcome.err
    )
    assert not (tmp_path / "out").exists()
    assert cli("evaluate", TRUTH, *runs).status == 0
    assert cli("evaluate", TRUTH, runs[0], "--output", tmp_path / "out").status == 0
    assert len(list((tmp_path / "out").iterdir())) == 5


def test_output_is_checked_before_the_work(cli, tmp_path):
    (tmp_path / "file").write_text("kept")
    outcome = cli("evaluate", TRUTH, GOOD, "--output", tmp_path / "file")
    assert (outcome.status, outcome.out) == (1, "")
    assert f"can't be written: {tmp_path / 'file'} is not a folder" in outcome.err
    assert (tmp_path / "file").read_text() == "kept"
    for command in ("evaluate", "report"):
        outcome = cli(command, TRUTH, GOOD, "--output", tmp_path / "file" / "in it")
        assert (outcome.status, outcome.out) == (1, "")
        assert f"can't be written: {tmp_path / 'file'} is not a folder" in outcome.err


def test_a_label_that_is_missing_is_blamed_on_the_ground_truth(cli, tmp_path):
    shutil.copytree(TRUTH, tmp_path / "truth")
    file = tmp_path / "truth" / "1.xml"
    file.write_text(re.sub("<Taxon>.*</Taxon>", "", file.read_text(), flags=re.DOTALL))
    outcome = cli("evaluate", tmp_path / "truth", GOOD)
    assert (outcome.status, outcome.err.count("\n")) == (0, 1)
    assert (
        "truth/1.jpg: expected the species of every picture, found none for 1 of 40, "
        "this one first" in outcome.err
    )
    (tmp_path / "run.txt").write_text("1.jpg Quercus ilex 1 1\n")
    outcome = cli("evaluate", tmp_path / "truth", tmp_path / "run.txt")
    assert (outcome.status, outcome.out) == (1, "")
    assert (
        "run.txt: expected predictions for the 39 labelled pictures, found none"
        in outcome.err
    )


def test_wrong_usage(cli):
    assert cli("evaluate", TRUTH).status == 2
    outcome = cli("evaluate", TRUTH, GOOD, "--metrics", "S,top-0")
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert "expected a metric (S, top-K, " in outcome.err
    assert "found 'top-0'" in outcome.err
    for words in (
        ("--digits", 0),
        ("--digits", 2.5),
        ("--intervals", "all"),
        ("--metrics", "S,,top-1"),
    ):
        assert cli("evaluate", TRUTH, GOOD, *words).status == 2
    outcome = cli("evaluate", TRUTH, GOOD, "--resamples", 10**12)
    assert (
        "--resamples: expected a whole number from 1 to 1000000, found" in outcome.err
    )


def test_repeated_ranks_are_counted_in_official_mode(cli, tmp_path):
    run = tmp_path / "run.txt"
    run.write_text(GOOD.read_text() + "1.jpg Quercus ilex 1 0.5\n")
    assert cli("evaluate", TRUTH, run).status == 1
    outcome = cli("evaluate", TRUTH, run, "--official")
    assert outcome.status == 0
    assert (
        outcome.err
        == "leafid: warning: run.txt: ignored 1 line whose rank a later line of the "
        "picture has\n"
    )


def test_intervals(cli):
    row = cli("evaluate", TRUTH, GOOD, "--format", "csv").rows[-1]
    assert float(row["S low"]) < float(row["S"]) < float(row["S high"])
    row = cli("evaluate", TRUTH, GOOD, "--format", "csv", "--intervals", "error").rows[
        -1
    ]
    assert 0 < float(row["top-1 error"]) < 0.2
    row = cli("evaluate", TRUTH, GOOD, "--format", "csv", "--intervals", "none").rows[
        -1
    ]
    assert not {"S low", "S error"} & {*row}
    outcome = cli(
        "evaluate", TRUTH, GOOD, "--confidence", "0.9", "--resamples", 50, "--seed", 3
    )
    assert "90% interval, bootstrap over plants, 50 resamples, seed 3" in outcome.out
    assert cli("evaluate", TRUTH, GOOD, "--confidence", "95").status == 2


def test_the_list_of_metrics_names_the_command(cli):
    outcome = cli("evaluate", "--list")
    assert outcome.status == 0
    assert {metric["metric"] for metric in read_metrics()} <= set(outcome.out.split())
    assert "  evaluate --metrics  " in outcome.out
    [table] = cli("evaluate", "--list", "--format", "json").json
    [share] = [row for row in table["rows"] if row["metric"] == "empty-sets"]
    assert (share["column"], share["command"]) == ("empty-sets", "evaluate --metrics")


def test_scores_that_are_no_probabilities(cli, tmp_path):
    run = tmp_path / "run.txt"
    run.write_text(re.sub(r" 1 \S+$", " 1 7", GOOD.read_text(), flags=re.MULTILINE))
    assert cli("evaluate", TRUTH, run).status == 0
    outcome = cli("evaluate", TRUTH, run, "--metrics", "S,log-loss")
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert re.search(
        r"run.txt:\d+: expected a probability from 0 to 1 as score, found 7; log-loss "
        r"is",
        outcome.err,
    )


def test_metrics_of_all_pictures_are_refused_by_genus(cli):
    words = ("evaluate", TRUTH, GOOD, "--metrics", "top-1,macro-f1,ece", "--by")
    for by, refused in (("genus", "macro-f1"), ("species", "ece")):
        outcome = cli(*words, by)
        assert (outcome.status, outcome.out) == (2, "")
        expected = f"expected metrics of single pictures by {by}, found {refused}\n"
        assert outcome.err.endswith(expected)
    assert cli(*words, "author").status == 0


def test_many_runs_are_not_tested(cli, tmp_path):
    for number in range(26):
        shutil.copy(GOOD, tmp_path / f"scan{number or ''}.txt")
    few = cli("evaluate", TRUTH, tmp_path / "scan.txt", PARTIAL, "--metrics", "S")
    # A run may be called as a type is.
    assert few.out.splitlines()[3].startswith("scan           scan (a)")
    many = cli(
        "evaluate",
        TRUTH,
        *sorted(tmp_path.iterdir()),
        "--metrics",
        "S",
        "--resamples",
        100,
    )
    assert "more than 25 runs are not tested here" in many.out
    assert "(a)" not in many.out
