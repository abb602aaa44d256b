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

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from leafid.cli.arguments import (
    ASSUME_TYPE,
    ComputingOptions,
    ReadingOptions,
    check_output_folder,
    option,
    positional,
    switch,
)
from leafid.cli.computing import assume_type, on_workers, recognise_type
from leafid.cli.environment import Environment
from leafid.errors import ImageError, UsageError, naming_large_picture
from leafid.files import MAX_OUTPUT_NAME_BYTES, open_output
from leafid.model.bundled import load_recogniser
from leafid.model.recogniser import TypeRecogniser, warn_of_mixed_types
from leafid.pictures import Picture, read_and_warn
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import crop_leaf, draw_overlay, segment
from leafid.workers import ordered_map

CROP_SIZE = 512
_MAX_STEM_BYTES = MAX_OUTPUT_NAME_BYTES - len("_overlay.jpg")


class Options(ReadingOptions, ComputingOptions):
    """The options of segment."""

    pictures: list[str] = positional("PICTURE", "a picture, or a folder or collection of them", nargs="+")
    output: str = option("the folder to write to, outside the folders of the pictures", required=True, metavar="DIR")
    model: str | None = option(
        "the model that recognises acquisition types (default: the bundled one)", metavar="MODEL"
    )
    assume_type: str | None = ASSUME_TYPE
    crop: bool = switch(f"also write <name>_crop.png: upright, on white, {CROP_SIZE} pixels on each side")


def run(options: Options, environment: Environment) -> int:
    """Cut out every picture; 1 when any could not be read or is left out."""
    output = check_output_folder(options.output)
    collection = read_and_warn(options.pictures, **options.as_keywords(), unlabelled=True)
    pictures = assume_type(options.assume_type, collection.pictures)
    _refuse_read_folder(output, pictures, options.pictures)
    names = make_output_names([picture.file for picture in pictures], collection.root)
    recognition = load_recogniser(pictures, options.model)
    task = partial(_segment_file, recognition=recognition, output=output, crop=options.crop)
    width = max(len("picture"), *(len(picture.name) for picture in pictures))
    environment.print(f"{'picture':<{width}}  {'type':<9}  {'leaf':>6}  confidence")
    n_failed = 0
    recognised: Counter[AcquisitionType] = Counter()
    with on_workers(options, options.pictures, [options.output]):
        results = ordered_map(
            task,
            zip(pictures, names, strict=True),
            options.jobs,
            lambda named, problem: f"{named[0].file}: {problem}",
        )
        outcomes = environment.progress(results, len(pictures), "segment")
        for picture, outcome in zip(pictures, outcomes, strict=True):
            if isinstance(outcome, str):
                n_failed += 1
                environment.note(f"leafid: error: {outcome}")
                continue
            type_, share, confidence = outcome
            recognised.update([AcquisitionType(type_)] if picture.type is None else [])
            environment.print(f"{picture.name:<{width}}  {type_:<9}  {share:>6.1%}  {confidence:>10.2f}")
            if not share:
                environment.warn(f"{picture.file}: no leaf found; its mask is empty")
    warn_of_mixed_types(recognised)
    if n_failed:
        environment.note(f"leafid: {n_failed} of {len(pictures)} pictures could not be read")
    return 1 if n_failed or collection.is_incomplete else 0


def _refuse_read_folder(output: Path, pictures: Sequence[Picture], given: Sequence[str]) -> None:
    """Refuse an output folder that the next call would read as pictures."""
    target = output.resolve()
    # A folder on the command line is read with all folders in it; for a file, its folder is not read.
    read = [Path(path) for path in given if Path(path).is_dir()]
    for folder in dict.fromkeys([*(picture.file.parent for picture in pictures), *read]):
        source = folder.resolve()
        if target == source or target in source.parents or (folder in read and source in target.parents):
            raise UsageError(f"--output {output}: expected a folder apart from the pictures in {folder}; name another")


def make_output_names(files: Sequence[Path], root: Path) -> list[str]:
    """Make a different output name for each file.

    It is the file's stem if no other file has that, else its path relative to `root` with ``_`` for the separators. The
    end of a name that is too long is replaced by a hash.
    """
    base = root if root.is_dir() else root.parent
    # Some file systems ignore case.
    stems = Counter(file.stem.lower() for file in files)
    taken: set[str] = set()
    names = []
    for file in files:
        name = file.stem if stems[file.stem.lower()] == 1 else os.path.relpath(file, base).replace(os.sep, "_")
        if len(os.fsencode(name)) > _MAX_STEM_BYTES:
            digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
            name = f"{os.fsencode(name)[: _MAX_STEM_BYTES - 17].decode(errors='ignore')}-{digest}"
        while name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        names.append(name)
    return names


def _segment_file(
    named: tuple[Picture, str], recognition: TypeRecogniser | None, output: Path, crop: bool
) -> tuple[str, float, float] | str:
    """Cut out a picture; give its type, the share of leaf and the confidence, or a problem as its message."""
    picture, name = named
    try:
        with naming_large_picture(picture.file):
            image = read_image(picture.file)
            acquisition_type = picture.type or recognise_type(recognition, picture)
            found = segment(image, acquisition_type)
            pictures = {"mask.png": found.mask.view(np.uint8) * 255, "overlay.jpg": draw_overlay(image, found)}
            if crop:
                pictures["crop.png"] = crop_leaf(image, found, CROP_SIZE)[0]
    except ImageError as error:
        return str(error)
    for ending, content in pictures.items():
        _write(output / f"{name}_{ending}", content)
    return acquisition_type.value, found.share, found.confidence


def _write(path: Path, image: np.ndarray) -> None:
    # No chroma subsampling: the outlines are one pixel wide.
    jpeg = [cv2.IMWRITE_JPEG_QUALITY, 92, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    _, encoded = cv2.imencode(path.suffix, image, jpeg if path.suffix == ".jpg" else [])
    with open_output(path, "wb") as stream:
        stream.write(encoded.tobytes())
