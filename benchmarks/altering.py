"""Pictures of leaves on plain sheets, altered as other people take them, with masks."""

from collections.abc import Callable, Sequence

import cv2
import numpy as np
from numpy.random import Generator

from leafid.features.compositing import make_image
from leafid.segmentation.result import Image, Mask, find_bounding_box

Altered = tuple[Image, Mask]
#: Colours of tables, BGR.
TABLES = (
    (60, 90, 140),
    (120, 150, 185),
    (40, 55, 80),
    (150, 160, 170),
    (90, 110, 125),
    (50, 50, 55),
)
#: Colours of tables that are nearly as light as paper, BGR.
BRIGHT_TABLES = ((150, 190, 215), (190, 205, 215), (205, 205, 205), (170, 200, 230))
#: Colours of glossy card, BGR.
_GLOSSY = ((150, 80, 30), (60, 60, 140), (110, 110, 115), (120, 60, 110), (40, 40, 45))
_RULERS = ((60, 200, 230), (200, 200, 200), (180, 120, 60))
# Longest side of a leaf among several, in pixels.
_LEAF_SIDE = 360
# Smallest gap between their boxes, in pixels.
_LEAF_GAP = 12


def put_on_card(
    image: Image, leaf: Mask, colour: Sequence[int], random: Generator
) -> Image:
    """Replace the sheet under a leaf by card of a colour, BGR, lit from a side.

    The card has a little noise.
    """
    share = soften(leaf)
    light = 1 + np.linspace(-0.1, 0.1, image.shape[1])[None, :, None]
    card = (np.array(colour) + random.normal(0, 2.5, image.shape)) * light
    return make_image(image * share + card * (1 - share))


