"""All shape families give equal numbers for a moved, turned or enlarged leaf."""

import cv2
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from leafid.descriptors.registry import FAMILIES
from leafid.descriptors.shape.contour import normalise_shape

MEASURES = {
    name: family.measure for name, family in FAMILIES.items() if family.reads == "shape"
}


def leaf(kind, turn=0.0, scale=1.0, mirror=False, canvas=800):
    """Draw a leaf by formula: a longer tip, `kind` sets aspect, lobes and teeth.

    Drawn smooth, turned exactly.
    """
    aspect, lobes, depth, teeth, height = KINDS[kind]
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    radius = 180 * (1 + depth * np.cos(lobes * angle)) * (
        1 + 0.25 * np.cos(angle)
    ) + 180 * height * np.cos(teeth * angle)
    x, y = (
        radius * np.cos(angle),
        radius * np.sin(angle) * aspect + 10 * np.cos(2 * angle),
    )
    y = -y if mirror else y
    cosine, sine = np.cos(turn) * scale, np.sin(turn) * scale
    corners = (
        np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=1) + canvas / 2
    )
    picture = np.zeros((canvas, canvas), np.uint8)
    cv2.fillPoly(picture, [np.rint(corners * 64).astype(np.int32)], 1, shift=6)
    return picture.astype(bool)


KINDS = [
    (0.6, 1, 0.0, 7, 0.0),
    (0.4, 2, 0.1, 40, 0.02),
    (0.9, 5, 0.25, 9, 0.0),
    (0.8, 3, 0.2, 30, 0.03),
    (0.25, 1, 0.05, 7, 0.0),
    (1.0, 7, 0.15, 50, 0.02),
]


def measure(mask):
    shape = normalise_shape(mask)
    return {name: family(shape) for name, family in MEASURES.items()}


@pytest.fixture(scope="module")
def leaves():
    return [measure(leaf(kind)) for kind in range(len(KINDS))]


@pytest.mark.parametrize(("rows", "cols"), [(0, 1), (13, 60), (60, 7)])
def test_a_shift_changes_nothing(leaves, rows, cols):
    for name, values in measure(np.pad(leaf(3), ((rows, 0), (cols, 0)))).items():
        np.testing.assert_array_equal(values, leaves[3][name])


def assert_likeness(leaves, kind, mask, limit):
    """How far a mask's values may be from leaf `kind`'s.

    As a share of the distance to the usual other leaf.
    """
    for name, values in measure(mask).items():
        known = np.stack([measured[name] for measured in leaves])
        # A value that hardly differs between leaves (2 % of the largest) would blow
        # rounding up to a whole deviation.
        spread = known.std(axis=0) + 0.02 * np.abs(known).max() + 1e-6
        distances = np.linalg.norm(
            (np.delete(known, kind, axis=0) - known[kind]) / spread, axis=1
        )
        assert np.linalg.norm((values - known[kind]) / spread) < limit * np.median(
            distances
        ), name


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    kind=st.integers(0, 5),
    turn=st.floats(0, 2 * np.pi),
    scale=st.floats(1, 1.5),
    mirror=st.booleans(),
)
def test_turn_scale_and_mirror_leave_it_itself(leaves, kind, turn, scale, mirror):
    assert_likeness(leaves, kind, leaf(kind, turn, scale, mirror, canvas=960), 0.5)
