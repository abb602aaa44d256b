"""The calibration error, against a slow version, and its table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.metrics.confidence import expected_calibration_error

answers = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def compute_slowly(answers, n_bins):
    """Go through the confidences, rising.

    All pictures of one go where the middle of their share of the mass lies.
    """
    gaps = [0.0] * n_bins
    for confidence in sorted({value for value, _ in answers}):
        below = sum(value < confidence for value, _ in answers)
        tied = [is_correct for value, is_correct in answers if value == confidence]
        gaps[int((below + len(tied) / 2) / len(answers) * n_bins)] += sum(
            confidence - value for value in tied
        )
    return sum(map(abs, gaps)) / len(answers)


@given(answers, st.integers(1, 20))
def test_expected_calibration_error(answers, n_bins):
    confidence, is_correct = zip(*answers, strict=True)
    assert expected_calibration_error(confidence, is_correct, n_bins) == pytest.approx(
        compute_slowly(answers, n_bins)
    )


@given(answers, st.integers(1, 20))
def test_expected_calibration_error_of_equal_width(answers, n_bins):
    expected = 0.0
    for number in range(n_bins):
        low, high = number / n_bins, (number + 1) / n_bins
        # The lowest bin has both its ends.
        inside = [
            (value, is_correct)
            for value, is_correct in answers
            if low < value <= high or value == number == 0
        ]
        if inside:
            confidence, accuracy = np.mean(inside, axis=0)
            expected += len(inside) / len(answers) * abs(confidence - accuracy)
    confidence, is_correct = zip(*answers, strict=True)
    error = expected_calibration_error(
        confidence, is_correct, n_bins, is_equal_width=True
    )
    assert error == pytest.approx(expected)
    assert 0 <= error <= 1


@pytest.mark.parametrize("is_equal_width", [False, True])
def test_no_pictures_have_no_error(is_equal_width):
    error = expected_calibration_error([], [], is_equal_width=is_equal_width)
    assert np.isnan(error)


def test_a_single_plant_has_no_error(cli, tmp_path, draw):
    rows = [
        f"{number}.jpg,Acer opalus,{plant}" for number, plant in enumerate("aab", 1)
    ]
    for number in range(1, 4):
        draw(tmp_path / f"{number}.jpg")
    for n_pictures, error in ((2, None), (3, 0.25)):
        lines = [
            f"{number}.jpg Acer opalus 1 0.75\n" for number in range(1, n_pictures + 1)
        ]
        (tmp_path / "run.txt").write_text("".join(lines))
        (tmp_path / "metadata.csv").write_text(
            "\n".join(["file,label,plant", *rows[:n_pictures]])
        )
        words = (
            tmp_path,
            tmp_path / "run.txt",
            "--metrics",
            "ece,ece-width",
            "--intervals",
            "none",
            "--format",
            "json",
        )
        [row] = cli("evaluate", *words).json[0]["rows"]
        assert (row["ece"], row["ece-width"]) == (error, error)
