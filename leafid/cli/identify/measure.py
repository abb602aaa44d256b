"""Measure leaves: length, width, area, lobes, teeth and more, a row for each leaf.

Each measure has a confidence from 0 to 1: how sure the outline is, less where the leaf
is cut off, the picture blurred, or the direction of the midrib a guess. It is empty
where it can't be told; leaflets and teeth are counted from below. The column verdict
says "no leaf" or "unclear" where predict and explain say so; all confidences are then
lower. --list says what each measure is. A leaf that is curled, or photographed at an
angle, is larger than it seems. Photos of leaves on the tree are refused without a mask.

Lengths are in pixels, or in millimetres (--unit cm: centimetres) where the size of a
pixel is known: from --dpi, --mm-per-pixel, or --scale, a table with a row for each
picture; from --scale-from with two points of the picture, such as the ends of a ruler,
and their distance; otherwise from the resolution in the file of a scan, where a
scanner, and no camera, can have written it.

--scale-from also finds a thing of known size: a coin (coin:23.25) or a card
(card:85.6x54) beside the leaf, or the sheet below it (sheet:297x210), whose whole
outline must be seen. A tilted card or sheet shows the picture as seen from above. The
share of the outline that is a circle or rectangle is mm_per_pixel_confidence, and
--overlay draws what was taken for the thing. Of the resolution in a file it is 1 where
the picture has the size of a page, else .5, as it may have been resized. The
confidences of lengths and areas are multiplied by it.

With --masks, leaves aren't searched for: the mask of my-leaf.jpg is my-leaf.png,
my-leaf_mask.png or, for each of its leaves, my-leaf_leaf-1_mask.png and so on, as
segment writes them, white where the leaf is. Where pictures have the same name, it is
in a folder that is called as the picture's. The alpha channel of a picture or of a mask
is a mask, too. With --each-leaf, each part of a single mask is a leaf.

Of several leaves the largest is measured, with --each-leaf every leaf. Text leaves out
the confidences; GeoJSON has the outlines of the blades as well, along the edges of
their pixels and around their holes, in columns and rows of the picture; COCO has the
pixels of the blades as runs. A picture that can't be read, or in which no leaf is
found, is reported on stderr and left out; the exit status is then 1.

examples:
  leafid measure my-leaf.jpg --mm-per-pixel 0.12
  leafid measure my-scans --each-leaf --output leaves.csv
  leafid measure ruler.jpg --scale-from 104,88,950,92,85.6 --output leaf.geojson
  leafid measure coin.jpg --scale-from coin:23.25 --overlay drawn
  leafid measure --list
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from leafid.cli.arguments import option, switch
from leafid.cli.computing import PerPictureOptions, map_pictures
from leafid.cli.identify.measure_formats import (
    FORMATS,
    LeafRow,
    format_leaves,
    make_geometry,
)
from leafid.cli.identify.scales import (
    ScaleFinder,
    ScaleOptions,
    make_scale_finder,
)
from leafid.cli.outputs import (
    Console,
    check_output,
    check_output_folder,
    make_output_names,
    open_text,
)
from leafid.descriptors.measures import LeafMeasures, list_measures, measure_leaf
from leafid.descriptors.traits import MIN_CONFIDENCE
from leafid.errors import ImageError, LeafidError
from leafid.files import open_output
from leafid.model.bundled import read_once
from leafid.model.judged_leaves import DOUBTS, judge_leaves
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.scoring.tables import Table, render
from leafid.segmentation.leaves import (
    Masks,
    find_own_masks,
    read_own_masks,
    segment_by_masks,
    segment_leaves,
    split_parts,
)
from leafid.segmentation.outlines import sketch_outlines
from leafid.segmentation.reference import Scale
from leafid.segmentation.result import Image, Segmentation
from leafid.segmentation.segment import draw_overlay

_log = logging.getLogger(__name__)


class Options(ScaleOptions, PerPictureOptions):
    format: str | None = option(
        "format of the table (default: text; with --output as its ending says, or csv)",
        choices=FORMATS,
    )
    output: str | None = option("write a file instead of printing", metavar="FILE")
    masks: str | None = option(
        "take the leaves from the masks in this folder", metavar="DIR"
    )
    each_leaf: bool = switch("measure every leaf of a picture")
    overlay: str | None = option(
        "also draw the leaves, and what the scale is from, as <name>_overlay.jpg in "
        "this folder",
        metavar="DIR",
    )
    list: bool = switch("list the measures and exit")


def run(options: Options, console: Console) -> None:
    if options.list:
        cells = [[name, *row.values()] for name, row in list_measures().items()]
        columns = ["measure", "unit", "what it is", "source", "depends on"]
        console.stdout.write(render([Table("", columns, cells, n_keys=1)]))
        return
    form = options.format or "text"
    if options.output:
        ending = Path(options.output).suffix[1:]
        form = options.format or (ending if ending in FORMATS else "csv")
        inputs = [*options.pictures, options.metadata, options.scale]
        check_output(options.output, inputs)
    if options.overlay:
        check_output_folder(options.overlay, options.pictures, "--overlay")
    finder = make_scale_finder(options)
    collection = options.read(options.pictures)
    files = [picture.file for picture in collection.pictures]
    for reason in finder.list_unused(files):
        console.warn(f"{options.scale}: {reason}")
    task = partial(
        _measure,
        options=options,
        form=form,
        finder=finder,
        mask_files=find_own_masks(files, options.masks),
        names=make_output_names(files, collection.root),
    )
    leaves: list[LeafRow] = []
    for _, rows in map_pictures(task, collection, options, console, "measure"):
        leaves += rows
    sizes = [record["mm_per_pixel"] for record, _ in leaves]
    for reason in finder.list_doubts(sizes, options.unit):
        console.warn(reason)
    with open_text(options.output, console) as stream:
        stream.write(format_leaves(leaves, form))


def _measure(
    picture: Picture,
    options: Options,
    form: str,
    finder: ScaleFinder,
    mask_files: Mapping[Path, list[Path]] | None,
    names: Mapping[Path, str],
) -> list[LeafRow]:
    """Measure the leaves of a picture, and draw them where that is asked for."""
    masks = read_own_masks(picture.file, mask_files)
    type_ = picture.require_type()
    if not masks and not type_.lies_on_sheet:
        raise ImageError(
            f"{picture.file}: expected leaves on a plain sheet, found a photo "
            "(--assume-type if it is none)"
        )
    image = read_image(picture.file)
    try:
        scale = finder.find(picture, image, type_ is AcquisitionType.SCAN)
        flat = scale.show_leaf(image)
        leaves = _take_leaves(image, masks, scale, options.each_leaf)
        if not masks:
            leaves = segment_leaves(flat, type_)
        if not leaves:
            raise ImageError("expected a leaf, found none")
    except LeafidError as error:
        raise ImageError(f"{picture.file}: {error}") from error
    n_leaves = leaves[0].n_leaves
    if not options.each_leaf:
        leaves = leaves[:1]
    # What a person marks is a leaf, and its holes are marked as well.
    judged: Iterable[tuple[LeafMeasures, str | None]] = (
        (measure_leaf(leaf), None) for leaf in leaves
    )
    if not masks:
        model = read_once(options.model_file)
        shown = picture if scale.outline is None else flat
        judged = judge_leaves(model, shown, flat, leaves, type_)
    rows = []
    outlines = []
    remarks = [scale.remark]
    if len(leaves) < n_leaves:
        remarks.append(f"{n_leaves} leaves; the largest is measured (--each-leaf)")
    for number, (measures, verdict) in enumerate(judged, 1):
        record = {
            "picture": str(picture.file),
            "type": picture.type,
            "species": picture.species,
            "leaf": number,
            "leaves": n_leaves,
            "verdict": verdict,
            **measures.to_record(scale.mm_per_pixel, options.unit, scale.confidence),
            "mm_per_pixel_confidence": scale.confidence,
        }
        surface = scale.restore(measures.surface, image.shape)
        rows.append((scale.restore_places(record), make_geometry(surface, form)))
        outlines += sketch_outlines(surface) if options.overlay else []
        remarks += [
            f"leaf {number} {doubt}" for doubt in _list_doubts(measures, verdict)
        ]
    for remark in filter(None, remarks):
        _log.warning("%s: %s", picture.file, remark)
    if options.overlay:
        things = [] if scale.outline is None else [scale.outline]
        drawing = draw_overlay(image, {"red": outlines, "blue": things})
        file = Path(options.overlay, f"{names[picture.file]}_overlay.jpg")
        with open_output(file, "wb") as stream:
            stream.write(encode_jpeg(drawing))
    return rows


def _take_leaves(
    image: Image, masks: Masks, scale: Scale, each_leaf: bool
) -> list[Segmentation]:
    """Take leaves from the masks of a person, seen from above: the largest first."""
    leaves = segment_by_masks(masks, image)
    if scale.flattening is not None:
        leaves = [Segmentation.from_mask(scale.flatten(leaf.mask)) for leaf in leaves]
    if each_leaf and len(leaves) == 1:
        leaves = split_parts(leaves[0])
    leaves.sort(key=lambda leaf: -np.count_nonzero(leaf.blade))
    return [replace(leaf, n_leaves=len(leaves)) for leaf in leaves]


def _list_doubts(leaf: LeafMeasures, verdict: str | None) -> Iterator[str]:
    if leaf.values["cut"]:
        yield "is cut off by the border"
    if leaf.may_be_several:
        yield "is perhaps several leaves that touch: lay them apart"
    confidence = leaf.confidence["area"]
    if verdict in DOUBTS.values():
        yield f"is {verdict} as predict and explain say: its confidences are low"
    elif confidence < MIN_CONFIDENCE:
        doubt = "is perhaps cut out wrongly: its area has the confidence"
        yield f"{doubt} {confidence:.2f}"
