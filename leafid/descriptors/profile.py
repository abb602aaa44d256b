"""The width of a blade along its midrib, and the form of its two ends."""

from collections.abc import Mapping

import numpy as np

from leafid.descriptors.arrays import Points

#: How far a blade's end may reach beyond its tip or base that isn't notched.
NOTCH = 0.02
# What is farther from the midvein, in half widths, belongs to the lobes of a base.
_OUTER = 0.3
# Step of a profile along the midrib, and the distance from an end at which its angle
# is measured, in lengths of the blade: nearer where lobes follow.
_STEP = 1 / 128
_END = 0.25
END_OF_LOBED = 0.07
# Largest distance of the greatest width of an elliptic blade from its middle.
_SYMMETRIC = 0.06
# Largest difference between the angles of ends that are alike, in degrees, and their
# largest bulge: a rounded apex bulges otherwise than a rounded base.
_ALIKE = 15.0
_STRAIGHT = 0.15


def is_fan(values: Mapping[str, float]) -> bool:
    """Whether a blade, by its traits, is a wedge or half a disc with a broad end."""
    angle = values.get("apex_angle", 0)
    is_wedge = angle >= 115 and values.get("base_bulge", 1) < 0.1
    ratio = values["length_width"]
    return (is_wedge and ratio < 1) or (angle >= 130 and ratio < 0.7)


def measure_profile(framed: Points, reach: float = _END) -> dict[str, float]:
    """Measure the blade's width along the midrib, and the form of its two ends.

    Angles and bulges are measured on the margin up to `reach` from an end.
    """
    rounded = np.rint(framed[:, 0] / _STEP).astype(int)
    levels = np.arange(rounded.min(), rounded.max() + 1)
    half = np.full((2, len(levels)), -np.inf)
    for sign, side in zip((1, -1), half, strict=True):
        np.maximum.at(side, rounded - levels[0], sign * framed[:, 1])
        is_reached = np.isfinite(side)
        side[:] = np.interp(levels, levels[is_reached], side[is_reached])
    width = half.sum(axis=0)
    along = levels * _STEP
    distance = np.abs(framed[:, 1])
    is_outer = distance > _OUTER * distance.max()
    traits = {
        "widest": float(along[width >= 0.95 * width.max()].mean()),
        "parallel": float(np.count_nonzero(width >= 0.975 * width.max()) * _STEP),
        "base_extension": max(0.0, -float(framed[is_outer, 0].min())),
        "apex_extension": max(0.0, float(framed[:, 0].max()) - 1),
    }
    # From the end to where its angle is measured.
    steps = np.linspace(0, reach, 16)[1:]
    for name, places in (("apex", 1 - steps), ("base", steps)):
        margins = [np.interp(places, along, side) for side in half]
        ends = np.maximum(np.array(margins)[:, -1:], 1e-6)
        bulges = margins - ends * steps / reach
        traits[f"{name}_angle"] = float(np.degrees(np.arctan(ends / reach).sum()))
        traits[f"{name}_bulge"] = float(
            (bulges[:, :-1].mean(axis=1) / ends[:, 0]).mean()
        )
    return traits


def share_ends(profile: Mapping[str, float]) -> dict[str, float]:
    """Return what is known of a blade whose base may be either end."""
    shared = {}
    if abs(profile["widest"] - 0.5) < _SYMMETRIC:
        shared = {name: profile[name] for name in ("widest", "parallel")}
    angle = (profile["apex_angle"] + profile["base_angle"]) / 2
    bulge = (profile["apex_bulge"] + profile["base_bulge"]) / 2
    is_alike = abs(profile["apex_angle"] - angle) < _ALIKE / 2
    is_rounded = max(profile["apex_bulge"], profile["base_bulge"]) > _STRAIGHT
    is_notched = max(profile["apex_extension"], profile["base_extension"]) > NOTCH
    if is_alike and not is_rounded and not is_notched:
        shared |= dict.fromkeys(("apex_angle", "base_angle"), angle)
        shared |= dict.fromkeys(("apex_bulge", "base_bulge"), bulge)
    return shared
