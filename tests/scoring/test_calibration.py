"""The calibration error, against a slow version, and its table."""

import csv
import io
import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.scoring.calibration import expected_calibration_error

answers = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def compute_slowly(answers, n_bins):
    """Go through the confidences, rising; all pictures of one go where the middle of their share of the mass lies."""
    gaps = [0.0] * n_bins
    for confidence in sorted({value for value, _ in answers}):
        below = sum(value < confidence for value, _ in answers)
        tied = [is_correct for value, is_correct in answers if value == confidence]
        gaps[int((below + len(tied) / 2) / len(answers) * n_bins)] += sum(confidence - value for value in tied)
    return sum(map(abs, gaps)) / len(answers)


def test_the_order_of_equal_confidences_makes_no_difference():
    for is_correct in ([1, 0] * 15, [1] * 15 + [0] * 15):
        assert expected_calibration_error([0.7] * 30, is_correct) == pytest.approx(0.2)


@given(answers, st.integers(1, 20))
def test_expected_calibration_error(answers, n_bins):
    confidence, is_correct = zip(*answers, strict=True)
    assert expected_calibration_error(confidence, is_correct, n_bins) == pytest.approx(compute_slowly(answers, n_bins))


def test_no_pictures_have_no_error():
    assert np.isnan(expected_calibration_error([], []))


GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"


TRUTH, GOOD, PARTIAL = GOLDEN / "truth", GOLDEN / "runs" / "good.txt", GOLDEN / "runs" / "partial.txt"


def test_the_command_scores_reliability(cli):
    result = cli("evaluate", TRUTH, GOOD, "--reliability", "--format", "csv", "--table", 2)
    assert result.status == 0, result.err
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["run"] for row in rows] == [f"good.txt, {name}" for name in ("scan", "scan-like", "photo")]
    first = {line.split()[0]: line.split() for line in GOOD.open() if line.split()[-2] == "1"}
    assert sum(int(row["pictures"]) for row in rows) == len(first)
    total = sum(float(row["confidence"]) * int(row["pictures"]) for row in rows)
    assert total == pytest.approx(sum(float(words[-1]) for words in first.values()))
    scores = list(csv.DictReader(io.StringIO(cli("evaluate", TRUTH, GOOD, "--format", "csv").out)))
    assert [row["top-1"] for row in rows] == [row["top-1"] for row in scores[:3]]
    assert [*rows[0]] == ["run", "pictures", "plants", "top-1", "confidence", "ECE"]


def test_a_missing_picture_counts_as_named_wrongly_with_probability_0(cli):
    scores, reliability = (
        table["rows"] for table in json.loads(cli("evaluate", TRUTH, PARTIAL, "--reliability", "--format", "json").out)
    )
    keys = ("pictures", "plants", "top-1")
    assert [[row[key] for key in keys] for row in reliability] == [[row[key] for key in keys] for row in scores[:3]]
    assert sum(row["missing"] for row in scores[:3]) == 11
    first = [float(line.split()[-1]) for line in PARTIAL.open() if line.split()[-2] == "1"]
    total = sum(row["confidence"] * row["pictures"] for row in reliability)
    assert total == pytest.approx(sum(first))


def test_a_single_plant_has_no_error(cli, tmp_path):
    rows = [f"{number}.jpg,Acer opalus,{plant}" for number, plant in enumerate("aab", 1)]
    for number in range(1, 4):
        cv2.imwrite(str(tmp_path / f"{number}.jpg"), np.zeros((20, 20, 3), np.uint8))
    (tmp_path / "run.txt").write_text("".join(f"{number}.jpg Acer opalus 1 0.75\n" for number in range(1, 4)))
    for n_pictures, error in ((2, "–"), (3, "0.2500")):
        (tmp_path / "metadata.csv").write_text("\n".join(["file,label,plant", *rows[:n_pictures]]))
        table = cli("evaluate", tmp_path, tmp_path / "run.txt", "--reliability", "--table", 2).out
        assert table.splitlines()[3].split()[-1] == error
