"""Draws leaves with known tip, base, petiole, outline, teeth, lobes and leaflets."""

from dataclasses import dataclass

import cv2
import numpy as np

SIDE = 700
#: A picture is drawn larger by this factor, and then downsampled: margins are smooth.
OVERSAMPLING = 3
SHEET, BLADE, STALK = (250, 250, 250), (45, 100, 60), (70, 120, 105)


@dataclass(frozen=True)
class Form:
    """A leaf, with lengths relative to its blade."""

    #: Half the width at the height t is that of t^base (1 - t)^tip: 0.5 is round, 1 a
    #: wedge.
    width: float
    base: float
    tip: float
    #: Length by which the base hangs below the petiole's end.
    cordate: float = 0.0
    #: Teeth of one side.
    teeth: int = 0
    tooth_depth: float = 0.0
    #: Palmate lobes of the whole blade; pinnate ones of one side, of which the lowest
    #: is a part of the base.
    palmate_lobes: int = 0
    pinnate_lobes: int = 0
    #: Pairs of leaflets below the one at the end.
    leaflets: int = 0
    petiole: float = 0.3


@dataclass(frozen=True)
class DrawnLeaf:
    """A picture, and points in it as (column, row)."""

    picture: np.ndarray
    #: (2,); `petiole` is (n, 2) from the base of the blade on, `outline` (n, 2).
    tip: np.ndarray
    petiole: np.ndarray
    outline: np.ndarray


def draw_leaf(form: Form, seed: int = 0, angle: float = 0.3) -> DrawnLeaf:
    """Draw a leaf, turned clockwise by an angle in radians, on white.

    The seed varies it a little.
    """
    rng = np.random.default_rng(seed)
    outlines, stalk = _make_leaf(form, rng)
    share = np.linspace(0, 1, 24)
    sway = form.petiole * (
        rng.normal(0, 0.09) * share**2
        + rng.normal(0, 0.03) * np.sin(np.pi * share * 1.5)
    )
    petiole = np.stack([sway, -form.petiole * share], axis=1)
    turn = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    points = np.vstack([*outlines, petiole]) @ turn.T
    scale = 0.88 * SIDE / float(np.ptp(points, axis=0).max())
    origin = 0.06 * SIDE - scale * points.min(axis=0)

    def place(line):
        return line @ turn.T * scale + origin

    cols, rows = (
        np.ceil(np.ptp(points, axis=0) * scale + 0.12 * SIDE).astype(int).tolist()
    )
    blade, stalked = np.zeros((2, rows * OVERSAMPLING, cols * OVERSAMPLING), np.uint8)
    for outline in outlines:
        cv2.fillPoly(
            blade, [np.round(place(outline) * OVERSAMPLING).astype(np.int32)], 255
        )
    for line in (petiole, stalk):
        corners = np.round(place(line) * OVERSAMPLING).astype(np.int32)
        cv2.polylines(
            stalked, [corners], False, 255, max(1, round(OVERSAMPLING * scale * 0.018))
        )
    picture = np.full((rows, cols, 3), SHEET, np.float32)
    shades = 1 + 0.04 * cv2.resize(
        rng.standard_normal((rows // 4, cols // 4)).astype(np.float32), (cols, rows)
    )
    for cover, colour in ((blade, BLADE), (stalked & ~blade, STALK)):
        alpha = cv2.resize(cover, (cols, rows), interpolation=cv2.INTER_AREA)[
            ..., None
        ] / np.float32(255)
        picture += alpha * (np.float32(colour) * shades[..., None] - picture)
    return DrawnLeaf(
        np.clip(picture, 0, 255).astype(np.uint8),
        place(np.array([0.0, 1.0])),
        place(petiole),
        place(outlines[0]),
    )


def _make_leaf(form, rng):
    """Make the outlines of all blades, and the stalk between them.

    The base at (0, 0), the tip at (0, 1).
    """
    right, left = _make_half(form, rng), _make_half(form, rng) * (-1, 1)
    blade = np.vstack([right, left[::-1]])
    if not form.leaflets:
        return [blade], np.zeros((1, 2))
    length = 1.4 / (form.leaflets + 1)
    outlines = [blade * length + (0, 1 - length)]
    for height in np.linspace(0, 1 - 1.3 * length, form.leaflets):
        for side in (-1, 1):
            turn = side * np.radians(65 + rng.normal(0, 4))
            matrix = length * np.array(
                [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
            )
            outlines.append(blade @ matrix + (side * 0.02, height))
    return outlines, np.array([[0, 0], [0, 1 - length / 2]])


def _make_half(form, rng):
    """Make the right half of a blade's outline, from the base to the tip."""
    t = (1 - np.cos(np.linspace(0, np.pi, 1500))) / 2
    if form.palmate_lobes:
        direction = np.pi * (1 - t)
        axes = np.radians(50) * np.arange(form.palmate_lobes // 2 + 1)
        reaches = [
            0.88**n * np.exp(-(((direction - axis) / 0.28) ** 2))
            for n, axis in enumerate(axes)
        ]
        radius = np.maximum(
            np.max(reaches, axis=0),
            0.35 * np.clip((axes[-1] + 0.55 - direction) / 0.5, 0, 1),
        )
        return radius[:, None] * np.stack(
            [np.sin(direction), np.cos(direction)], axis=1
        )
    peak = form.base / (form.base + form.tip)
    x = (
        form.width
        / 2
        * t**form.base
        * (1 - t) ** form.tip
        / (peak**form.base * (1 - peak) ** form.tip)
    )
    y = t - form.cordate * np.where(
        t < peak, np.sin(np.pi * (2 * x / form.width) ** 0.75), 0
    )
    if form.pinnate_lobes:
        phase = np.clip((t - 0.06) / 0.92, 0, 1) * (form.pinnate_lobes + 0.5) % 1
        envelope = np.clip((t - 0.05) / 0.25, 0, 1) * np.clip((1 - t) / 0.3, 0.3, 1)
        x *= 1 - 0.6 * envelope * (1 - np.sin(np.pi * phase) ** 0.7)
    half = np.stack([x, y], axis=1)
    if form.teeth:
        along = np.append(0, np.cumsum(np.hypot(*np.diff(half, axis=0).T)))
        along /= along[-1]
        edges = np.append(0, np.cumsum(rng.uniform(0.8, 1.25, form.teeth)))
        phase = np.interp(
            along, 0.12 + 0.865 * edges / edges[-1], np.arange(form.teeth + 1.0)
        )
        tooth = np.minimum(phase % 1 / 0.66, (1 - phase % 1) / 0.34) * np.clip(
            (1 - along) / 0.12, 0, 1
        )
        tangent = np.gradient(half, axis=0)
        tangent /= np.hypot(*tangent.T)[:, None]
        half = half + form.tooth_depth * tooth[:, None] * (
            tangent[:, ::-1] * (1, -1) + 0.55 * tangent
        )
    half[:, 0] = np.maximum(half[:, 0], 0)
    half[-1] = 0, 1
    return half
