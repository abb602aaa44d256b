"""Cut leaves out of pictures.

For every picture, segment writes <name>_mask.png (255 is leaf, 0 is not; the size of the picture) and
<name>_overlay.jpg (the blade outlined in red, the petiole in magenta). It prints one line: the picture, its acquisition
type, the share of its pixels that are leaf, and the confidence, from 0 to 1, that the leaf is cut out well.

Scans and scan-likes (a leaf on a plain sheet) are segmented in another way than photos (a leaf on the tree).
--assume-type sets the type; otherwise it is read from the metadata, or recognised by the model as in predict.

examples:
  leafid segment my-leaf.jpg --output cut
  leafid segment --assume-type photo --crop garden/*.jpg --output cut
  leafid segment imageclef2011/Train --output cut --jobs 2
"""

import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from leafid.cli.arguments import option, switch
from leafid.cli.computing import MeasuringOptions, map_pictures
from leafid.cli.outputs import Environment, check_output
from leafid.features.loader import get_type
from leafid.files import open_output
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import Picture
from leafid.segmentation.crop import crop_leaf
from leafid.segmentation.segment import draw_overlay, segment

CROP_SIZE = 512


class Options(MeasuringOptions):
    output: str = option("the folder to write to, outside the folders of the pictures", required=True, metavar="DIR")
    crop: bool = switch(f"also write <name>_crop.png: upright, on white, {CROP_SIZE} pixels on each side")


def run(options: Options, environment: Environment) -> int:
    """Cut the leaf out of every picture; return 1 when any could not be read or is left out."""
    output = Path(options.output)
    check_output(output / "any name", [])
    collection = options.read(options.pictures)
    names = _make_output_names([picture.file for picture in collection.pictures], collection.root)
    n_cut = 0
    width = max(len("picture"), *(len(picture.title) for picture in collection.pictures))
    environment.print(f"{'picture':<{width}}  {'type':<9}  {'leaf':>6}  confidence")
    cut = partial(_cut, crop=options.crop)
    measured = map_pictures(cut, collection.pictures, options, environment, "segment")
    for picture, (share, confidence, files) in measured:
        for ending, content in files.items():
            with open_output(output / f"{names[picture.file]}_{ending}", "wb") as stream:
                stream.write(content)
        n_cut += 1
        environment.print(f"{picture.title:<{width}}  {picture.type:<9}  {share:>6.1%}  {confidence:>10.2f}")
        if not share:
            environment.warn(f"{picture.file}: no leaf found; its mask is empty")
    return 1 if n_cut < len(collection.pictures) or collection.is_incomplete else 0


def _make_output_names(files: Sequence[Path], root: Path) -> dict[Path, str]:
    """Make a different output name for each file: its stem or, if others have that, its path from `root`."""
    base = root if root.is_dir() else root.parent
    # Some file systems ignore case.
    stems = Counter(file.stem.lower() for file in files)
    return {
        file: file.stem if stems[file.stem.lower()] == 1 else os.path.relpath(file, base).replace(os.sep, "_")
        for file in files
    }


def _cut(picture: Picture, crop: bool) -> tuple[float, float, dict[str, bytes]]:
    """Cut out a picture; return the share of leaf, the confidence, and the files to write by their endings."""
    image = read_image(picture.file)
    leaf = segment(image, get_type(picture))
    images = {"mask.png": leaf.mask.view(np.uint8) * 255, "overlay.jpg": draw_overlay(image, leaf)}
    if crop:
        images["crop.png"] = crop_leaf(image, leaf, CROP_SIZE)[0]
    # Chroma subsampling would blur the outlines, which are one pixel wide.
    jpeg = [cv2.IMWRITE_JPEG_QUALITY, 92, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    files = {
        name: cv2.imencode(Path(name).suffix, content, jpeg if name.endswith("jpg") else [])[1].tobytes()
        for name, content in images.items()
    }
    return leaf.mask.mean(), leaf.confidence, files
