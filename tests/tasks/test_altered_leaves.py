import itertools
from pathlib import Path

import cv2
import numpy as np
import pytest

from leafid.tasks.interpretation.label_masks import make_objects
from leafid.tasks.interpretation.metric import (
    Scene,
    score_scene,
)
from leafid.tasks.interpretation.regions import Box, BoxedObject


def make_mask_scene(truth, result):
    return Scene.from_objects(*(make_objects(mask, Path("mask.png")) for mask in (truth, result)))


# A leaf with a stalk and a notch: neither convex nor symmetric.
def draw_leaf() -> np.ndarray:
    mask = np.zeros((240, 240), np.uint8)
    outline = np.array(
        [[70, 60], [120, 40], [150, 80], [140, 120], [105, 95], [110, 150], [80, 130], [55, 180], [60, 110]]
    )
    cv2.fillPoly(mask, [outline * 8 + 64], 1, shift=3)
    return mask


def alter(kind: str, step: int) -> np.ndarray:
    """Alter the leaf by 1 to 20 steps, either way, about the middle of the picture."""
    amount, middle = step / 20, 120.0
    matrix = np.eye(3)
    if kind == "translation":
        matrix[0, 2] = 20 * amount
    elif kind == "scale":
        matrix[0, 0], matrix[0, 2] = 1 + 0.3 * amount, -0.3 * amount * middle
    elif kind == "rotation":
        matrix[:2] = cv2.getRotationMatrix2D((middle, middle), 20 * amount, 1)
    else:
        matrix[2, 0], away = 0.0025 * amount, np.array([[1, 0, -middle], [0, 1, -middle], [0, 0, 1.0]])
        matrix = np.linalg.inv(away) @ matrix @ away
    return cv2.warpPerspective(draw_leaf(), matrix, (240, 240), flags=cv2.INTER_NEAREST)


ALTERATIONS = ("translation", "scale", "rotation", "perspective")


@pytest.mark.parametrize("kind", ALTERATIONS)
@pytest.mark.parametrize("direction", [1, -1])
def test_stronger_alterations_cost_more(kind, direction):
    errors = [
        score_scene(make_mask_scene(draw_leaf(), alter(kind, direction * step))).error for step in range(0, 21, 4)
    ]
    assert errors[0] == 0
    assert all(weaker < stronger for weaker, stronger in itertools.pairwise(errors))


def test_a_region_inside_another_costs_nothing_until_the_match_is_lost():
    def square(side):
        return [BoxedObject("oak", Box(50 - side / 2, 50 - side / 2, side, side))]

    errors = [score_scene(Scene.from_objects(square(20), square(side))).error for side in (20, 30, 40, 44, 45, 60)]
    assert errors == [0, 0, 0, 0, 1, 1]  # (20/45)² is below the threshold of 0.2
