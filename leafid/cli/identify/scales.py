"""The size of a pixel: by options, a table, a thing of known size, or the file."""

import re
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import dist
from pathlib import Path

from leafid.cli.arguments import number_type, option
from leafid.errors import ImageError, LeafidError
from leafid.grouping import count_noun
from leafid.pictures.name_index import find_end
from leafid.pictures.picture import Picture
from leafid.pictures.resolution import (
    MM_PER_INCH,
    rate_resolution,
    read_mm_per_pixel,
)
from leafid.segmentation.reference import Scale, find_reference
from leafid.segmentation.result import Image
from leafid.textfiles import LineProblems, read_table

_MAX_SIZE = 100_000
_parse_size = number_type(0, _MAX_SIZE, has_zero=False)
_parse_place = number_type(0, _MAX_SIZE)
# Things of known size, with the number of their sizes; two points and their distance.
_THINGS = {"coin": 1, "card": 2, "sheet": 2, "": 5}


@dataclass(frozen=True)
class ScaleFinder:
    """Finds the scales of pictures in the way that the options say."""

    mm_per_pixel: float | None = None
    #: Columns and rows of two points that must lie inside the picture.
    points: Sequence[float] = ()
    thing: str = ""
    size: tuple[float, ...] = ()
    #: The sizes of pixels by the names of pictures, where a table says them.
    table: Mapping[str, float] | None = field(default=None, repr=False)

    def list_unused(self, files: Sequence[Path]) -> Iterator[str]:
        """Say which rows of the table name none of the files."""
        table = self.table or {}
        unused = table.keys() - {_find_row(table, file) for file in files}
        if unused:
            rows = count_noun(len(unused), "row")
            yield f"ignored {rows} without a picture, {min(unused)!r} first"

    def list_doubts(self, sizes: Sequence[float | None], unit: str) -> Iterator[str]:
        """Say what a person should know about the sizes of the pixels of all leaves."""
        n_unknown = sizes.count(None)
        known = sorted({size for size in sizes if size}, reverse=True)
        if known and self == ScaleFinder():
            dpi = ", ".join(f"{MM_PER_INCH / size:.0f}" for size in known[:5])
            reason = (
                "which is wrong for a picture that was resized; "
                "--mm-per-pixel gives another size"
            )
            source = f"millimetres are by the resolution in the files ({dpi} dpi)"
            yield f"{source}, {reason}"
        if n_unknown and (known or unit == "cm"):
            share = f"{n_unknown} of {len(sizes)}"
            yield f"{share} leaves are in pixels, whose size is unknown"

    def find(self, picture: Picture, image: Image, is_scan: bool) -> Scale:
        """Find the scale of a picture.

        An `ImageError` is raised where it must be in the picture, but isn't.
        """
        limits = image.shape[1::-1] * 2
        if any(map(float.__gt__, self.points, map(float, limits))):
            raise ImageError(
                f"--scale-from: expected points inside the picture of {limits[0]} × "
                f"{limits[1]} pixels, found {[*self.points]}"
            )
        if self.thing:
            return find_reference(image, self.thing, self.size)
        if self.table is not None:
            name = _find_row(self.table, picture.file)
            remark = None if name else "the table of scales has no row for it"
            return Scale(self.table.get(name or ""), remark)
        if self.mm_per_pixel or not is_scan:
            return Scale(self.mm_per_pixel)
        size, remark = read_mm_per_pixel(picture.file)
        return Scale(size, remark, rate_resolution(size, image.shape[:2]))


def _parse_scale_from(word: str) -> ScaleFinder:
    thing, _, size = word.rpartition(":")
    numbers = tuple(map(_parse_place, re.split("[x×,]", size)))
    if len(numbers) == _THINGS.get(thing):
        *points, last = numbers
        if thing and all(numbers):
            return ScaleFinder(thing=thing, size=numbers)
        if not thing and last and points[:2] != points[2:]:
            return ScaleFinder(last / dist(points[:2], points[2:]), points)
    raise ArgumentTypeError(
        "expected two different points and their distance as X,Y,X,Y,MM, or coin:MM, "
        f"card:MMxMM or sheet:MMxMM, with sizes above 0, found {word!r}"
    )


class ScaleOptions:
    dpi: float | None = option(
        "resolution of the pictures", metavar="N", type=_parse_size, group="scale"
    )
    mm_per_pixel: float | None = option(
        "size of a pixel", metavar="MM", type=_parse_size, group="scale"
    )
    scale_from: ScaleFinder | None = option(
        "columns and rows of two points of the upright picture, and their distance in "
        "millimetres; or a thing in it "
        "and its size, as coin:23.25, card:85.6x54 or sheet:297x210",
        metavar="X,Y,X,Y,MM",
        type=_parse_scale_from,
        group="scale",
    )
    scale: str | None = option(
        "CSV table of the pictures with the column file, and mm_per_pixel or dpi",
        metavar="FILE",
        group="scale",
    )
    unit: str = option(
        "unit of lengths where the size of a pixel is known (default: mm)",
        choices=("mm", "cm"),
        default="mm",
    )


def make_scale_finder(options: ScaleOptions) -> ScaleFinder:
    """Make what finds the scales of pictures.

    A `LeafidError` says what is wrong with the table.
    """
    if options.scale:
        return ScaleFinder(table=_read_scales(options.scale))
    by_dpi = MM_PER_INCH / options.dpi if options.dpi else None
    return options.scale_from or ScaleFinder(options.mm_per_pixel or by_dpi)


def _find_row(table: Mapping[str, float], file: Path) -> str | None:
    """Find the name of a picture in a table: its path or the end of it."""
    without_ending = file.with_suffix("").as_posix()
    return find_end(file.as_posix(), table) or find_end(without_ending, table)


def _read_scales(file: str) -> dict[str, float]:
    """Read the sizes of pixels by the names of pictures."""
    (first, heading), *rows = [*read_table(file)] or [(1, [])]
    columns = [cell.strip().lower() for cell in heading]
    units = {"mm_per_pixel", "dpi"} & {*columns}
    if "file" not in columns or len(units) != 1:
        raise LeafidError(
            f"{file}:{first}: expected the columns file, and mm_per_pixel or dpi, "
            f"found {', '.join(columns)}"
        )
    [unit] = units
    sizes = {}
    with LineProblems(file) as problems:
        for line, cells in rows:
            record = dict(zip(columns, cells, strict=False))
            name = record["file"].strip().replace("\\", "/")
            try:
                value = _parse_size(record.get(unit, ""))
            except ArgumentTypeError as error:
                problems.add(line, f"{name}: {unit}: {error}")
                continue
            if problems.check_unique(line, "every picture", name):
                sizes[name] = MM_PER_INCH / value if unit == "dpi" else value
    return sizes
