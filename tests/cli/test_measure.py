"""``leafid measure``, and ``--each-leaf`` of other commands, on drawn leaves."""

import json

import cv2
import numpy as np
import pytest
import shapely.geometry
from PIL import ExifTags, Image
from pycocotools import mask as encoding
from pycocotools.coco import COCO

from leafid.pictures.resolution import read_mm_per_pixel
from tests.drawing.leaves import Form, draw_leaf

FORMS = (
    Form(0.66, 0.6, 0.72, petiole=0.2),
    Form(1.0, 1.0, 1.0, palmate_lobes=5, petiole=0.9),
)


def draw_sheet(*sizes):
    """Draw leaves side by side, each in a square of its number of pixels."""
    sheet = np.full((700, 700 * len(sizes), 3), 250, np.uint8)
    for index, size in enumerate(sizes):
        picture = draw_leaf(FORMS[index % 2], 0, 0).picture
        factor = size / max(picture.shape)
        leaf = cv2.resize(
            picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA
        )
        sheet[
            20 : 20 + len(leaf), 700 * index + 20 : 700 * index + 20 + leaf.shape[1]
        ] = leaf
    return sheet


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A scan of one leaf, and one of three, the second of which is the largest."""
    folder = tmp_path_factory.mktemp("scans")
    for name, sizes in {"one.png": [650], "three.png": [300, 650, 420]}.items():
        cv2.imwrite(str(folder / name), draw_sheet(*sizes))
    return folder


@pytest.fixture
def measure(cli, scans):
    def run(*words, status=0):
        outcome = cli("measure", *words, "--assume-type", "scan", "--jobs", 1)
        assert outcome.status == status, outcome.err
        return outcome

    return run


def test_a_row_a_leaf(measure, scans):
    outcome = measure(scans, "--each-leaf", "--mm-per-pixel", 0.2, "--format", "csv")
    one, *three = outcome.rows
    assert [(row["leaf"], row["leaves"]) for row in (one, *three)] == [
        ("1", "1"),
        *((n, "3") for n in "123"),
    ]
    areas = [float(row["area"]) for row in three]
    assert areas == sorted(areas, reverse=True)
    assert float(three[0]["solidity"]) < 0.8 < float(three[1]["solidity"])
    # The same drawing is in both.
    assert areas[1] / float(one["area"]) == pytest.approx((420 / 650) ** 2, rel=0.05)


def test_the_largest_leaf_is_measured(measure, scans):
    every_leaf = measure(scans / "three.png", "--each-leaf", "--format", "csv").rows
    outcome = measure(scans / "three.png", "--format", "csv")
    [row] = outcome.rows
    # The answer to a picture of several leaves is not that to one of them.
    is_judged = {name for name in row if name == "verdict" or "confidence" in name}
    for name in row.keys() - is_judged:
        assert row[name] == every_leaf[0][name], name
    assert "three.png: 3 leaves; the largest is measured (--each-leaf)" in outcome.err


@pytest.mark.parametrize(
    ("words", "mm"),
    [
        (["--dpi", 254], 0.1),
        (["--mm-per-pixel", 0.25], 0.25),
        (["--scale-from", "10,20,40,60,5"], 0.1),
    ],
)
def test_scales(measure, scans, words, mm):
    [pixels] = measure(scans / "one.png", "--format", "json").json
    [row] = measure(scans / "one.png", "--format", "json", *words).json
    assert (pixels["unit"], row["unit"], row["mm_per_pixel"]) == ("px", "mm", mm)
    assert row["length"] == pytest.approx(mm * pixels["length"], rel=1e-5)
    assert row["area"] == pytest.approx(mm**2 * pixels["area"], rel=1e-5)


def test_points_outside_a_picture(measure, scans):
    height, width = cv2.imread(str(scans / "one.png")).shape[:2]
    outcome = measure(
        scans / "one.png", "--scale-from", f"0,{height},0,{height + 1},5", status=1
    )
    assert (
        f"one.png: --scale-from: expected points inside the picture of {width} × "
        f"{height} pixels, found [0.0, " in outcome.err
    )
    measure(scans / "one.png", "--scale-from", f"0,{height},{width},{height},5")


def test_a_leaf_that_is_cut_off(measure, scans, tmp_path):
    scan = cv2.imread(str(scans / "one.png"))
    cv2.imwrite(str(tmp_path / "half.png"), scan[:, : scan.shape[1] // 2])
    outcome = measure(tmp_path / "half.png", "--format", "csv")
    [row] = outcome.rows
    assert "half.png: leaf 1 is cut off by the border" in outcome.err
    assert float(row["cut"]) > 20


def test_what_is_no_leaf_for_predict_is_none_for_measure(measure, cli, tmp_path):
    paper = np.full((500, 400, 3), (70, 90, 110), np.uint8)
    cv2.rectangle(paper, (60, 80), (330, 420), (245, 245, 245), -1)
    for row in range(110, 400, 20):
        cv2.putText(paper, "herbarium, 1872", (80, row), 0, 0.6, (60, 60, 60))
    cv2.imwrite(str(tmp_path / "paper.png"), paper)
    leaf = draw_sheet(650)
    cv2.imwrite(str(tmp_path / "leaf.png"), leaf)
    outcome = measure(tmp_path, "--format", "csv")
    words = ("--assume-type", "scan", "--format", "json", "--jobs", 1)
    answers = cli("predict", tmp_path, *words).json
    spoken = {"no-leaf": "no leaf", "unclear": "unclear"}
    assert [row["verdict"] for row in outcome.rows] == [
        spoken.get(answer["verdict"], "leaf") for answer in answers
    ]
    [row] = [row for row in outcome.rows if row["picture"].endswith("paper.png")]
    assert row["verdict"] == "no leaf"
    confidences = [row[name] for name in row if "confidence" in name]
    assert max(map(float, filter(None, confidences))) < 0.5
    assert "paper.png: leaf 1 is no leaf as predict and explain say" in outcome.err


def make_exif(dpi=None, unit=2, **tags):
    """Make an EXIF block with a resolution and tags by their names."""
    exif = Image.Exif()
    if dpi:
        exif[282] = exif[283] = dpi
        exif[296] = unit
    for name, value in tags.items():
        place = exif if name in {"Make", "Model"} else exif.get_ifd(0x8769)
        place[getattr(ExifTags.Base, name)] = value
    return exif


def test_the_resolution_of_a_scan(measure, cli, scans, tmp_path):
    picture = Image.open(scans / "one.png")
    for name, keywords in {
        "scanner.jpg": {"dpi": (300, 300)},
        "program.jpg": {"dpi": (72, 72)},
        "fax.jpg": {"dpi": (204, 98)},
        "nothing.jpg": {},
        "centimetres.jpg": {"exif": make_exif(200 / 2.54, unit=3)},
        "perfection.tif": {"dpi": (600, 600), "tiffinfo": {271: "EPSON", 272: "V600"}},
        "canoscan.jpg": {"exif": make_exif(150, Make="Canon", Model="CanoScan 9000F")},
        "exposed.jpg": {"dpi": (300, 300), "exif": make_exif(ExposureTime=0.01)},
        "eos.jpg": {"exif": make_exif(180, Make="Canon", Model="Canon EOS 80D")},
        "phone.png": {"dpi": (300, 300), "exif": make_exif(Make="Fairphone")},
        "camera.tif": {"dpi": (240, 240), "tiffinfo": {271: "NIKON", 272: "D90"}},
        "edited.jpg": {"dpi": (96, 96), "exif": make_exif(400)},
        "stale.jpg": {"dpi": (150, 150), "exif": make_exif(300)},
    }.items():
        picture.save(tmp_path / name, **keywords)
    readings = {file.stem: read_mm_per_pixel(file) for file in tmp_path.iterdir()}
    resolutions = {
        name: round(25.4 / size) for name, (size, _) in readings.items() if size
    }
    assert resolutions == {
        "scanner": 300,
        "centimetres": 200,
        "perfection": 600,
        "canoscan": 150,
        "edited": 400,
        "stale": 150,
    }
    assert {name: remark for name, (_, remark) in readings.items() if remark} == {
        "exposed": "300 dpi are by a camera (it has an exposure), and say no size",
        "eos": "180 dpi are by a camera (Canon Canon EOS 80D), and say no size",
        "phone": "300 dpi are by a camera (Fairphone), and say no size",
        "camera": "240 dpi are by a camera (NIKON D90), and say no size",
        "edited": "400 dpi by EXIF are taken, not 96 by JFIF",
        "stale": "150 dpi by JFIF are taken, not 300 by EXIF",
    }
    outcome = measure(tmp_path / "scanner.jpg", "--format", "csv")
    assert "by the resolution in the files (300 dpi)" in outcome.err
    [row] = outcome.rows
    assert (row["unit"], row["mm_per_pixel"]) == ("mm", "0.0846667")
    # It may have been resized, unlike a picture as large as a page.
    assert row["mm_per_pixel_confidence"] == "0.5"
    assert float(row["length_confidence"]) < float(row["aspect_confidence"])
    pages = {"a4": (1169, 827), "letter": (850, 1100), "half": (584, 413)}
    for name, size in pages.items():
        picture.convert("RGB").resize(size).save(
            tmp_path / f"{name}.png", dpi=(100, 100)
        )
    files = [tmp_path / f"{name}.png" for name in pages]
    rows = measure(*files, "--format", "csv").rows
    sure = [float(row["mm_per_pixel_confidence"]) for row in rows]
    assert sure == [1, 1, 0.5]
    outcome = measure(tmp_path / "eos.jpg", tmp_path / "stale.jpg", "--format", "csv")
    assert [row["unit"] for row in outcome.rows] == ["px", "mm"]
    assert "eos.jpg: 180 dpi are by a camera" in outcome.err
    assert "stale.jpg: 150 dpi by JFIF are taken, not 300 by EXIF" in outcome.err
    # A phone holds a sheet of paper at any distance.
    [row] = cli(
        "measure",
        tmp_path / "scanner.jpg",
        "--assume-type",
        "scan-like",
        "--format",
        "csv",
    ).rows
    assert row["unit"] == "px"


@pytest.fixture(scope="module")
def holed(scans):
    """The scan of three leaves with holes in each, two of which meet at a corner."""
    scan = draw_sheet(300, 650, 420)
    for row, column in ((150, 110), (307, 988), (205, 1546)):
        for shift in (-20, 0):
            scan[row + shift :, column + shift :][:20, :20] = 250
    file = scans.parent / "holed.png"
    cv2.imwrite(str(file), scan)
    return file


def test_outlines_as_geojson(measure, holed, tmp_path):
    file = tmp_path / "leaves.geojson"
    measure(holed, "--each-leaf", "--format", "geojson", "--output", file)
    features = json.loads(file.read_text())["features"]
    assert len(features) == 3
    for feature in features:
        outline = shapely.geometry.shape(feature["geometry"])
        assert outline.is_valid
        assert outline.area == feature["properties"]["area"]
        # The standard, RFC 7946, has outlines run counter-clockwise, and holes
        # clockwise.
        assert all(
            part.exterior.is_ccw and not any(hole.is_ccw for hole in part.interiors)
            for part in outline.geoms
        )
        holes = [hole for part in outline.geoms for hole in part.interiors]
        hole_areas = [shapely.Polygon(hole).area for hole in holes]
        assert sum(hole_areas) == feature["properties"]["hole_area"] > 0


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_pixels_as_coco(cli, measure, holed, tmp_path):
    file = tmp_path / "leaves.json"
    words = ("--each-leaf", "--mm-per-pixel", 0.5)
    measure(holed, *words, "--format", "coco", "--output", file)
    rows = measure(holed, *words, "--format", "json").json
    coco = COCO(file)
    annotations = coco.loadAnns(coco.getAnnIds())
    assert [annotation["attributes"] for annotation in annotations] == rows
    assert coco.loadCats(coco.getCatIds()) == [{"id": 1, "name": "leaf"}]
    for annotation in annotations:
        mask = coco.annToMask(annotation)
        assert mask.shape == (700, 2100)
        assert mask.sum() == annotation["area"]
        area = annotation["attributes"]["area"]
        assert area == pytest.approx(annotation["area"] / 4, rel=1e-5)
        left, top, width, height = map(int, annotation["bbox"])
        assert mask[top : top + height, left : left + width].sum() == mask.sum()
        assert encoding.toBbox(coco.annToRLE(annotation)).tolist() == annotation["bbox"]
    assert cli("evaluate-interpretation", file, file).status == 0


def test_the_ending_of_a_file_is_its_format(measure, scans, tmp_path):
    measure(scans / "one.png", "--output", tmp_path / "leaf.json")
    [row] = json.loads((tmp_path / "leaf.json").read_text())
    assert row["leaf"] == 1
    measure(scans / "one.png", "--output", tmp_path / "leaf.txt")
    assert len((tmp_path / "leaf.txt").read_text().splitlines()) == 2


def test_all_leaflets_of_a_compound_leaf(measure, tmp_path):
    cv2.imwrite(
        str(tmp_path / "ash.png"),
        draw_leaf(Form(0.34, 0.8, 1.0, leaflets=5, petiole=0.28), 0, 0).picture,
    )
    measure(tmp_path / "ash.png", "--output", tmp_path / "ash.geojson")
    [feature] = json.loads((tmp_path / "ash.geojson").read_text())["features"]
    properties, parts = feature["properties"], feature["geometry"]["coordinates"]
    corners = np.concatenate([ring for ring, *_ in parts])
    # The drawn leaf is upright.
    assert properties["width"] == pytest.approx(np.ptp(corners[:, 0]), rel=0.05)


def test_landmarks_are_in_columns_and_rows(measure, tmp_path):
    drawn = draw_leaf(FORMS[1], 0, 0.3)
    cv2.imwrite(str(tmp_path / "leaf.png"), drawn.picture)
    [row] = measure(tmp_path / "leaf.png", "--format", "csv").rows
    for name, place in (("tip", drawn.tip), ("base", drawn.petiole[0])):
        assert [
            float(row[f"{name}_{axis}"]) for axis in ("column", "row")
        ] == pytest.approx(place.tolist(), abs=20)


def test_masks_of_ones_own(cli, measure, scans, tmp_path):
    """Masks, an alpha channel, and what segment writes give the same.

    Inverted masks are noticed.
    """
    words = ("--each-leaf", "--format", "json")
    expected = measure(scans / "three.png", *words).json
    folder = tmp_path / "masks"
    segment = ("--assume-type", "scan", "--each-leaf", "--output", folder)
    cli("segment", scans / "three.png", *segment, "--jobs", 1)
    masked = measure(scans / "three.png", *words, "--masks", folder).json
    # The model is not asked whether what a person marks is a leaf.
    assert [row["verdict"] for row in masked] == [None] * 3
    masks = [
        cv2.imread(str(folder / f"three_leaf-{number}_mask.png"), cv2.IMREAD_GRAYSCALE)
        for number in (1, 2, 3)
    ]
    mask = np.max(masks, axis=0)
    scan = cv2.imread(str(scans / "three.png"))
    (tmp_path / "whole").mkdir()
    cv2.imwrite(str(tmp_path / "whole" / "three.png"), mask)
    whole = measure(scans / "three.png", *words, "--masks", tmp_path / "whole").json
    cv2.imwrite(str(tmp_path / "rgba.png"), np.dstack([scan // 2 + 60, mask]))
    rgba = measure(tmp_path / "rgba.png", *words).json
    grey = Image.merge("LA", [Image.new("L", (2100, 700)), Image.fromarray(mask)])
    grey.save(tmp_path / "masks" / "rgba.png")
    named = measure(tmp_path / "rgba.png", *words, "--masks", tmp_path / "masks").json
    for rows in (masked, whole, rgba, named):
        assert len(rows) == 3
        for row, searched in zip(rows, expected, strict=True):
            assert row["area"] == searched["area"] + searched["hole_area"]
            assert row["length"] == pytest.approx(searched["length"], rel=0.01)
            assert row["area_confidence"] == 1
    # A part that is no more than a stalk is a leaf of its own, however small its blade.
    stalked = np.zeros((700, 700), np.uint8)
    cv2.ellipse(stalked, (350, 250), (120, 200), 0, 0, 360, 255, cv2.FILLED)
    stalked[460:640, 345:353] = 255
    cv2.imwrite(str(tmp_path / "whole" / "one.png"), stalked)
    words = ("--masks", tmp_path / "whole", "--format", "json")
    rows = measure(scans / "one.png", *words, "--each-leaf").json
    assert [row["leaves"] for row in rows] == [2, 2]
    # A photo has no sheet, but its mask is as good.
    photo = ("--assume-type", "photo", "--format", "json", "--masks", folder)
    assert cli("measure", scans / "three.png", *photo).json[0]["leaves"] == 3

    cv2.imwrite(str(tmp_path / "masks" / "one.png"), 255 - mask[:, :700])
    cv2.imwrite(str(tmp_path / "inverted.png"), np.dstack([scan, 255 - mask]))
    for file, words, source in (
        (scans / "one.png", ("--masks", folder), folder / "one.png"),
        (tmp_path / "inverted.png", (), "alpha channel"),
    ):
        outcome = measure(file, *words, status=1)
        assert f"{file}: {source}: mask: expected a leaf inside" in outcome.err
        assert "100% of the border; is the mask inverted?" in outcome.err
    outcome = measure(scans / "one.png", "--masks", tmp_path / "none", status=1)
    assert outcome.err.count("none: expected a folder of masks") == 1


def test_a_list_is_the_dictionary(cli):
    out = cli("measure", "--list").out
    assert "circularity" in out
    assert max(map(len, out.splitlines())) <= 100


def test_bad_input(cli, measure, scans, tmp_path):
    cv2.imwrite(str(tmp_path / "blank.png"), np.full((100, 100, 3), 250, np.uint8))
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    outcome = measure(
        scans / "one.png", tmp_path / "blank.png", tmp_path / "broken.jpg", status=1
    )
    assert "one.png" in outcome.out
    assert "blank.png" not in outcome.out
    assert "blank.png: expected a leaf, found none" in outcome.err
    # A table without rows has its heading.
    words = ("--assume-type", "scan", "--format", "csv", "--jobs", 1)
    without = cli("measure", tmp_path / "blank.png", *words)
    assert (without.status, without.out.count("\n")) == (1, 1)
    assert without.out.startswith("picture,leaf,verdict,unit,")
    assert "broken.jpg" in outcome.err
    outcome = cli("measure", scans / "one.png", "--assume-type", "photo")
    assert outcome.status == 1
    assert "expected leaves on a plain sheet, found a photo" in outcome.err
    for words, message in (
        ([], "the following arguments are required: PICTURE"),
        (
            [scans, "--scale-from", "1,2,3"],
            "expected two different points and their distance as X,Y,X,Y,MM, or coin:",
        ),
        (
            [scans, "--scale-from", "1,2,1,2,5"],
            "expected two different points and their distance as X,Y,X,Y,MM, or coin:",
        ),
        (
            [scans, "--dpi", "0"],
            "expected a number from 0 to 100000 other than 0, found '0'",
        ),
        ([scans, "--dpi", "9", "--mm-per-pixel", "1"], "not allowed with"),
    ):
        outcome = cli("measure", *words)
        assert (outcome.status, outcome.out) == (2, "")
        assert message in outcome.err


def test_every_leaf_is_cut_out(cli, scans, tmp_path):
    outcome = cli(
        "segment",
        scans,
        "--assume-type",
        "scan",
        "--output",
        tmp_path,
        "--each-leaf",
        "--jobs",
        1,
    )
    assert outcome.status == 0, outcome.err
    assert [line.split("  ")[0] for line in outcome.out.splitlines()[1:]] == [
        *(
            "one.png, leaf 1",
            "three.png, leaf 1",
            "three.png, leaf 2",
            "three.png, leaf 3",
        )
    ]
    masks = [
        cv2.imread(str(tmp_path / f"three_leaf-{n}_mask.png"), cv2.IMREAD_GRAYSCALE) > 0
        for n in (1, 2, 3)
    ]
    assert not np.any(np.sum(masks, axis=0) > 1)
    outcome = cli(
        "segment",
        scans / "three.png",
        "--assume-type",
        "scan",
        "--output",
        tmp_path,
        "--jobs",
        1,
    )
    assert "three.png: 3 leaves; the largest is cut out (--each-leaf)" in outcome.err
    assert np.array_equal(
        cv2.imread(str(tmp_path / "three_mask.png"), cv2.IMREAD_GRAYSCALE) > 0, masks[0]
    )


def test_every_leaf_is_named(predict, scans):
    words = ("--assume-type", "scan", "--format", "json")
    answers = predict(scans, *words, "--each-leaf").json
    files = [answer["picture"].rsplit("/", 1)[1] for answer in answers]
    assert files == ["one.png", *(f"three-leaf-{number}.png" for number in (1, 2, 3))]
    assert [answer["n_leaves"] for answer in answers] == [1, 1, 1, 1]
    [largest] = predict(scans / "three.png", *words).json
    assert largest["n_leaves"] == 3
    first, second = largest["ranking"][0], answers[1]["ranking"][0]
    assert first["species"] == second["species"]
