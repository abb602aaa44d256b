import itertools
from pathlib import Path

import cv2
import numpy as np
import pytest

from leafid.tasks.interpretation.label_masks import make_objects
from leafid.tasks.interpretation.metric import Scene, score_scene


def draw_leaf():
    """Draw a leaf with a stalk and a notch: neither convex nor symmetric."""
    mask = np.zeros((240, 240), np.uint8)
    outline = [[70, 60], [120, 40], [150, 80], [140, 120], [105, 95], [110, 150], [80, 130], [55, 180], [60, 110]]
    cv2.fillPoly(mask, [np.array(outline) * 8 + 64], 1, shift=3)
    return mask


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("kind", ["translation", "scale", "rotation"])
def test_stronger_alterations_cost_more(kind, direction):
    leaf, errors = draw_leaf(), []
    for amount in np.linspace(0, direction, 6):
        turned, larger = (20 * amount, 1) if kind == "rotation" else (0, 1 + 0.3 * amount * (kind == "scale"))
        matrix = cv2.getRotationMatrix2D((120, 120), turned, larger)
        matrix[0, 2] += 20 * amount * (kind == "translation")
        altered = cv2.warpAffine(leaf, matrix, (240, 240), flags=cv2.INTER_NEAREST)
        errors.append(score_scene(Scene.from_objects(*(make_objects(m, Path("m")) for m in (leaf, altered)))).error)
    assert errors[0] == 0
    assert all(weaker <= stronger for weaker, stronger in itertools.pairwise(errors))
    # A leaf that is inside the other costs nothing.
    assert kind == "scale" or errors[-1] > 0.1
