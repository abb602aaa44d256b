"""Botanical traits of a leaf on a plain sheet, as far as they are measured well.

The Manual of Leaf Architecture [1]_ defines the traits; leafid measures what an
outline shows.

References
----------
.. [1] B. Ellis, D. C. Daly, L. J. Hickey, K. R. Johnson, J. D. Mitchell, P. Wilf,
   S. L. Wing, "Manual of Leaf Architecture", Cornell University Press, 2009,
   ISBN 978-0-8014-7518-4.
"""

import itertools
from collections.abc import Mapping

import numpy as np

from leafid.descriptors.arrays import Floats, Points
from leafid.descriptors.edge_width import measure_edge
from leafid.descriptors.landmarks import Landmarks, find_landmarks
from leafid.descriptors.leaflets import count_leaflets
from leafid.descriptors.profile import (
    END_OF_LOBED,
    NOTCH,
    is_fan,
    measure_profile,
    share_ends,
)
from leafid.descriptors.shape.contour import compute_contour_length, find_hull
from leafid.descriptors.shape.margin import measure_sinuses, smooth_contour
from leafid.descriptors.teeth import find_peaks, measure_margin
from leafid.descriptors.tracing import trace_leaf
from leafid.segmentation.result import Mask, Segmentation

#: Smallest confidence of a trait that is measured well enough.
MIN_CONFIDENCE = 0.5
#: Names of all traits; all after `petiole` are traits of a simple blade.
TRAIT_NAMES = (
    "compound",  # 1 for a compound leaf, 0 for a simple one
    "leaflets",  # number of leaflets, 1 for a simple leaf
    "petiole",  # length of the petiole in lengths of the blade
    "length_width",  # length over width of the blade
    "widest",  # position of the greatest width, 0 at the base, 1 at the tip
    "parallel",  # share of the length of a width within 2.5 % of the greatest
    "lobes",  # number of lobes, 0 for an unlobed blade
    "lobe_depth",  # of sinuses, in distances to the midvein; negative if palmate
    "teeth",  # number of teeth, 0 for an entire margin
    "tooth_depth",  # their mean height in percent of the width
    "apex_angle",  # degrees, from the tip to the margin at 75 % of the length
    "apex_bulge",  # mean distance of that margin from a line, in widths there
    "base_angle",  # degrees, from the base to the margin at 25 % of the length
    "base_bulge",  # as for the apex
    "base_extension",  # how far the blade reaches below its base, in lengths
    "apex_extension",  # how far it reaches beyond its tip
)
# Longest cut along the border of the picture, in widths, of a whole blade.
_MAX_CUT = 0.1
# Distance from the border, in pixels, of a margin that isn't cut.
_BORDER = 4
# Smallest depth of a sinus, in distances from the lobe's end to the midvein or base.
_MIN_SINUS = 0.06
# Smallest angle between midvein and widest place of palmate lobes, in degrees times the
# width over the length.
_PALMATE = 33.0
# Standard deviation of the outline that lobes are counted in.
_LOBE_SMOOTHING = 0.006
# Smallest number of sinuses: a slit or a bite divides no lobes. Depth of the deepest
# one between palmate lobes that may be leaflets: 0.67 in one of 110 simple leaves, less
# in the others.
_MIN_SINUSES = 2
_SEPARATE = 2 / 3
# Smallest distance of a lobe's end, relative to the farthest one.
_MIN_LOBE = 0.2
# Smallest depth of a sinus that may be a bite, in lengths of the outline, and its mean
# depth, in its greatest, if it is one: 0.64 of half a circle, at most 0.54 in 47 lobed
# leaves of 11 species.
_MIN_BITE = 0.01
_ROUND = 0.57
# Traits of the ends that lobed blades have.
_ENDS = ("apex_angle", "apex_bulge", "base_angle", "base_extension")


def measure_reliable_traits(
    leaf: Segmentation, ends: Points | None = None
) -> tuple[dict[str, float], Landmarks | None]:
    """Measure the traits of a leaf on a plain sheet that are measured well enough.

    Where the edge is blurred in the leaf's picture, fewer teeth can be seen.

    Parameters
    ----------
    leaf : Segmentation
    ends : (2, 2), optional
        Rows and columns of tip and base, where a person chose them.

    Returns
    -------
    traits : dict of str to float
        By their names in `TRAIT_NAMES`; empty for what may be several leaves.
    landmarks : Landmarks or None
        None where there is no leaf.
    """
    if not leaf.blade.any():
        return {}, None
    outline = trace_leaf(leaf.mask)
    edge = measure_edge(outline, leaf.picture)
    is_compound, leaflets = count_leaflets(leaf.blade, edge)
    landmarks = find_landmarks(leaf, outline, ends, is_compound=is_compound)
    traits: dict[str, float] = {}
    if leaf.outline_confidence < MIN_CONFIDENCE or leaf.may_be_several:
        return traits, landmarks
    if is_compound is not None:
        traits["compound"] = float(is_compound)
    if leaflets is not None:
        traits["leaflets"] = float(leaflets)
    # The rest of a blade that the border cuts has another form.
    is_whole = measure_cut(leaf.blade) <= _MAX_CUT * landmarks.extent[1]
    if is_whole and landmarks.petiole is not None and not measure_cut(leaf.petiole):
        traits["petiole"] = landmarks.petiole / landmarks.length
    if leaflets != 1:
        return traits, landmarks
    is_margin = _find_margin(landmarks, leaf.mask.shape)
    is_lobed, margin = measure_margin(landmarks, is_margin, edge)
    if is_whole:
        form = _measure_form(landmarks, is_lobed)
        if form is None:
            return drop_misfits(traits, is_compound=1), landmarks
        traits |= form
    traits |= margin
    return traits, landmarks