def put_on_paper(
    image: Image,
    mask: Mask,
    random: Generator,
    *,
    turned: bool = True,
    colours: Sequence[Sequence[float]] = TABLES,
    glare: float = 0.0,
) -> Altered:
    """Put the leaf on paper on a table: from above, or up to 15° in perspective.

    Beside a corner of the paper, a lamp is reflected as brightly as `glare`, from 0 to
    1.
    """
    paper, paper_mask = _extend(
        image,
        mask,
        *(int(side * random.uniform(0.02, 0.3)) for side in image.shape[:2]),
    )
    rows, cols = paper.shape[:2]
    table_rows, table_cols = (
        int(side * random.uniform(1.1, 1.5)) for side in (rows, cols)
    )
    corners = np.array([[0, 0], [cols, 0], [cols, rows], [0, rows]], float)
    moved = corners - [cols / 2, rows / 2]
    if turned:
        angle = np.deg2rad(random.uniform(2, 15) * random.choice([-1, 1]))
        moved = moved @ np.array(
            [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        )
        moved *= 1 + random.uniform(-0.06, 0.06, (4, 1))
    moved *= min(
        1, *(0.97 * np.array([table_cols, table_rows]) / np.ptp(moved, axis=0))
    )
    free = np.array([table_cols, table_rows]) - np.ptp(moved, axis=0)
    moved += free * random.uniform(0.1, 0.9, 2) - moved.min(axis=0)
    matrix = cv2.getPerspectiveTransform(
        corners.astype(np.float32), moved.astype(np.float32)
    )
    size = table_cols, table_rows
    coverage = cv2.warpPerspective(np.ones((rows, cols, 1), np.float32), matrix, size)[
        ..., None
    ]
    shadow = cv2.GaussianBlur(np.roll(coverage[..., 0], (4, 5), (0, 1)), (0, 0), 5)[
        ..., None
    ]
    table = draw_table(table_rows, table_cols, random, colours) * (1 - 0.35 * shadow)
    if glare:
        corner = moved[random.integers(4)]
        spot = _draw_spot(table.shape, corner[::-1], random.uniform(0.05, 0.15))
        table += glare * spot * (250 - table)
    picture = cv2.warpPerspective(paper, matrix, size) * coverage + table * (
        1 - coverage
    )
    light = 1 + np.linspace(-0.12, 0.12, table_cols)[None, :, None] * random.choice(
        [-1, 1]
    )
    leaf = (
        cv2.warpPerspective(paper_mask.astype(np.uint8) * np.uint8(255), matrix, size)
        > 127
    )
    return np.clip(picture * light, 0, 255).astype(np.uint8), leaf


def put_beside_charts(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put a chart of colours beside the leaf, and one of greys above or below it."""
    rows, cols = image.shape[:2]
    longest = max(rows, cols)
    width, height, gap = int(0.16 * longest), int(0.1 * longest), int(0.03 * cols)
    picture, leaf = _extend(image, mask, 0, 0, below=height + gap, right=width + gap)
    for row, top in enumerate(np.linspace(0, rows, 8)[:-1].astype(int)):
        for left in (cols + gap, cols + gap + width // 2):
            colour = random.integers(0, 256, 3) if row < 6 else 240
            picture[top : top + rows // 7 - 2, left : left + width // 2 - 2] = colour
    for step, left in enumerate(
        np.linspace(0.1 * cols, 0.95 * cols, 13)[:-1].astype(int)
    ):
        picture[rows + gap :, left : left + int(0.85 * cols / 12)] = 20 + int(
            220 * step / 12
        )
    flips = [slice(None, None, -1 if random.random() < 0.5 else 1) for _ in range(2)]
    return np.ascontiguousarray(picture[tuple(flips)]), np.ascontiguousarray(
        leaf[tuple(flips)]
    )


def put_beside_checker(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put a card with 24 colours on black beside the leaf."""
    side = int(0.05 * max(image.shape[:2]))
    picture, leaf = _extend(image, mask, 10, 10, right=6 * side + 40)
    top = int(random.integers(5, max(6, picture.shape[0] - 4 * side - 5)))
    left = image.shape[1] + 30
    picture[top : top + 4 * side, left : left + 6 * side] = 30
    for row, col in np.ndindex(4, 6):
        square = (
            slice(top + row * side + 3, top + (row + 1) * side - 3),
            slice(left + col * side + 3, left + (col + 1) * side - 3),
        )
        picture[square] = random.integers(0, 256, 3)
    return picture, leaf


def put_beside_ruler(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put a ruler below the leaf."""
    rows, cols = image.shape[:2]
    height = int(0.07 * max(rows, cols))
    picture, leaf = _extend(image, mask, 0, 0, below=height + 10)
    picture[rows + 8 : rows + 8 + height, 5 : cols - 5] = _RULERS[
        random.integers(len(_RULERS))
    ]
    for col in range(5, cols - 5, 6):
        picture[rows + 8 : rows + 8 + height // (2 if col % 30 == 5 else 4), col] = 10
    return picture, leaf


def put_beside_wedge(image: Image, mask: Mask, random: Generator) -> Altered:
    """Make the leaf pale, and put a wedge of greys without gaps below it."""
    rows, cols = image.shape[:2]
    height = int(random.uniform(0.06, 0.12) * max(rows, cols))
    sheet = np.array(find_sheet_colour(image))
    share = soften(mask) * random.uniform(0.3, 0.6)
    pale = (image * (1 - share) + sheet * share).astype(np.uint8)
    picture, leaf = _extend(pale, mask, 0, 0, below=height + 12)
    steps = np.linspace(15, 250, int(random.integers(8, 20)))
    left = int(random.uniform(0.02, 0.2) * cols)
    wedge = np.repeat(steps, -(-(cols - left) // len(steps)))[: cols - left]
    picture[rows + 4 : rows + 4 + height, left:] = wedge[None, :, None]
    return picture, leaf


def darken_leaf(image: Image, mask: Mask, random: Generator) -> Altered:
    """Make the leaf nearly black, with little colour."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[..., None]
    faded = random.uniform(0.3, 0.9) * (grey - image.astype(float)) + image
    share = soften(mask)
    dark = faded * random.uniform(0.2, 0.5)
    return (image * (1 - share) + dark * share).astype(np.uint8), mask


def put_beside_glare(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf on glossy card, beside the reflection of a lamp."""
    colour = _GLOSSY[random.integers(len(_GLOSSY))]
    picture = put_on_card(image, mask, colour, random).astype(float)
    depth = cv2.distanceTransform((~mask).view(np.uint8), cv2.DIST_L2, 5)
    size = random.uniform(0.03, 0.08)
    is_free = depth > min(2 * size * max(mask.shape), 0.9 * depth.max())
    place = random.choice(np.argwhere(is_free))
    spot = _draw_spot(picture.shape, place, size) * ~mask[..., None]
    picture += random.uniform(0.5, 1) * spot * (250 - picture)
    return picture.astype(np.uint8), mask


def put_beside_leaf(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put a smaller leaf beside the leaf, 4 to 16 pixels away."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    scale = random.uniform(0.6, 0.85)
    small = cv2.resize(
        image[row0:row1, col0:col1], None, fx=scale, fy=scale, interpolation=3
    )
    small_mask = cv2.resize(
        mask[row0:row1, col0:col1].view(np.uint8), small.shape[1::-1], interpolation=3
    ).view(bool)
    small, small_mask = small[::-1], small_mask[::-1]
    rows, cols = small_mask.shape
    picture, leaf = _extend(image, mask, 0, 0, right=cols + 20)
    top = row0 + (row1 - row0 - rows) // 2
    # The smallest gap in any row, were the small leaf at the right border.
    last = np.where(leaf, np.arange(leaf.shape[1]), -1).max(axis=1)[top : top + rows]
    first = np.where(small_mask.any(axis=1), small_mask.argmax(axis=1), cols)
    gap = int(random.integers(4, 17))
    left = int((last - first)[small_mask.any(axis=1)].max()) + gap
    share = soften(small_mask)
    place = np.s_[top : top + rows, left : left + cols]
    picture[place] = small * share + picture[place] * (1 - share)
    return picture, leaf


def cut_off(image: Image, mask: Mask, _random: Generator) -> Altered:
    """Cut off a quarter of the leaf's length, at the lower border."""
    rows = np.flatnonzero(mask.any(axis=1))
    end = int(rows[-1] - 0.25 * np.ptp(rows))
    return image[:end].copy(), mask[:end].copy()


def put_far_away(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf somewhere on a sheet of three times the size."""
    rows, cols = image.shape[:2]
    above, before = int(random.integers(2 * rows)), int(random.integers(2 * cols))
    colour = find_sheet_colour(image)
    borders = above, 2 * rows - above, before, 2 * cols - before
    picture = cv2.copyMakeBorder(image, *borders, cv2.BORDER_CONSTANT, value=colour)
    return picture, np.pad(mask, (borders[:2], borders[2:]))


def shade_half(image: Image, mask: Mask, random: Generator) -> Altered:
    """Cast the shade of a wall across leaf and sheet: 30 to 75 % of the light."""
    rows, cols = np.nonzero(mask)
    angle = random.uniform(0, 2 * np.pi)
    row, col = np.mgrid[: mask.shape[0], : mask.shape[1]]
    distance = (row - rows.mean()) * np.sin(angle) + (col - cols.mean()) * np.cos(angle)
    reach = np.hypot(np.ptp(rows), np.ptp(cols)) / 2
    distance -= random.uniform(-0.25, 0.25) * reach
    share = np.clip(distance / random.uniform(0.5, 6) + 0.5, 0, 1)[..., None]
    light = random.uniform(0.3, 0.75)
    return make_image(image * (light + (1 - light) * share)), mask


def put_together(
    leaves: Sequence[Altered], random: Generator
) -> tuple[Image, list[Mask]]:
    """Put leaves side by side on the sheet of the first; four in two rows.

    They are turned, and 0.6 to 1 times as large.
    """
    turned = [_turn(*leaf, random) for leaf in leaves]
    n_cols = 2 if len(leaves) == 4 else len(leaves)
    height, width = (
        max(mask.shape[axis] for _, mask in turned) + _LEAF_GAP for axis in (0, 1)
    )
    size = len(leaves) // n_cols * height, n_cols * width
    picture = np.full((*size, 3), find_sheet_colour(leaves[0][0])) + random.normal(
        0, 2, (*size, 3)
    )
    masks = []
    for number, (image, mask) in enumerate(turned):
        cell = np.array([number // n_cols * height, number % n_cols * width])
        top, left = cell + random.integers(0, np.array([height, width]) - mask.shape)
        place = np.s_[top : top + mask.shape[0], left : left + mask.shape[1]]
        share = soften(mask)
        picture[place] = image * share + picture[place] * (1 - share)
        masks.append(np.zeros(size, bool))
        masks[-1][place] = mask
    return np.clip(picture, 0, 255).astype(np.uint8), masks


#: All alterations of one picture, by name.
ALTERATIONS: dict[str, Callable[[Image, Mask, Generator], Altered]] = {
    "paper, turned": put_on_paper,
    "paper, straight": lambda image, mask, random: put_on_paper(
        image, mask, random, turned=False
    ),
    "charts": put_beside_charts,
    "checker": put_beside_checker,
    "ruler": put_beside_ruler,
    "dark card": lambda image, mask, random: (
        put_on_card(image, mask, (45, 45, 48), random),
        mask,
    ),
    "blue card": lambda image, mask, random: (
        put_on_card(image, mask, (170, 90, 30), random),
        mask,
    ),
    "cut off": cut_off,
    "bright table": lambda image, mask, random: put_on_paper(
        image, mask, random, turned=random.random() < 0.5, colours=BRIGHT_TABLES
    ),
    "lamp on table": lambda image, mask, random: put_on_paper(
        image, mask, random, turned=random.random() < 0.5, glare=random.uniform(0.5, 1)
    ),
    "pale, wedge": put_beside_wedge,
    "dark leaf": darken_leaf,
    "glare": put_beside_glare,
    "neighbour": put_beside_leaf,
    "far away": put_far_away,
    "half shade": shade_half,
}


def find_sheet_colour(image: Image) -> list[float]:
    """Find the usual colour of the upper and lower border, BGR."""
    border = np.concatenate([image[:3].reshape(-1, 3), image[-3:].reshape(-1, 3)])
    return np.median(border, axis=0).tolist()


def _turn(image: Image, mask: Mask, random: Generator) -> Altered:
    """Cut a leaf out, turned by any angle, with its longer side up to `_LEAF_SIDE`."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    scale = random.uniform(0.6, 1) * _LEAF_SIDE / max(row1 - row0, col1 - col0)
    matrix = cv2.getRotationMatrix2D(
        ((col0 + col1) / 2, (row0 + row1) / 2), random.uniform(0, 360), scale
    )
    side = int(scale * np.hypot(row1 - row0, col1 - col0)) + 8
    matrix[:, 2] += side / 2 - np.array([col0 + col1, row0 + row1]) / 2
    smooth = cv2.GaussianBlur(image, (0, 0), 0.4 / scale) if scale < 1 else image
    turned = cv2.warpAffine(smooth, matrix, (side, side))
    leaf = (
        cv2.warpAffine(mask.astype(np.uint8) * np.uint8(255), matrix, (side, side))
        > 127
    )
    row0, row1, col0, col1 = find_bounding_box(leaf)
    box = np.s_[max(row0 - 4, 0) : row1 + 4, max(col0 - 4, 0) : col1 + 4]
    return turned[box], leaf[box]


def _extend(
    image: Image, mask: Mask, rows: int, cols: int, *, below: int = 0, right: int = 0
) -> Altered:
    """Extend the sheet by rows and columns on all sides, more below and right."""
    borders = rows, rows + below, cols, cols + right
    picture = cv2.copyMakeBorder(
        image, *borders, cv2.BORDER_CONSTANT, value=find_sheet_colour(image)
    )
    return picture, np.pad(mask, (borders[:2], borders[2:]))


def soften(mask: Mask) -> np.ndarray:
    """Give a mask a soft edge, float (H, W, 1)."""
    return cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.8)[..., None]


def _draw_spot(shape: Sequence[int], place: Sequence[float], size: float) -> np.ndarray:
    """Draw the reflection of a lamp, float (H, W, 1), at a row and column."""
    rows, cols = np.ogrid[: shape[0], : shape[1]]
    distance = np.hypot(rows - place[0], cols - place[1]) / (size * max(shape[:2]))
    return np.exp(-(distance**4))[..., None]


def draw_table(
    rows: int,
    cols: int,
    random: Generator,
    colours: Sequence[Sequence[float]] = TABLES,
) -> np.ndarray:
    """Draw wood, or stone, float (rows, cols, 3)."""
    waves = np.linspace(0, random.uniform(8, 30), rows)[:, None]
    waves = waves + 12 * cv2.GaussianBlur(random.normal(0, 1, (rows, cols)), (0, 0), 25)
    fibres = cv2.GaussianBlur(
        random.normal(0, 1, (rows, cols)), (0, 0), sigmaX=6, sigmaY=0.7
    )
    grain = (
        random.uniform(3, 12) * np.sin(2 * np.pi * waves)
        + random.uniform(10, 40) * fibres
    )
    light = 1 + np.linspace(-0.15, 0.15, cols)[None] * random.choice([-1, 1])
    colour = random.choice(np.array(colours, float))
    return np.asarray((colour + grain[..., None]) * light[..., None])
