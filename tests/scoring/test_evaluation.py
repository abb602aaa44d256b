import csv
import io
from pathlib import Path

import numpy as np
import pytest

from leafid import evaluate
from leafid.errors import LeafidError, ProblemsError
from leafid.pictures import read_collection
from leafid.scoring.run_reading import read_run

GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"
TRUTH, GOOD, PARTIAL = GOLDEN / "truth", GOLDEN / "runs" / "good.txt", GOLDEN / "runs" / "partial.txt"


@pytest.mark.parametrize("group", ["type", "family"])
def test_the_records_are_the_rows_of_the_command(cli, group):
    words = ["--by", group, "--table", 2] if group != "type" else []
    table = cli("evaluate", TRUTH, GOOD, PARTIAL, *words, "--intervals", "all", "--format", "csv").out
    metrics = ["S", "inverse-rank", "per-plant", "top-1", "top-5"]
    records = evaluate(TRUTH, [GOOD, PARTIAL], metrics, by=group, bootstrap=True)
    rows = list(csv.DictReader(io.StringIO(table)))
    # A CSV has 15 digits.
    cells = [
        {name: str(float(f"{value:.15g}") if isinstance(value, float) else value) for name, value in record.items()}
        for record in records
    ]
    assert cells == rows


def rankings(file):
    found = {}
    for prediction in read_run(file):
        found.setdefault(prediction.picture, []).append((prediction.species, prediction.score))
    return found


@pytest.mark.parametrize("truth", [read_collection(TRUTH), read_collection(TRUTH).pictures])
@pytest.mark.parametrize("run", [GOOD, str(GOOD), {"good.txt": GOOD}, [GOOD], {"good.txt": rankings(GOOD)}], ids=type)
def test_paths_and_objects_give_the_same(truth, run):
    assert evaluate(truth, run, ["S"]) == evaluate(TRUTH, GOOD, ["S"])


def test_rankings_need_no_scores_and_no_name():
    run = {picture: [species for species, _ in ranking] for picture, ranking in rankings(GOOD).items()}
    found, expected = evaluate(TRUTH, run, ["top-2"]), evaluate(TRUTH, GOOD, ["top-2"])
    assert [record["top-2"] for record in found] == [record["top-2"] for record in expected]
    assert {record["run"] for record in found} == {"run"}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"1.jpg": ["quercus ilex"]}, "a: expected a known species, found 'quercus ilex'; the nearest"),
        ({"9999.jpg": ["Quercus ilex"]}, "a: expected a picture of the ground truth"),
        ({"1.jpg": [("x", np.nan)]}, "a: expected a finite score of 'x' for '1.jpg'"),
    ],
)
def test_problems_of_a_run_are_reported(run, message):
    with pytest.raises(ProblemsError, match=message):
        evaluate(TRUTH, {"a": run})


def test_misuse():
    for words, message in [
        ({"metrics": ["map-0.5"]}, "expected a metric of the plant task .*found 'map-0.5'"),
        ({"metrics": ["top-0"]}, "found 'top-0'"),
        ({"by": "colour"}, "expected a group"),
    ]:
        with pytest.raises(LeafidError, match=message):
            evaluate(TRUTH, GOOD, **words)
    with pytest.raises(LeafidError, match="names that differ"):
        evaluate(TRUTH, [GOOD, GOOD])