def drop_misfits(
    traits: Mapping[str, float], is_compound: float | None
) -> dict[str, float]:
    """Drop the traits of a blade that doesn't fit the leaves of its species.

    Overlapping leaflets were taken for lobes, or lobes for leaflets.

    Parameters
    ----------
    traits : mapping of str to float
        As `measure_reliable_traits` returns them.
    is_compound : float or None
        1 where the leaves of the species are compound, 0 where they are simple; None
        where nobody knows.

    Returns
    -------
    dict of str to float
        Of a misfit, only the length of the petiole.
    """
    is_fitting = is_compound in (None, traits.get("compound", is_compound))
    names = traits.keys() if is_fitting else traits.keys() & {"petiole"}
    return {name: traits[name] for name in names}


def measure_cut(mask: Mask) -> int:
    """Measure how many pixels of a mask lie along the border of the picture."""
    return int(np.count_nonzero(mask) - np.count_nonzero(mask[1:-1, 1:-1]))


def _find_margin(landmarks: Landmarks, size: tuple[int, ...]) -> Mask:
    """Mark the points of a contour that are neither an end nor cut by the border."""
    framed = landmarks.framed
    contour = landmarks.contour
    is_inside = (contour >= _BORDER) & (contour < np.array(size) - 1 - _BORDER)
    is_between = (framed[:, 0] < 0.985) & (np.hypot(*framed.T) > 0.06)
    return is_between & is_inside.all(axis=1)


def _measure_form(
    landmarks: Landmarks, is_lobed: bool | None
) -> dict[str, float] | None:
    """Measure the form of a simple blade; None where its lobes may be leaflets.

    Without a base, only traits that don't depend on it are measured.
    """
    framed = landmarks.framed
    has_base = landmarks.has_base
    length, width = landmarks.extent.tolist()
    is_framed = landmarks.confidence >= MIN_CONFIDENCE
    traits = {"length_width": length / width} if is_framed else {}
    profile = measure_profile(framed)
    n_bites, n_sinuses = _count_bites(landmarks.contour)
    if has_base and is_fan(profile | traits):
        # The corners of a fan, and the slits in its end, are no lobes.
        traits |= profile
    elif is_lobed and is_framed and n_bites <= n_sinuses:
        lobes = _measure_lobes(framed)
        if lobes is None:
            return None
        traits |= lobes
        if has_base:
            # Farther away are other lobes.
            ends = measure_profile(framed, END_OF_LOBED)
            traits |= {name: ends[name] for name in _ENDS}
    elif is_lobed is False:
        traits["lobes"] = 0.0
        if has_base:
            traits |= profile
            if n_bites and profile["apex_extension"] > NOTCH:
                # The notch may be the bite.
                del traits["apex_angle"]
        elif is_framed:
            traits |= share_ends(profile)
    return traits


def _count_bites(contour: Points) -> tuple[int, int]:
    """Count the deep sinuses that are round, as bites are, and the deep others."""
    depths, _, fullness, _ = measure_sinuses(contour, find_hull(contour))
    is_deep = depths >= _MIN_BITE * compute_contour_length(contour)
    n_bites = (is_deep & (fullness > _ROUND)).sum()
    return n_bites, is_deep.sum() - n_bites


def _measure_lobes(framed: Points) -> dict[str, float] | None:
    """Count the lobes of a lobed blade, and measure the mean depth of the sinuses.

    The depth is relative to the distance from the lobe's end to the midvein, or, with a
    negative sign, to the base (palmate lobes). None where the lobes may be leaflets.
    """
    along, across = smooth_contour(framed, _LOBE_SMOOTHING).T
    distances = np.hypot(along, across)
    widest = np.abs(across).argmax()
    length, width = np.ptp(framed, axis=0)
    angle = np.degrees(np.arctan2(abs(across[widest]), along[widest]))
    is_palmate = angle * width / max(length, 1e-6) >= _PALMATE
    halves = [np.where(along > 0.03, side * across, 0) for side in (1, -1)]
    curves = [distances] if is_palmate else halves
    # The curve begins and ends at the base: the sinus of the petiole divides no lobes.
    start = distances.argmin()
    depths = [
        depth
        for curve in curves
        for depth in _measure_sinuses(np.roll(np.maximum(curve, 1e-9), -start))
    ]
    if len(depths) < _MIN_SINUSES:
        return {}
    if is_palmate and max(depths) > _SEPARATE:
        return None
    depth = float(np.mean(depths))
    return {
        "lobes": len(depths) + 1.0,
        "lobe_depth": -depth if is_palmate else depth,
    }


def _measure_sinuses(distance: Floats) -> list[float]:
    """Measure the sinuses between the peaks of a curve, the distance of an outline.

    Returns their depths, relative to the lower of the two peaks beside them.
    """
    closed = np.concatenate([[1e-9], distance, [1e-9]])
    peaks = find_peaks(np.log(closed), -np.log(1 - _MIN_SINUS))
    peaks = peaks[closed[peaks] >= _MIN_LOBE * closed.max()]
    return [
        1 - closed[first:last].min() / min(closed[first], closed[last])
        for first, last in itertools.pairwise(peaks.tolist())
    ]
