"""Write the descriptors of pictures as a table.

Each picture is a row: its file, its acquisition type, its species where that is known,
and the values of the descriptor families, in columns like geometry.log_aspect_box.
--assume-type sets the type; otherwise it is read from the metadata, or recognised by
the model as in predict.

With --masks, leaves aren't searched for: the mask of my-leaf.jpg is my-leaf.png or, as
segment writes it, my-leaf_mask.png in a folder, as large as the picture, and white
where the leaf is. Where pictures have the same name, it is in a folder that is called
as the picture's. The alpha channel of a picture or of a mask, opaque where the leaf is,
is a mask, too.

The table is CSV. A picture that can't be read, or in which no leaf is found, is
reported on stderr and left out; the exit status is then 1.

examples:
  leafid describe my-leaf.jpg --families geometry,teeth
  leafid describe my-leaves --masks cut --families geometry
  leafid describe my-leaves --assume-type scan --output leaves.csv
  leafid describe --list
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from leafid.cli.arguments import list_type, option, switch
from leafid.cli.computing import PerPictureOptions, map_pictures
from leafid.cli.outputs import Console, check_output, open_text
from leafid.descriptors.registry import FAMILIES, get_column_names, measure_families
from leafid.errors import ImageError, LeafidError
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import Picture
from leafid.scoring.tables import format_csv
from leafid.segmentation.leaves import (
    find_own_masks,
    read_own_masks,
    segment_by_masks,
)
from leafid.segmentation.result import Segmentation, shrink
from leafid.segmentation.segment import segment

# Longest side of a picture in pixels; larger ones are shrunk, as descriptors work on
# leaves of a few hundred pixels.
_MAX_SIDE = 1200


class Options(PerPictureOptions):
    families: list[str] | None = option(
        "descriptor families to compute, in this order (default: all)",
        metavar="A,B,…",
        type=list_type(str.strip),
    )
    masks: str | None = option(
        "take the leaves from the masks in this folder", metavar="DIR"
    )
    list: bool = switch("list the descriptor families and exit")
    output: str | None = option("write a CSV table instead of printing", metavar="FILE")


def run(options: Options, console: Console) -> None:
    if options.list:
        width = max(map(len, FAMILIES)) + 2
        for family in FAMILIES.values():
            console.print(
                f"{family.name:<{width}}{len(family.value_names):>4} values  "
                f"{family.summary}"
            )
        return
    heading = ["picture", "type", "species", *get_column_names(options.families)]
    if options.output:
        check_output(options.output, [*options.pictures, options.metadata])
    collection = options.read(options.pictures)
    files = [picture.file for picture in collection.pictures]
    mask_files = find_own_masks(files, options.masks)
    measure = partial(_measure, families=options.families, mask_files=mask_files)
    with open_text(options.output, console) as stream:
        stream.write(format_csv([heading]))
        for picture, values in map_pictures(
            measure, collection, options, console, "describe"
        ):
            row = [str(picture.file), picture.type, picture.species, *values]
            stream.write(format_csv([row]))


def _measure(
    picture: Picture,
    families: Sequence[str] | None,
    mask_files: Mapping[Path, list[Path]] | None,
) -> list[str]:
    masks = read_own_masks(picture.file, mask_files)
    image = read_image(picture.file, None if masks else _MAX_SIDE)
    try:
        leaves = segment_by_masks(masks, image)
        image = shrink(image, _MAX_SIDE)
        if len(leaves) > 1:
            raise ImageError(f"expected one mask, found {len(leaves)}")
        if leaves:
            mask = shrink(leaves[0].mask * np.uint8(255), _MAX_SIDE)
            leaf = Segmentation.from_mask(mask)
        else:
            leaf = segment(image, picture.require_type())
        values = measure_families(image, leaf, families)
    except LeafidError as error:
        raise ImageError(f"{picture.file}: {error}") from error
    # NumPy writes the fewest digits that read back as the same float32.
    return np.concatenate(list(values.values())).astype(str).tolist()
