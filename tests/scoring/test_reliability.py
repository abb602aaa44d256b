import csv
import io
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"
TRUTH, GOOD = GOLDEN / "truth", GOLDEN / "runs" / "good.txt"


def test_the_command_scores_reliability(cli):
    found = cli("evaluate", TRUTH, GOOD, "--reliability", "--format", "csv", "--table", 2)
    assert found.status == 0, found.err
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert [row["run"] for row in rows] == [f"good.txt, {name}" for name in ("scan", "scan-like", "photo")]
    first = {line.split()[0]: line.split() for line in GOOD.open() if line.split()[-2] == "1"}
    assert sum(int(row["pictures"]) for row in rows) == len(first)
    total = sum(float(row["confidence"]) * int(row["pictures"]) for row in rows)
    assert total == pytest.approx(sum(float(words[-1]) for words in first.values()))
    scores = list(csv.DictReader(io.StringIO(cli("evaluate", TRUTH, GOOD, "--format", "csv").out)))
    assert [row["top-1"] for row in rows] == [row["top-1"] for row in scores[:3]]
    assert all(float(row["ECE low"]) <= float(row["ECE high"]) for row in rows)
    for row in rows:
        error, chance, beyond = (float(row[name]) for name in ("ECE", "by chance", "beyond"))
        assert beyond == pytest.approx(max(0, error**2 - chance**2) ** 0.5, abs=1e-6)


def test_scores_that_are_no_probabilities(cli, tmp_path):
    lines = GOOD.read_text().splitlines(keepends=True)
    number = next(index for index, line in enumerate(lines, 1) if line.split()[-2] == "1")
    lines[number - 1] = " ".join([*lines[number - 1].split()[:-1], "17"]) + "\n"
    (tmp_path / "run.txt").write_text("".join(lines))
    found = cli("evaluate", TRUTH, tmp_path / "run.txt", "--reliability")
    assert found.status == 1
    assert f"run.txt:{number}: expected a probability from 0 to 1 as score, found 17" in found.err
    assert found.err.count("\n") == 1
