"""The scale of a picture from a table or from a thing of known size in it.

Drawings of known size.
"""

import json

import cv2
import numpy as np
import pytest
import shapely.geometry

from tests.drawing.leaves import Form, draw_leaf

ROWS, COLS = 900, 1300
TABLE, SHEET = (50, 75, 95), (246, 246, 246)
MM_PER_PIXEL = 0.2
# Four times as large while they are drawn.
FINE = 4


def fill(picture, points, colour):
    """Fill an outline, columns and rows, with smooth edges."""
    large = cv2.resize(picture, None, fx=FINE, fy=FINE, interpolation=cv2.INTER_NEAREST)
    corners = np.rint(np.array(points) * FINE * 16).astype(np.int32)
    cv2.fillPoly(large, [corners], colour, cv2.LINE_AA, 4)
    return cv2.resize(large, picture.shape[1::-1], interpolation=cv2.INTER_AREA)


def draw_disc(column, row, radius, factor=1.0):
    angles = np.linspace(0, 2 * np.pi, 200)
    return np.stack(
        [column + radius * np.cos(angles), row + factor * radius * np.sin(angles)], 1
    )


def draw_card(width, height, angle, column=1000, row=480):
    """Draw the outline of a card with round corners, 3 mm in radius, in pixels."""
    arcs = []
    for turn in range(4):
        towards = np.exp(1j * np.pi / 2 * np.linspace(turn, turn + 1, 9))
        sides = (1, 1), (-1, 1), (-1, -1), (1, -1)
        corner = complex(*np.multiply(sides[turn], (width / 2 - 3, height / 2 - 3)))
        arcs.append(corner + 3 * towards)
    points = np.concatenate(arcs) * np.exp(1j * angle) / MM_PER_PIXEL
    return np.stack([points.real + column, points.imag + row], axis=1)


def put_ring_on_cloth(leaf):
    """Put a leaf on green cloth, beside a coin with a dark ring."""
    cloth = np.where((leaf == SHEET).all(axis=2, keepdims=True), (60, 110, 60), leaf)
    radius = 23.25 / 2 / MM_PER_PIXEL
    coin = fill(cloth.astype(np.uint8), draw_disc(1000.3, 300.6, radius), (80, 95, 105))
    return fill(coin, draw_disc(1000.3, 300.6, 0.76 * radius), (165, 170, 175))


def tilt(picture, border=SHEET):
    """Show a picture as a camera sees it that isn't above its middle."""
    edges = np.float32([[0, 0], [COLS, 0], [COLS, ROWS], [0, ROWS]])
    seen = np.float32([[130, 50], [1200, 20], [1280, 870], [30, 890]])
    matrix = cv2.getPerspectiveTransform(edges, seen)
    return cv2.warpPerspective(
        picture, matrix, (COLS, ROWS), flags=cv2.INTER_AREA, borderValue=border
    )


@pytest.fixture(scope="module")
def leaf():
    picture = np.full((ROWS, COLS, 3), SHEET, np.uint8)
    drawn = draw_leaf(Form(0.5, 0.7, 0.5, petiole=0.2), 0, 0.3).picture
    drawn = np.minimum(drawn, 246)
    picture[80 : 80 + len(drawn), 90 : 90 + drawn.shape[1]] = drawn
    return picture


@pytest.fixture(scope="module")
def pictures(leaf, tmp_path_factory):
    """Pictures of one leaf beside or on things of known size."""
    disc = draw_disc(1000.3, 300.6, 23.25 / 2 / MM_PER_PIXEL)
    shadow = draw_disc(1004, 304, 23.25 / 2 / MM_PER_PIXEL)
    card = fill(leaf, draw_card(85.6, 53.98, 0.4), (170, 110, 50))
    folder = tmp_path_factory.mktemp("scales")
    rng = np.random.default_rng(0)
    round_leaf = draw_disc(1000, 640, 110)
    for name, picture in {
        "plain": leaf,
        "coin": fill(fill(leaf, shadow, (205, 205, 205)), disc, (110, 135, 150)),
        "ring": put_ring_on_cloth(leaf),
        "oval": fill(leaf, draw_disc(1000, 300, 60, 0.8), (110, 135, 150)),
        "coins": fill(
            fill(leaf, disc, (60, 90, 140)), draw_disc(1000, 600, 48), (60, 90, 140)
        ),
        "card": card,
        "tilted": tilt(card),
        "sheet": tilt(leaf, TABLE),
        "flat": cv2.copyMakeBorder(
            leaf, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=TABLE
        ),
        "round": fill(leaf, round_leaf, (50, 130, 70)),
        "round coin": fill(
            fill(leaf, round_leaf, (50, 130, 70)), disc, (110, 135, 150)
        ),
        "autumn": fill(leaf, round_leaf, (40, 30, 170)),
    }.items():
        noisy = (picture + rng.normal(0, 2, picture.shape)).clip(0, 255)
        cv2.imwrite(str(folder / f"{name}.png"), noisy.astype(np.uint8))
    return folder


