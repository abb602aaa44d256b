import pytest

from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH


def test_the_tables_name_test_and_seed(cli):
    words = ("--metrics", "S,macro-f1", "--resamples", 500, "--seed", 7)
    outcome = cli("compare", TRUTH, GOOD, PARTIAL, *words)
    assert outcome.status == 0
    scores, _, differences = outcome.out.partition("\n\n")
    assert (scores.splitlines()[0], differences.splitlines()[0]) == (
        "Scores by acquisition type",
        "Differences",
    )
    assert "500 resamples, seed 7" in differences
    assert "11 of 40 pictures are missing and count 0" in outcome.err
    assert cli("compare", TRUTH, GOOD, PARTIAL, *words).out == outcome.out


@pytest.mark.parametrize("metric", ["S", "inverse-rank", "per-plant", "macro-f1"])
def test_scores_are_those_of_evaluate(cli, metric):
    words = (
        "--metrics",
        metric,
        "--only-type",
        "scan",
        "--format",
        "csv",
        "--table",
        2,
    )
    (row,) = cli("compare", TRUTH, GOOD, PARTIAL, *words).rows
    for run, name in ((GOOD, "A"), (PARTIAL, "B")):
        table = cli(
            "evaluate", TRUTH, run, "--metrics", metric, "--format", "json"
        ).json[0]
        assert float(row[name]) == pytest.approx(table["rows"][0][metric])
    assert float(row["A"]) > float(row["B"])
    assert 0 < float(row["p"]) <= 1
    # F1 is no mean of what pictures score: there is a test, but no interval.
    has_interval = metric != "macro-f1"
    assert has_interval == bool(row.get("A - B low") and row["effect size"])
    if has_interval:
        assert float(row["A - B low"]) < float(row["A - B"]) < float(row["A - B high"])


def test_a_score_without_a_test_has_no_row(cli):
    words = ("--metrics", "ece", "--format", "json", "--table", 2)
    assert cli("compare", TRUTH, GOOD, PARTIAL, *words).json[0]["rows"] == []


def test_wrong_usage(cli):
    assert cli("compare", TRUTH, GOOD).status == 2
    assert cli("compare", TRUTH, GOOD, GOOD).status == 2
    assert cli("compare", TRUTH, GOOD, PARTIAL, "--resamples", 0).status == 2
