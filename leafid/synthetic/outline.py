"""The contour of one blade, from its description."""

import numpy as np
import numpy.typing as npt

from leafid.synthetic.species import Lobing, Outline

Points = npt.NDArray[np.float64]
"""Shape (n, 2): across the blade (right positive), along it (stalk 0, tip about 1)."""


def compute_blade_outline(shape: Outline, rng: np.random.Generator) -> tuple[Points, Points]:
    """Compute the right and the left half of a blade's contour, (n, 2), from the end of the stalk (0, 0) to the tip.

    Examples
    --------
    >>> import numpy as np
    >>> ellipse = Outline(width=0.6, base=0.5, tip=0.5, wave=0.0)
    >>> right, left = compute_blade_outline(ellipse, np.random.default_rng(0))
    >>> float(right[:, 0].max()).__round__(2), right[-1].round(6).tolist()
    (0.3, [0.0, 1.0])
    """
    halves = []
    for side in (1.0, -1.0):
        curve = _HALVES[shape.lobing](shape, rng)
        curve[:, 0] *= 1.0 + side * shape.asymmetry * (1.0 - np.clip(curve[:, 1], 0.0, 1.0))
        curve = _undulate(curve, shape.wave, rng)
        if shape.teeth and shape.tooth_depth > 0:
            curve = _add_teeth(curve, shape, rng)
        curve[:, 0] = np.maximum(curve[:, 0], 0.0) * side
        halves.append(curve)
    right, left = halves
    # The two sides are independent: the tip is the mean of theirs.
    middle = np.array([0.0, (right[-1, 1] + left[-1, 1]) / 2])
    right[-1], left[-1] = middle, middle
    right[0], left[0] = 0.0, 0.0
    return right, left


def compute_lobe_axes(shape: Outline) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Compute the directions and lengths of a palmate blade's lobes, from the middle lobe to the right.

    Angles are from the axis of the blade in radians, (ceil(lobes / 2),); lengths are relative to the middle lobe.
    """
    order = np.arange((shape.lobes + 1) // 2, dtype=float)
    return np.radians(shape.lobe_spread) * order, (1.0 - shape.lobe_falloff) ** (order**1.8)


def compute_half_width(shape: Outline, height: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute half the width of an unlobed blade at the given heights (0 to 1)."""
    peak = shape.base / (shape.base + shape.tip)
    largest = peak**shape.base * (1.0 - peak) ** shape.tip
    return shape.width / 2 * height**shape.base * (1.0 - height) ** shape.tip / largest


def _compute_plain_half(shape: Outline, rng: np.random.Generator) -> Points:
    t = (1.0 - np.cos(np.linspace(0.0, np.pi, 160))) / 2
    x, y = compute_half_width(shape, t), t.copy()
    if shape.cordate:
        # Only the part below the largest width hangs down.
        share = np.where(t < shape.base / (shape.base + shape.tip), 2 * x / shape.width, 1.0)
        y -= shape.cordate * np.sin(np.pi * np.clip(share, 0.0, 1.0) ** 0.75) ** 0.9
    if shape.drip:
        # The end of the blade is stretched: a broad tip gets a narrow point.
        end = np.clip((t - 0.75) / 0.25, 0.0, 1.0)
        y += shape.drip * end**3
        x *= 1.0 - 0.45 * end**1.5
    return np.column_stack([x, y])


def _compute_pinnate_half(shape: Outline, rng: np.random.Generator) -> Points:
    t = np.linspace(0.0, 1.0, 400)
    phase = np.interp(t, *_draw_uneven_steps(0.06, 0.98, shape.lobes + 0.5, rng))
    position = phase % 1.0
    swell = np.sin(np.pi * position)
    rounded, pointed = swell**0.7, (1.0 - np.abs(2 * position - 1)) ** 1.2
    lobe = (1 - shape.lobe_point) * rounded + shape.lobe_point * pointed
    size = rng.uniform(0.88, 1.08, shape.lobes + 2)[np.minimum(phase.astype(int), shape.lobes + 1)]
    envelope = np.clip((t - 0.05) / 0.25, 0.0, 1.0) * np.clip((1.0 - t) / 0.3, 0.3, 1.0)
    x = compute_half_width(shape, t) * (1.0 - shape.lobe_depth * envelope * (1.0 - lobe * size))
    # Lobes point towards the tip.
    y = t + 0.3 * x * lobe * envelope * shape.lobe_depth * (1 + shape.lobe_point)
    y *= 1.0 / y[-1]
    return np.column_stack([x, y])


