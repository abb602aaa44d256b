"""Masks of one's own: the files of a folder, named as segment writes them, or the alpha channel of a picture."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.errors import ImageError, LeafidError
from leafid.pictures.decoding import read_alpha, read_image
from leafid.segmentation.result import Image, Segmentation

# Smallest part of a mask that is a leaf, as a part of the largest one's area.
_LEAST_PART = 0.01
# Ends of names that segment gives to masks, and to those of each leaf.
_MASK_END = re.compile(r"(_leaf-\d+)?_mask$")
_LEAF_END = re.compile(r"_leaf-\d+_mask$")
#: Masks by what messages call them: uint8 (H, W), high where the leaf is.
Masks = Mapping[str, NDArray[np.uint8]]


def find_own_masks(
    pictures: Sequence[Path], folder: str | None
) -> dict[Path, list[Path]] | None:
    """Find the masks of pictures in a folder that a person names; None without one.

    A mask is named like the end of its picture's path: with the folders of the
    picture, or with ``_`` for each ``/`` as `leafid.cli.outputs.make_output_names`
    writes it. A name that several pictures share is the mask of none.

    Raises
    ------
    LeafidError
        Where there is no such folder.
    """
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise LeafidError(f"{folder}: expected a folder of masks, found none")
    picture_of: dict[str, Path | None] = {}
    for picture in dict.fromkeys(pictures):
        for name in _list_names(picture):
            picture_of[name] = None if name in picture_of else picture
    masks: dict[Path, list[Path]] = {picture: [] for picture in pictures}
    for file in sorted(Path(folder).rglob("*.png")):
        name = file.relative_to(folder).with_suffix("").as_posix()
        for candidate in (name, _MASK_END.sub("", name)):
            owner = picture_of.get(candidate)
            if owner and file not in masks[owner]:
                masks[owner].append(file)
    return masks


def _list_names(picture: Path) -> set[str]:
    """List the names that the masks of a picture may have."""
    parts = picture.absolute().parts
    ends = [parts[start:] for start in range(len(parts))]
    names = {"_".join(end) for end in ends}
    for end in ends:
        path = Path(*end)
        names |= {path.as_posix(), path.with_suffix("").as_posix()}
    return names


def read_own_masks(picture: Path, files: Mapping[Path, list[Path]] | None) -> Masks:
    """Read the masks of a picture: several where each is one of its leaves.

    Without `files`, as by `find_own_masks`, it is the alpha channel of the picture, or
    none where it is opaque. An `ImageError` is raised where the files have none.
    """
    if files is None:
        alpha = read_alpha(picture)
        return {} if alpha is None else {"alpha channel": alpha}
    masks = files[picture]
    whole = [mask for mask in masks if not _LEAF_END.search(mask.stem)]
    if not masks or len(whole) > 1:
        stem, folder = picture.stem, picture.absolute().parent.name
        expected = f"expected one mask, {stem}.png or {stem}_mask.png"
        hint = f"in a folder {folder} where pictures share that name"
        found = " and ".join(map(str, whole)) or "none"
        raise ImageError(f"{picture}: {expected} ({hint}), found {found}")
    try:
        return {str(mask): _read_mask(mask) for mask in whole or masks}
    except ImageError as error:
        raise ImageError(f"{picture}: {error}") from error


def _read_mask(file: Path) -> NDArray[np.uint8]:
    alpha = read_alpha(file)
    return read_image(file).max(axis=2) if alpha is None else alpha


def segment_by_masks(masks: Masks, image: Image) -> list[Segmentation]:
    """Take the leaves of an image from its masks; an `ImageError` says which mask can't be one of it."""
    leaves = []
    for name, mask in masks.items():
        if mask.shape != image.shape[:2]:
            expected = f"expected a mask of {image.shape[:2]} pixels"
            raise ImageError(f"{name}: {expected}, found {mask.shape}")
        try:
            leaves.append(Segmentation.from_mask(mask))
        except LeafidError as error:
            raise ImageError(f"{name}: {error}") from error
    return leaves


def split_parts(leaf: Segmentation) -> list[Segmentation]:
    """Make a leaf of each connected part of a mask of several leaves."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(leaf.mask.view(np.uint8))
    areas = stats[1:, cv2.CC_STAT_AREA]
    parts = np.flatnonzero(areas >= _LEAST_PART * areas.max()) + 1
    return [Segmentation.from_mask(labels == part) for part in parts]
