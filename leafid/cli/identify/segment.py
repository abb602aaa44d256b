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

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from leafid.cli.arguments import option, switch
from leafid.cli.computing import PerPictureOptions, map_pictures
from leafid.cli.outputs import Console, check_output_folder, make_output_names
from leafid.errors import LeafidError, escape_unprintable
from leafid.files import open_output
from leafid.model.bundled import find_bundled_model, read_once
from leafid.model.judged_leaves import DOUBTS, list_verdicts
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import Picture
from leafid.segmentation.crop import crop_leaf
from leafid.segmentation.leaves import segment_leaves
from leafid.segmentation.result import Image
from leafid.segmentation.segment import draw_overlay, segment

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


def run(options: Options, console: Console) -> int:
    """Cut the leaf out of every picture.

    Return 1 when any could not be read or is left out.
    """
    check_output_folder(options.output, options.pictures, "--output")
    collection = options.read(options.pictures)
    pictures = collection.pictures
    names = make_output_names([picture.file for picture in pictures], collection.root)
    n_cut = 0
    titles = [escape_unprintable(picture.title) for picture in pictures]
    width = max(map(len, ["picture", *titles])) + 8 * options.each_leaf
    console.print(
        f"{'picture':<{width}}  {'type':<9}  {'leaf':>6}  confidence  verdict"
    )
    model_file = Path(options.model or find_bundled_model())
    cut = partial(
        _cut, crop=options.crop, each_leaf=options.each_leaf, model_file=model_file
    )
    for picture, leaves in map_pictures(cut, pictures, options, console, "segment"):
        title = escape_unprintable(picture.title)
        try:
            for number, (numbers, n_leaves, files) in enumerate(leaves, 1):
                end = f", leaf {number}" if options.each_leaf else ""
                start = names[picture.file] + end.replace(", leaf ", "_leaf-")
                for ending, content in files.items():
                    file = Path(options.output, f"{start}_{ending}")
                    with open_output(file, "wb") as stream:
                        stream.write(content)
                name = f"{title + end:<{width}}"
                console.print(f"{name}  {picture.type:<9}  {numbers}")
                if n_leaves > 1 and not options.each_leaf:
                    remark = f"{n_leaves} leaves; the largest is cut out (--each-leaf)"
                    console.warn(f"{picture.file}: {remark}")
                elif not n_leaves:
                    remark = "no leaf found; its mask is empty"
                    console.warn(f"{picture.file}: {remark}")
        except LeafidError as error:
            console.warn(str(error))
            continue
        n_cut += 1
    return 1 if n_cut < len(pictures) or collection.is_incomplete else 0


def _cut(
    picture: Picture, crop: bool, each_leaf: bool, model_file: Path
) -> list[tuple[str, int, dict[str, bytes]]]:
    """Cut out leaves: printed numbers, number of leaves, and files by their endings."""
    image, type_ = read_image(picture.file), picture.require_type()
    leaves = segment_leaves(image, type_) if each_leaf else []
    leaves = leaves or [segment(image, type_)]
    verdicts: Iterable[tuple[str, float]] = [(DOUBTS["no-leaf"], 0.0)]
    if leaves[0].mask.any():
        model = read_once(model_file)
        verdicts = list_verdicts(model, picture, image, leaves, type_)
    results = []
    for leaf, (verdict, p_leaf) in zip(leaves, verdicts, strict=False):
        share = leaf.mask.mean()
        confidence = leaf.outline_confidence * p_leaf
        numbers = f"{share:>6.1%}  {confidence:>10.2f}  {verdict}"
        # The longest name is written first: if it is too long, so that none is.
        files = {
            "overlay.jpg": encode_jpeg(draw_overlay(image, leaf.outlines)),
            "mask.png": _encode_png(leaf.mask.view(np.uint8) * 255),
        }
        if crop:
            files["crop.png"] = _encode_png(crop_leaf(image, leaf, CROP_SIZE)[0])
        results.append((numbers, leaf.n_leaves if share else 0, files))
    return results


def _encode_png(image: Image) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()
