"""Measure leaves: length, width, area, lobes, teeth and more, a row for each leaf.

Each measure has a confidence from 0 to 1, that the leaf is cut out well, and is empty where it can't be told; leaflets
and teeth are counted from below. --list says what each measure is. A leaf that is curled, or photographed at an angle,
is larger than it seems. Photos of leaves on the tree are refused.

Lengths are in pixels, or in millimetres where the size of a pixel is known: from --dpi, --mm-per-pixel, or --scale-from
with two points of the picture, such as the ends of a ruler or the sides of a coin, and their distance; otherwise from
the resolution in the file of a scan, where a scanner can have written it.

Of several leaves the largest is measured, with --each-leaf every leaf. Text leaves out the confidences; GeoJSON has the
outlines of the blades as well, through the middles of their outermost pixels, in columns and rows of the picture. A
picture that can't be read, or in which no leaf is found, is reported on stderr and left out; the exit status is then 1.

examples:
  leafid measure my-leaf.jpg --mm-per-pixel 0.12
  leafid measure my-scans --each-leaf --output leaves.csv
  leafid measure card.jpg --scale-from 104,88,950,92,85.6 --format geojson --output card.geojson
  leafid measure --list
"""

import json
from collections.abc import Sequence
from functools import partial
from math import hypot
from pathlib import Path
from typing import Any

from leafid.cli.arguments import list_type, number_type, option, positional, switch
from leafid.cli.computing import MeasuringOptions, map_pictures
from leafid.cli.outputs import Environment, check_output, open_text
from leafid.descriptors.measures import LeafMeasures, list_measures, measure_leaves
from leafid.errors import ImageError, UsageError
from leafid.features.loader import get_type
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.resolution import MM_PER_INCH, read_mm_per_pixel
from leafid.scoring.tables import Table, format_csv, render

_above_0 = number_type(
    "a number above 0, at most 100000", lambda value: 0 < value <= 1e5
)
FORMATS = ("text", "csv", "json", "geojson")


class Options(MeasuringOptions):
    pictures: list[str] = positional(
        "PICTURE", "a picture, or a folder or collection of them", nargs="*"
    )
    format: str | None = option(
        "format of the table (default: text; with --output as its ending says, or csv)",
        choices=FORMATS,
    )
    output: str | None = option("write a file instead of printing", metavar="FILE")
    each_leaf: bool = switch("measure every leaf of a picture")
    dpi: float | None = option(
        "resolution of the pictures", metavar="N", type=_above_0, group="scale"
    )
    mm_per_pixel: float | None = option(
        "size of a pixel", metavar="MM", type=_above_0, group="scale"
    )
    scale_from: list[float] | None = option(
        "columns and rows of two points of the upright picture, and their distance in millimetres",
        metavar="X,Y,X,Y,MM",
        type=list_type(
            number_type("a number from 0 to 100000", lambda value: 0 <= value <= 1e5)
        ),
        group="scale",
    )
    list: bool = switch("list the measures and exit")


def run(options: Options, environment: Environment) -> int:
    """Write the table; return 1 when any picture is left out."""
    if options.list:
        rows = [[name, *row.values()] for name, row in list_measures().items()]
        environment.stdout.write(
            render(
                [Table("", ["measure", "unit", "what it is", "source"], rows, n_keys=1)]
            )
        )
        return 0
    if not options.pictures:
        raise UsageError(
            "expected at least one picture, folder or collection; see 'leafid measure --help'"
        )
    ending = Path(options.output or "").suffix[1:]
    form = options.format or (
        ending if ending in FORMATS else "csv" if options.output else "text"
    )
    mm_per_pixel = _find_scale(options)
    task = partial(
        _measure,
        mm_per_pixel=mm_per_pixel,
        points=options.scale_from or (),
        each_leaf=options.each_leaf,
    )
    if options.output:
        check_output(
            options.output, filter(None, [*options.pictures, options.metadata])
        )
    collection = options.read(options.pictures)
    records: list[dict[str, Any]] = []
    outlines: list[Any] = []
    n_measured = 0
    for picture, (leaves, size) in map_pictures(
        task, collection.pictures, options, environment, "measure"
    ):
        n_measured += 1
        if len(leaves) < leaves[0].n_leaves:
            environment.warn(
                f"{picture.file}: {leaves[0].n_leaves} leaves; the largest is measured (--each-leaf)"
            )
        for number, leaf in enumerate(leaves, 1):
            start = {
                "picture": str(picture.file),
                "type": picture.type,
                "species": picture.species,
                "leaf": number,
            }
            if leaf.values["cut"]:
                environment.warn(
                    f"{picture.file}: leaf {number} is cut off by the border"
                )
            if leaf.may_be_several:
                environment.warn(
                    f"{picture.file}: leaf {number} is perhaps several leaves that touch: lay them apart"
                )
            records.append(start | {"leaves": leaf.n_leaves} | leaf.to_record(size))
            outlines.append(leaf.outlines)
    if not mm_per_pixel and (
        sizes := {record["mm_per_pixel"] for record in records} - {None}
    ):
        resolutions = ", ".join(
            f"{MM_PER_INCH / size:.0f}" for size in sorted(sizes, reverse=True)[:5]
        )
        reason = "which is wrong for a picture that was resized; --mm-per-pixel gives another size"
        environment.warn(
            f"millimetres are by the resolution in the files ({resolutions} dpi), {reason}"
        )
    with open_text(options.output, environment) as stream:
        stream.write(_format(records, outlines, form))
    return 1 if n_measured < len(collection.pictures) or collection.is_incomplete else 0


