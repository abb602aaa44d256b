"""Cut leaves out of pictures.

For every picture, segment writes <name>_mask.png (255 is leaf, 0 is not; the size of
the picture) and <name>_overlay.jpg (the blade outlined in red, the petiole in magenta).
It prints one line: the picture, its acquisition type, the share of its pixels that are
leaf, the confidence, from 0 to 1, that a leaf is cut out well, and the model's verdict:
leaf, unclear or no leaf. Of several leaves the largest is cut out; with --each-leaf
every leaf, as <name>_leaf-1_mask.png and so on.

Scans and scan-likes (a leaf on a plain sheet) are segmented in another way than photos
(a leaf on the tree). --assume-type sets the type; otherwise it is read from the
metadata, or recognised by the model as in predict.

examples:
  leafid segment my-leaf.jpg --output cut
  leafid segment --assume-type photo --crop garden/*.jpg --output cut
  leafid segment imageclef2011/Train --output cut --jobs 2
"""

import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from leafid.cli.arguments import option, switch
from leafid.cli.computing import PerPictureOptions, map_pictures
from leafid.cli.outputs import Console, check_output_folder, make_output_names
from leafid.errors import escape_unprintable
from leafid.files import open_output
from leafid.model.bundled import read_once
from leafid.model.judged_leaves import DOUBTS, list_verdicts
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import Picture
from leafid.segmentation.crop import crop_leaf
from leafid.segmentation.leaves import segment_leaves
from leafid.segmentation.result import Image
from leafid.segmentation.segment import draw_overlay, segment

_log = logging.getLogger(__name__)
CROP_SIZE = 512


class Options(PerPictureOptions):
    output: str = option(
        "the folder to write to, outside the folders that are read",
        required=True,
        metavar="DIR",
    )
    crop: bool = switch(
        f"also write <name>_crop.png: upright, on white, {CROP_SIZE} pixels on each "
        "side"
    )
    each_leaf: bool = switch("cut out every leaf of a picture")


def run(options: Options, console: Console) -> None:
    check_output_folder(options.output, options.pictures, "--output")
    collection = options.read(options.pictures)
    pictures = collection.pictures
    names = make_output_names([picture.file for picture in pictures], collection.root)
    titles = [escape_unprintable(picture.title) for picture in pictures]
    width = max(map(len, ["picture", *titles])) + 8 * options.each_leaf
    console.print(
        f"{'picture':<{width}}  {'type':<9}  {'leaf':>6}  confidence  verdict"
    )
    cut = partial(_cut, options=options, names=names)
    for picture, rows in map_pictures(cut, collection, options, console, "segment"):
        for number, numbers in enumerate(rows, 1):
            title = escape_unprintable(picture.title)
            if options.each_leaf:
                title += f", leaf {number}"
            console.print(f"{title:<{width}}  {picture.type:<9}  {numbers}")


def _cut(picture: Picture, options: Options, names: Mapping[Path, str]) -> list[str]:
    """Write the files of a picture, and return the numbers that are printed."""
    image = read_image(picture.file)
    type_ = picture.require_type()
    leaves = segment_leaves(image, type_) if options.each_leaf else []
    leaves = leaves or [segment(image, type_)]
    if leaves[0].mask.any():
        model = read_once(options.model_file)
        verdicts = [*list_verdicts(model, picture, image, leaves, type_)]
        if leaves[0].n_leaves > len(leaves):
            remark = "%s: %d leaves; the largest is cut out (--each-leaf)"
            _log.warning(remark, picture.file, leaves[0].n_leaves)
    else:
        verdicts = [(DOUBTS["no-leaf"], 0.0, None)]
        _log.warning("%s: no leaf found; its mask is empty", picture.file)
    rows = []
    judged = zip(leaves, verdicts, strict=True)
    for number, (leaf, (verdict, p_leaf, _)) in enumerate(judged, 1):
        end = f"_leaf-{number}" if options.each_leaf else ""
        # The longest name is written first: if it is too long, so that none is.
        files = {
            "overlay.jpg": encode_jpeg(draw_overlay(image, leaf.outlines)),
            "mask.png": _encode_png(leaf.mask.view(np.uint8) * 255),
        }
        if options.crop:
            files["crop.png"] = _encode_png(crop_leaf(image, leaf, CROP_SIZE)[0])
        for ending, content in files.items():
            file = Path(options.output, f"{names[picture.file]}{end}_{ending}")
            with open_output(file, "wb") as stream:
                stream.write(content)
        confidence = leaf.outline_confidence * p_leaf
        rows.append(f"{leaf.mask.mean():>6.1%}  {confidence:>10.2f}  {verdict}")
    return rows


def _encode_png(image: Image) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()