@pytest.fixture
def measure(cli, pictures):
    def run(name, *words, status=0):
        file = pictures / f"{name}.png"
        options = ("--assume-type", "scan-like", "--jobs", 1, "--format", "json")
        outcome = cli("measure", file, *options, *words)
        assert outcome.status == status, outcome.err
        return outcome

    return run


@pytest.mark.parametrize(
    ("name", "thing", "confidence"),
    [
        ("coin", "coin:23.25", 0.8),
        ("card", "card:85.6x53.98", 0.95),
        ("card", "card:53.98×85.6", 0.95),
    ],
)
def test_a_thing_beside_the_leaf(measure, pictures, tmp_path, name, thing, confidence):
    [expected] = measure("plain", "--mm-per-pixel", MM_PER_PIXEL).json
    words = ("--each-leaf", "--scale-from", thing, "--overlay", tmp_path)
    [row] = measure(name, *words).json
    assert row["verdict"] == expected["verdict"] == "leaf"
    assert row["mm_per_pixel"] == pytest.approx(MM_PER_PIXEL, rel=0.01)
    assert row["length"] == pytest.approx(expected["length"], rel=0.01)
    assert row["area"] == pytest.approx(expected["area"], rel=0.02)
    sure = row["mm_per_pixel_confidence"]
    assert confidence < sure <= 1
    # Lengths are as sure as the scale, and ratios as the leaf is.
    for measure_name, factor in (("length", sure), ("area", sure), ("aspect", 1)):
        name_of_confidence = f"{measure_name}_confidence"
        assert row[name_of_confidence] == pytest.approx(
            factor * expected[name_of_confidence], rel=0.02
        )
    # Red around the leaf, blue around the thing.
    drawing = cv2.imread(str(tmp_path / f"{name}_overlay.jpg")).astype(int)
    assert drawing.shape == (ROWS, COLS, 3)
    blue, _, red = np.moveaxis(drawing - drawing.min(axis=2, keepdims=True), 2, 0)
    assert (
        np.argwhere(red > 150)[:, 1].max() < 700 < np.argwhere(blue > 150)[:, 1].min()
    )


@pytest.mark.parametrize(
    ("name", "thing"), [("tilted", "card:85.6x53.98"), ("sheet", "sheet:260x180")]
)
def test_a_tilted_picture_is_seen_from_above(measure, name, thing):
    [expected] = measure("plain", "--mm-per-pixel", MM_PER_PIXEL).json
    [row] = measure(name, "--scale-from", thing).json
    for measure_name in ("length", "width", "area"):
        assert row[measure_name] == pytest.approx(expected[measure_name], rel=0.02)
    assert 0.5 < row["mm_per_pixel_confidence"] < 0.95
    # Outlines and places are those of the unaltered picture.
    shapes = [
        shapely.geometry.shape(
            json.loads(measure(name, *words, "--format", "geojson").out)["features"][0][
                "geometry"
            ]
        )
        for words in (("--scale-from", thing), ("--mm-per-pixel", 1))
    ]
    assert shapes[0].is_valid
    tip = shapely.Point(row["tip_column"], row["tip_row"])
    assert shapes[0].distance(tip) < 5
    common, joined = shapes[0].intersection(shapes[1]), shapes[0].union(shapes[1])
    assert common.area > 0.97 * joined.area


