import csv
import io
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"
TRUTH, GOOD, PARTIAL = GOLDEN / "truth", GOLDEN / "runs" / "good.txt", GOLDEN / "runs" / "partial.txt"


def test_the_table_names_test_and_seed(cli):
    outcome = cli("compare", TRUTH, GOOD, PARTIAL, "--resamples", 500, "--seed", 7)
    assert outcome.status == 0
    assert outcome.out.splitlines()[0] == "Comparison, S, mean of types"
    assert "500 resamples, seed 7" in outcome.out
    assert "11 of 40 pictures are missing and count 0" in outcome.err
    assert cli("compare", TRUTH, GOOD, PARTIAL, "--resamples", 500, "--seed", 7).out == outcome.out


def test_scores_are_those_of_evaluate(cli):
    (row,) = csv.DictReader(
        io.StringIO(cli("compare", TRUTH, GOOD, PARTIAL, "--only-type", "scan", "--format", "csv").out)
    )
    assert float(row["S of A"]) == pytest.approx(0.7083333333333333)
    assert float(row["S of B"]) == pytest.approx(0.4375)
    assert 0 < float(row["p"]) <= 1


@pytest.mark.parametrize("metric", ["inverse-rank", "per-plant", "top-1"])
def test_other_metrics(cli, metric):
    (comparison,) = json.loads(cli("compare", TRUTH, GOOD, PARTIAL, "--metric", metric, "--format", "json").out)
    (row,) = comparison["rows"]
    assert row[f"{metric} of A"] > row[f"{metric} of B"]


def test_wrong_usage(cli):
    assert cli("compare", TRUTH, GOOD).status == 2
    assert cli("compare", TRUTH, GOOD, GOOD.with_suffix(".csv")).status == 2
    assert cli("compare", TRUTH, GOOD, PARTIAL, "--resamples", 0).status == 2
