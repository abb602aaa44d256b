"""The calibration error, against a slow version, and its table."""

import json

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.scoring.confidence import expected_calibration_error
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH

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


def score(cli, run, truth=TRUTH):
    outcome = cli(
        "evaluate", truth, run, "--metrics", "top-1,confidence,ece", "--intervals", "none", "--format", "json"
    )
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)[0]["rows"]


def test_the_command_scores_reliability(cli):
    rows = score(cli, GOOD)[:3]
    first = {line.split()[0]: line.split() for line in GOOD.open() if line.split()[-2] == "1"}
    assert sum(row["pictures"] for row in rows) == len(first)
    total = sum(row["confidence"] * row["pictures"] for row in rows)
    assert total == pytest.approx(sum(float(words[-1]) for words in first.values()))
    assert all(0 < row["ece"] < 1 for row in rows)


def test_a_missing_picture_counts_as_named_wrongly_with_probability_0(cli):
    rows = score(cli, PARTIAL)[:3]
    assert sum(row["missing"] for row in rows) == 11
    first = [float(line.split()[-1]) for line in PARTIAL.open() if line.split()[-2] == "1"]
    assert sum(row["confidence"] * row["pictures"] for row in rows) == pytest.approx(sum(first))


def test_a_single_plant_has_no_error(cli, tmp_path):
    rows = [f"{number}.jpg,Acer opalus,{plant}" for number, plant in enumerate("aab", 1)]
    for number in range(1, 4):
        cv2.imwrite(str(tmp_path / f"{number}.jpg"), np.zeros((20, 20, 3), np.uint8))
    for n_pictures, error in ((2, None), (3, 0.25)):
        lines = [f"{number}.jpg Acer opalus 1 0.75\n" for number in range(1, n_pictures + 1)]
        (tmp_path / "run.txt").write_text("".join(lines))
        (tmp_path / "metadata.csv").write_text("\n".join(["file,label,plant", *rows[:n_pictures]]))
        assert score(cli, tmp_path / "run.txt", tmp_path)[0]["ece"] == error