def _find_scale(options: Options) -> float | None:
    if options.scale_from:
        if len(options.scale_from) != 5:
            raise UsageError(
                f"--scale-from: expected X,Y,X,Y,MM, found {len(options.scale_from)} numbers"
            )
        x0, y0, x1, y1, millimetres = options.scale_from
        pixels = hypot(x1 - x0, y1 - y0)
        if not pixels or not millimetres:
            raise UsageError(
                "--scale-from: expected two points and their distance above 0, found one point or 0 mm"
            )
        return millimetres / pixels
    return MM_PER_INCH / options.dpi if options.dpi else options.mm_per_pixel


def _measure(
    picture: Picture,
    mm_per_pixel: float | None,
    points: Sequence[float],
    each_leaf: bool,
) -> tuple[list[LeafMeasures], float | None]:
    """Measure the leaves of a picture; also return the size of its pixels, where it is known."""
    type_ = get_type(picture)
    if not type_.lies_on_sheet:
        raise ImageError(
            f"{picture.file}: expected leaves on a plain sheet, found a photo (--assume-type if it is none)"
        )
    image = read_image(picture.file)
    height, width = image.shape[:2]
    if max(points[0:4:2], default=0) > width or max(points[1:4:2], default=0) > height:
        expected = f"expected points inside the picture of {width} × {height} pixels"
        raise ImageError(
            f"{picture.file}: --scale-from: {expected}, found {list(points[:4])}"
        )
    leaves = measure_leaves(image, type_, each_leaf=each_leaf)
    if not leaves:
        raise ImageError(f"{picture.file}: expected a leaf, found none")
    if mm_per_pixel is None and type_ is AcquisitionType.SCAN:
        mm_per_pixel = read_mm_per_pixel(picture.file)
    return leaves, mm_per_pixel


def _format(
    records: Sequence[dict[str, Any]], outlines: Sequence[Any], form: str
) -> str:
    if form == "text":
        columns = ["picture", "leaf", "unit", *list_measures()]
        rows = [
            [Path(record["picture"]).name, *(record[name] for name in columns[1:])]
            for record in records
        ]
        return render([Table("", columns, rows, n_keys=2)], digits=2)
    shortened = [
        {name: _shorten(value) for name, value in record.items()} for record in records
    ]
    if form == "csv":
        return (
            format_csv([[*shortened[0]], *([*row.values()] for row in shortened)])
            if shortened
            else ""
        )
    if form == "json":
        return json.dumps(shortened, ensure_ascii=False, indent=1) + "\n"
    features = [
        {
            "type": "Feature",
            "properties": record,
            "geometry": {
                "type": "MultiPolygon",
                "coordinates": [[[*line, line[0]][::-1]] for line in lines],
            },
        }
        for record, lines in zip(shortened, outlines, strict=True)
    ]
    return (
        json.dumps(
            {"type": "FeatureCollection", "features": features}, ensure_ascii=False
        )
        + "\n"
    )


def _shorten(value: Any) -> Any:
    """Round a number to six significant digits, more than any measure has."""
    return float(f"{value:.6g}") if isinstance(value, float) else value
