"""Leaves on sheets as other people show them: on another ground, beside a chart.

The recogniser of acquisition types learns from them that a leaf on black, on card or on
cloth is no leaf on the tree.
"""

import zlib

import cv2
import numpy as np
from numpy.random import Generator

from leafid.features.compositing import RANGES, make_image
from leafid.features.extractor import measure_type_features, segment_as_type
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.result import Image, Mask

# The share of the leaves on another ground that a chart lies beside.
_CHART_SHARE = 0.3
# The side of a field of a chart before the chart is resized, in pixels.
_FIELD = 8


def measure_types_elsewhere(image: Image, picture: object = None) -> np.ndarray:
    """Show a leaf on a sheet as other people do, in two pictures.

    In the first, the leaf lies on another ground, maybe beside a chart; in the second,
    its sheet lies on a table or beside a chart. Return the values of
    `measure_type_features` of both in one row. All choices are random. `picture` has no
    effect.
    """
    random = np.random.default_rng(zlib.crc32(image.tobytes()))
    leaf = segment_as_type(image, AcquisitionType.SCAN_LIKE, "leaf").mask
    on_ground = put_on_ground(image, leaf, random)
    if random.random() < _CHART_SHARE:
        on_ground = put_beside_chart(on_ground, random)
    if random.random() < 0.5:
        sheet = put_on_table(image, random)
    else:
        sheet = put_beside_chart(image, random)
    return np.concatenate([*map(measure_type_features, (on_ground, sheet))])


def put_on_ground(image: Image, leaf: Mask, random: Generator) -> Image:
    """Replace the sheet under a leaf by another ground."""
    share = cv2.GaussianBlur(leaf.astype(np.float32), (0, 0), 0.8)[..., None]
    return make_image(image * share + _draw_ground(leaf.shape, random) * (1 - share))


def put_on_table(sheet: Image, random: Generator) -> Image:
    """Surround a picture of a sheet by a table."""
    rows, cols = sheet.shape[:2]
    shares = random.uniform(*RANGES["table"]["width"], 4)
    top, bottom, left, right = np.round(shares * (rows, rows, cols, cols)).astype(int)
    size = rows + top + bottom, cols + left + right
    table = make_image(_draw_ground(size, random))
    table[top : top + rows, left : left + cols] = sheet
    return table


def put_beside_chart(picture: Image, random: Generator) -> Image:
    """Put a chart of colours or greys, or a ruler, beside one side of a picture."""
    ranges = RANGES["chart"]
    turns = int(random.integers(4))
    turned = np.rot90(picture, turns)
    rows, cols = turned.shape[:2]
    width = max(1, int(random.uniform(*ranges["width"]) * max(rows, cols)))
    length = max(1, int(min(1, random.uniform(*ranges["length"])) * rows))
    chart = cv2.resize(
        _draw_chart(random), (width, length), interpolation=cv2.INTER_AREA
    )
    margin = round(width * random.uniform(*ranges["margin"]))
    wide = cv2.copyMakeBorder(turned, 0, 0, 0, width + margin, cv2.BORDER_REPLICATE)
    top = random.integers(rows - length + 1)
    wide[top : top + length, cols : cols + width] = chart
    return np.ascontiguousarray(np.rot90(wide, -turns))


def _draw_ground(size: tuple[int, ...], random: Generator) -> np.ndarray:
    """Draw card, cloth or wood of any colour, lit from a side: float32 (H, W, 3)."""
    ranges = RANGES["ground"]
    # A leaf on black is the most like a photo by flash: half of the grounds are darker
    # than a quarter of white.
    value = 255 * random.uniform() ** 2
    hue_to_value = random.integers(180), random.uniform(0, 255), value
    colour = cv2.cvtColor(
        np.array([[hue_to_value]]).astype(np.uint8), cv2.COLOR_HSV2BGR
    )
    finest, coarsest = np.log(ranges["spacing"])
    spacing = np.exp(random.uniform(finest, coarsest, 2))
    shape = np.ceil(size / spacing).astype(int) + 1
    grain = random.standard_normal(shape, np.float32)
    grain *= np.float32(random.uniform(*ranges["grain"]))
    slope = random.uniform(*ranges["slope"]) * np.linspace(-1, 1, size[1])
    light = 1 + slope.astype(np.float32)
    light = light + cv2.resize(grain, size[::-1], interpolation=cv2.INTER_CUBIC)
    noise = random.standard_normal((*size, 1), np.float32)
    noise *= np.float32(random.uniform(*ranges["noise"]))
    return light[..., None] * colour.astype(np.float32) + noise


def _draw_chart(random: Generator) -> Image:
    """Draw rows of coloured fields, or of greys from dark to light, on a card."""
    ranges = RANGES["chart"]
    n_rows = int(np.exp(random.uniform(*np.log(ranges["rows"]))))
    n_cols = int(np.exp(random.uniform(*np.log(ranges["columns"]))))
    fields = random.uniform(0, 256, (n_rows, n_cols, 3))
    if random.random() < 0.5:
        dark = random.uniform(*ranges["dark"])
        light = random.uniform(*ranges["light"])
        fields[:] = np.linspace(dark, light, n_rows)[:, None, None]
    chart = np.kron(fields, np.ones((_FIELD, _FIELD, 1)))
    gap = random.integers(3)
    card = random.uniform(0, 256)
    chart[np.arange(len(chart)) % _FIELD < gap] = card
    chart[:, np.arange(chart.shape[1]) % _FIELD < gap] = card
    return make_image(chart)
