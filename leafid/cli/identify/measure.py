"""Measure leaves: length, width, area, lobes, teeth and more, a row for each leaf.

Each measure has a confidence from 0 to 1, that the leaf is cut out well, and is empty where it can't be told; leaflets
and teeth are counted from below. --list says what each measure is. A leaf that is curled, or photographed at an angle,
is larger than it seems. Photos of leaves on the tree are refused without a mask.

Lengths are in pixels, or in millimetres where the size of a pixel is known: from --dpi, --mm-per-pixel, or --scale-from
with two points of the picture, such as the ends of a ruler or the sides of a coin, and their distance; otherwise from
the resolution in the file of a scan, where a scanner can have written it.

With --masks, leaves aren't searched for: the mask of my-leaf.jpg is my-leaf.png, my-leaf_mask.png or, for each of its
leaves, my-leaf_leaf-1_mask.png and so on, as segment writes them, white where the leaf is. The alpha channel of a
picture or of a mask is a mask, too. With --each-leaf, each part of a single mask is a leaf.

Of several leaves the largest is measured, with --each-leaf every leaf. Text leaves out the confidences; GeoJSON has the
outlines of the blades as well, along the edges of their pixels and around their holes, in columns and rows of the
picture; COCO has the pixels of the blades as runs. A picture that can't be read, or in which no leaf is found, is
reported on stderr and left out; the exit status is then 1.

examples:
  leafid measure my-leaf.jpg --mm-per-pixel 0.12
  leafid measure my-scans --each-leaf --output leaves.csv
  leafid measure card.jpg --scale-from 104,88,950,92,85.6 --format geojson --output card.geojson
  leafid measure --list
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import hypot
from pathlib import Path

import numpy as np

from leafid.cli.arguments import list_type, number_type, option, positional, switch
from leafid.cli.computing import MeasuringOptions, map_pictures
from leafid.cli.identify.measure_formats import (
    FORMATS,
    LeafRow,
    format_leaves,
    make_geometry,
)
from leafid.cli.outputs import Environment, check_output, open_text
from leafid.descriptors.measures import (
    LeafMeasures,
    list_measures,
    measure_leaf,
    measure_leaves,
)
from leafid.errors import ImageError, UsageError
from leafid.features.loader import get_type
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.resolution import MM_PER_INCH, read_mm_per_pixel
from leafid.scoring.tables import Table, render
from leafid.segmentation.masks import (
    Masks,
    check_masks_folder,
    read_own_masks,
    segment_by_masks,
    split_parts,
)
from leafid.segmentation.result import Image

_above_0 = number_type(
    "a number above 0, at most 100000", lambda value: 0 < value <= 1e5
)


class Options(MeasuringOptions):
    pictures: list[str] = positional(
        "PICTURE", "a picture, or a folder or collection of them", nargs="*"
    )
    format: str | None = option(
        "format of the table (default: text; with --output as its ending says, or csv)",
        choices=FORMATS,
    )
    output: str | None = option("write a file instead of printing", metavar="FILE")
    masks: str | None = option(
        "take the leaves from the masks in this folder", metavar="DIR"
    )
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
        form=form,
        masks=options.masks,
    )
    if options.output:
        check_output(
            options.output, filter(None, [*options.pictures, options.metadata])
        )
    check_masks_folder(options.masks)
    collection = options.read(options.pictures)
    leaves: list[LeafRow] = []
    n_measured = 0
    for picture, measured in map_pictures(
        task, collection.pictures, options, environment, "measure"
    ):
        n_measured += 1
        leaves += measured
        n_leaves = measured[0].record["leaves"]
        if len(measured) < n_leaves:
            environment.warn(
                f"{picture.file}: {n_leaves} leaves; the largest is measured (--each-leaf)"
            )
        for row in measured:
            if row.record["cut"]:
                environment.warn(
                    f"{picture.file}: leaf {row.record['leaf']} is cut off by the border"
                )
    if not mm_per_pixel and (
        sizes := {leaf.record["mm_per_pixel"] for leaf in leaves} - {None}
    ):
        resolutions = ", ".join(
            f"{MM_PER_INCH / size:.0f}" for size in sorted(sizes, reverse=True)[:5]
        )
        reason = "which is wrong for a picture that was resized; --mm-per-pixel gives another size"
        environment.warn(
            f"millimetres are by the resolution in the files ({resolutions} dpi), {reason}"
        )
    with open_text(options.output, environment) as stream:
        stream.write(format_leaves(leaves, form))
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
    form: str,
    masks: str | None,
) -> list[LeafRow]:
    """Measure the leaves of a picture."""
    own_masks = read_own_masks(picture.file, masks)
    type_ = get_type(picture)
    if not own_masks and not type_.lies_on_sheet:
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
    if own_masks:
        leaves = _measure_masks(picture, image, own_masks, each_leaf)
    else:
        leaves = measure_leaves(image, type_, each_leaf=each_leaf)
    if not leaves:
        raise ImageError(f"{picture.file}: expected a leaf, found none")
    if mm_per_pixel is None and type_ is AcquisitionType.SCAN:
        mm_per_pixel = read_mm_per_pixel(picture.file)
    start = {
        "picture": str(picture.file),
        "type": picture.type,
        "species": picture.species,
    }
    rows = []
    for number, leaf in enumerate(leaves, 1):
        numbers = {"leaf": number, "leaves": leaf.n_leaves}
        record = start | numbers | leaf.to_record(mm_per_pixel)
        rows.append(LeafRow(record, make_geometry(leaf.surface, form)))
    return rows


def _measure_masks(
    picture: Picture, image: Image, masks: Masks, each_leaf: bool
) -> list[LeafMeasures]:
    leaves = segment_by_masks(picture.file, image, masks)
    if each_leaf and len(leaves) == 1:
        leaves = split_parts(leaves[0])
    leaves.sort(key=lambda leaf: -np.count_nonzero(leaf.blade))
    n_leaves = len(leaves)
    measured = leaves if each_leaf else leaves[:1]
    return [measure_leaf(replace(leaf, n_leaves=n_leaves)) for leaf in measured]
