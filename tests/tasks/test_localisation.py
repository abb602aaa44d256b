import math
from itertools import product

import numpy as np
import pytest

from leafid.tasks.interpretation import localisation as loc
from leafid.tasks.interpretation.regions import Box, box_overlap


def literal_fom(truth, result, alpha):
    def contour(mask):
        rows, cols = mask.shape
        neighbours = ((0, 1), (1, 0), (0, -1), (-1, 0))

        def outside(r, c):
            return not (0 <= r < rows and 0 <= c < cols and mask[r, c])

        pixels = [(r, c) for r in range(rows) for c in range(cols) if mask[r, c]]
        return [(r, c) for r, c in pixels if any(outside(r + i, c + j) for i, j in neighbours)]

    true_contour, result_contour = contour(truth), contour(result)
    total = 0.0
    for r, c in true_contour:
        distances = [math.hypot(r - i, c - j) for i, j in result_contour]
        total += 1 / (1 + alpha * min(distances) ** 2) if distances else 0.0
    longest = max(len(true_contour), len(result_contour))
    return total / longest if longest else 1.0


def test_known_boxes():
    truth = Box(10, 10, 20, 40)
    assert loc.rob_loc_error(truth, Box(10, 50, 20, 40)) == pytest.approx(0.5)  # one height down
    assert loc.rob_com_error(truth, Box(0, 0, 10, 40)) == loc.rob_com_error(Box(0, 0, 10, 40), truth) == 0.5
    assert loc.rob_cor_error(truth, Box(0, 0, 10, 30)) == pytest.approx(0.5)  # 3 against 2


@pytest.mark.parametrize("seed", range(20))
def test_box_bounds(seed):
    truth, result = (Box(*box) for box in np.random.default_rng(seed).integers(1, 50, (2, 4)).tolist())
    for error in (loc.rob_loc_error, loc.rob_com_error, loc.rob_cor_error):
        assert 0 <= error(truth, result) < 1
        assert error(truth, truth) == 0
    assert 0 <= box_overlap(truth, result) <= 1
    assert box_overlap(truth, truth) == 1


@pytest.mark.parametrize("shares", [*product([0, 0.1, 0.5, 0.9, 1], repeat=2)])
def test_figure_of_merit_equals_the_literal_version(shares):
    truth, result = (np.random.default_rng(0).random((7, 6)) < share for share in shares)
    # Only the literal version squares a square root.
    expected = pytest.approx(literal_fom(truth, result[::-1], 1 / 9), abs=1e-9)
    assert loc.figure_of_merit_score(truth, result[::-1]) == expected
    assert 0 <= loc.figure_of_merit_score(truth, result) <= 1
    assert loc.figure_of_merit_score(truth, truth) == 1
