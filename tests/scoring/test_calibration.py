"""The calibration error, against a slow version, and its table."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.scoring.calibration import expected_calibration_error

answers = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def compute_slowly(answers, n_bins):
    """Go through the confidences, rising; all pictures of one go where the middle of their share of the mass lies."""
    gaps = [0.0] * n_bins
    for confidence in sorted({own for own, _ in answers}):
        below = sum(own < confidence for own, _ in answers)
        tied = [is_correct for own, is_correct in answers if own == confidence]
        gaps[int((below + len(tied) / 2) / len(answers) * n_bins)] += sum(confidence - own for own in tied)
    return sum(map(abs, gaps)) / len(answers)


def test_the_order_of_equal_confidences_makes_no_difference():
    for is_correct in ([1, 0] * 15, [1] * 15 + [0] * 15):
        assert expected_calibration_error([0.7] * 30, is_correct) == pytest.approx(0.2)


@given(answers, st.integers(1, 20))
def test_expected_calibration_error(answers, n_bins):
    confidence, is_correct = zip(*answers, strict=True)
    assert expected_calibration_error(confidence, is_correct, n_bins) == pytest.approx(compute_slowly(answers, n_bins))


@given(answers, st.lists(st.integers(0, 3), min_size=60, max_size=60))
def test_weights_are_repetitions(answers, times):
    weights = times[: len(answers)]
    # Two bins, of which neither holds half of a picture's repetitions.
    repeated = [own for own, time in zip(answers, weights, strict=True) for _ in range(time)]
    found = expected_calibration_error(*zip(*answers, strict=True), 1, weights)
    assert found == pytest.approx(compute_slowly(repeated, 1)) if repeated else np.isnan(found)


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