def test_a_coin_has_the_size_of_its_rim(measure):
    """Its inner ring stands out from cloth by more."""
    [row] = measure("ring", "--scale-from", "coin:23.25").json
    assert row["mm_per_pixel"] == pytest.approx(MM_PER_PIXEL, rel=0.01)


def test_a_round_leaf_is_no_coin(measure):
    [row] = measure("round coin", "--scale-from", "coin:23.25").json
    assert row["mm_per_pixel"] == pytest.approx(MM_PER_PIXEL, rel=0.01)


def test_a_scale_that_cannot_be_told(measure):
    for name, thing, problem in (
        ("plain", "coin:23.25", "expected a coin whose whole outline is seen, found"),
        ("oval", "coin:23.25", "expected a coin whose whole outline is seen, found"),
        ("coins", "coin:23.25", "expected one coin, found several of different sizes"),
        ("coin", "card:85.6x54", "expected a card whose whole outline is seen, found"),
        ("card", "card:85x20", "expected a card whose whole outline is seen, found"),
        ("plain", "sheet:297x210", "expected a sheet whose whole outline is seen, fo"),
        # A round leaf is no coin.
        ("round", "coin:23.25", "expected a coin whose whole outline is seen, found"),
        ("autumn", "coin:23.25", "expected a coin whose whole outline is seen, found"),
        # The ratio of the sides is another, as that of Letter and A4 is.
        (
            "flat",
            "sheet:243x186",
            "expected a sheet whose whole outline is seen, found",
        ),
    ):
        outcome = measure(name, "--scale-from", thing, status=1)
        assert f"{name}.png: {problem}" in outcome.err
    for word, problem in (
        ("coin:1o", "expected a number from 0 to 100000, found '1o'"),
        ("coin:0", "or sheet:MMxMM, with sizes above 0, found 'coin:0'"),
        ("coin:1x2", "or sheet:MMxMM, with sizes above 0, found 'coin:1x2'"),
        ("ruler:100", "or sheet:MMxMM, with sizes above 0, found 'ruler:100'"),
        ("1,2,1,2,3", "expected two different points and their distance as"),
    ):
        outcome = measure("plain", "--scale-from", word, status=2)
        assert "--scale-from: expected " in outcome.err
        assert problem in outcome.err


def test_scales_from_a_table(cli, pictures, tmp_path):
    table = tmp_path / "scales.csv"
    table.write_text("note;File;DPI\na;coin.png;254\nb;card;508\n;elsewhere.png;100\n")
    files = [pictures / f"{name}.png" for name in ("coin", "card", "plain")]
    words = ("--assume-type", "scan", "--jobs", 1, "--format", "csv")
    outcome = cli("measure", *files, *words, "--scale", table, "--unit", "cm")
    scales = [(row["unit"], row["mm_per_pixel"]) for row in outcome.rows]
    assert scales == [("cm", "0.1"), ("cm", "0.05"), ("px", "")]
    assert "plain.png: the table of scales has no row for it" in outcome.err
    assert "ignored 1 row without a picture, 'elsewhere.png' first" in outcome.err
    assert "1 of 3 leaves are in pixels, whose size is unknown" in outcome.err
    pixels = cli("measure", files[0], *words).rows[0]
    [row, *_] = outcome.rows
    for name, power in (("length", 1), ("area", 2), ("perimeter", 1)):
        expected = float(pixels[name]) * 0.01**power
        assert float(row[name]) == pytest.approx(expected, rel=1e-4)
    table.write_text("file,mm_per_pixel\na.png,x\na.png,0.1\nb.png,0.1\nb.png,0.2\n")
    outcome = cli("measure", *files, *words, "--scale", table)
    assert outcome.status == 1
    assert f"{table}:2: a.png: mm_per_pixel: expected a number from 0" in outcome.err
    assert f"{table}:5: expected every picture once, found 'b.png'" in outcome.err
    for content in ("", "file,size\na,1\n", "file,dpi,mm_per_pixel\na,1,1\n"):
        table.write_text(content)
        outcome = cli("measure", *files, *words, "--scale", table)
        assert (outcome.status, outcome.out) == (1, "")
        assert f"{table}:1: expected the columns file, and mm_per" in outcome.err