def _compute_palmate_half(shape: Outline, rng: np.random.Generator) -> Points:
    angles, lengths = compute_lobe_axes(shape)
    lengths = lengths * np.concatenate([[1.0], rng.uniform(0.93, 1.05, lengths.size - 1)])
    t = np.linspace(0.0, 1.0, 200)[1:]
    reach = compute_half_width(shape, t)
    bearing, radius = np.arctan2(reach, t), np.hypot(reach, t)
    direction = np.linspace(np.pi, 0.0, 500)
    total = np.zeros_like(direction)
    if shape.lobe_teeth:
        # The large teeth of a lobe are smaller, narrower lobes beside its axis.
        beside = np.radians(shape.lobe_teeth) * rng.uniform(0.85, 1.1, (2, angles.size))
        angles_all = np.concatenate([angles, angles + beside[0], angles - beside[1]])
        shorter = rng.uniform(0.68, 0.76, (2, angles.size)) * lengths
        lengths_all = np.concatenate([lengths, *shorter])
    else:
        angles_all, lengths_all = angles, lengths
    for angle, length in zip(angles_all, lengths_all, strict=True):
        # A lobe is a small blade that starts at the stalk's end; its bearing decreases towards its tip.
        away = np.abs(direction - angle)
        total += (length * np.interp(away, bearing[::-1], radius[::-1], right=0.0)) ** 9
    r = total ** (1 / 9)
    inside = np.clip((angles[-1] + 0.55 - direction) / 0.5, 0.0, 1.0)
    r = (r**9 + (shape.web * inside * (1 - 0.4 * direction / np.pi)) ** 9) ** (1 / 9)
    r *= np.interp(0.0, bearing[::-1], radius[::-1]) / max(r[-1], 1e-9)
    keep = r > 0.01
    curve = np.column_stack([r * np.sin(direction), r * np.cos(direction)])[keep]
    return np.vstack([[0.0, 0.0], curve])


def _compute_fan_half(shape: Outline, rng: np.random.Generator) -> Points:
    opening = shape.width / 2
    side = np.linspace(0.0, 1.0, 60)[:, None]
    corner = 0.86 * np.array([np.sin(opening), np.cos(opening)])
    control = np.array([0.1, 0.42]) * corner[::-1].max()
    edge = 2 * side * (1 - side) * control + side**2 * corner
    direction = np.linspace(opening, 0.0, 300)
    share = direction / opening
    r = 1.0 - 0.14 * share**2.5
    lobes = np.interp(direction, np.linspace(0, opening, 9), rng.uniform(-0.02, 0.015, 9))
    frill = 0.012 * np.sin(direction * rng.uniform(26, 34) + rng.uniform(0, 6)) * (share > 0.1)
    notch = shape.lobe_depth * np.exp(-((direction / 0.07) ** 1.4)) * rng.uniform(0.7, 1.1)
    r = r + lobes + frill - notch
    r *= 0.86 / r[0]
    arc = np.column_stack([r * np.sin(direction), r * np.cos(direction)])
    return np.vstack([edge, arc[1:]])


def _undulate(curve: Points, wave: float, rng: np.random.Generator) -> Points:
    height = np.linspace(0.0, 1.0, len(curve))
    factor = np.ones_like(height)
    for harmonic in (1.5, 3.0, 6.0):
        factor += wave * rng.uniform(-1, 1) / harmonic**0.3 * np.sin(np.pi * harmonic * height + rng.uniform(0, 6.3))
    return np.column_stack([curve[:, 0] * factor, curve[:, 1]])


def _add_teeth(curve: Points, shape: Outline, rng: np.random.Generator) -> Points:
    finest = shape.teeth * (3 if shape.double_teeth else 1)
    curve = _resample(curve, min(2400, max(300, 16 * finest)))
    steps = np.gradient(curve, axis=0)
    tangent = steps / np.maximum(np.hypot(*steps.T), 1e-12)[:, None]
    normal = np.column_stack([tangent[:, 1], -tangent[:, 0]])
    along = np.linspace(0.0, 1.0, len(curve))
    depth = shape.tooth_depth * _compute_saw(along, shape, shape.teeth, rng)
    if shape.double_teeth:
        depth += 0.4 * shape.tooth_depth * _compute_saw(along, shape, 3 * shape.teeth, rng)
    depth *= np.clip((1.0 - along) / 0.12, 0.0, 1.0)
    return curve + depth[:, None] * (normal + 0.55 * tangent)


def _compute_saw(along: npt.NDArray[np.float64], shape: Outline, teeth: int, rng: np.random.Generator) -> Points:
    phase = np.interp(along, *_draw_uneven_steps(shape.tooth_start, 0.985, teeth, rng), left=0.0)
    position = phase % 1.0
    peak = 0.66
    tooth = np.where(position < peak, position / peak, (1.0 - position) / (1.0 - peak)) ** shape.tooth_sharpness
    size = rng.uniform(0.65, 1.15, teeth + 2)[np.minimum(phase.astype(int), teeth + 1)]
    return tooth * size * (along >= shape.tooth_start)


def _draw_uneven_steps(start: float, end: float, count: float, rng: np.random.Generator) -> tuple[Points, Points]:
    """Return positions of uneven steps between start and end, and the step count at each, for ``numpy.interp``."""
    whole = int(np.ceil(count))
    sizes = rng.uniform(0.8, 1.25, whole)
    sizes[-1] *= count - whole + 1
    positions = start + (end - start) * np.concatenate([[0.0], np.cumsum(sizes) / sizes.sum()])
    return positions, np.minimum(np.arange(whole + 1, dtype=float), count)


def _resample(curve: Points, count: int) -> Points:
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    at = np.linspace(0.0, length[-1], count)
    return np.column_stack([np.interp(at, length, curve[:, 0]), np.interp(at, length, curve[:, 1])])


_HALVES = {
    Lobing.NONE: _compute_plain_half,
    Lobing.PINNATE: _compute_pinnate_half,
    Lobing.PALMATE: _compute_palmate_half,
    Lobing.FAN: _compute_fan_half,
}
