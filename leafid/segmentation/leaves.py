"""Every leaf of a picture, from its sheet or from masks, and the holes in a leaf."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from leafid.errors import ImageError, LeafidError
from leafid.pictures.decoding import read_alpha, read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.background import erase
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.pixels import Image, Mask, Plane, get_window, make_square
from leafid.segmentation.regions import MIN_SHARE
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment_pieces
from leafid.segmentation.sheets.contrast import measure_distance_around

# Width of the sheet around a leaf that is cut out, as a part of its longer side.
_MARGIN = 0.15
# A hole is nearer to the sheet's colour than this part of the leaf's mean distance, and
# has this part of its area.
_NEAR = 0.4
_LEAST_HOLE = 2e-4
# Smallest part of a mask that is a leaf, as a part of the largest one's area.
_LEAST_PART = 0.01
# Ends of names that segment gives to masks, and to masks of single leaves.
_MASK_END = re.compile(r"(_leaf-\d+)?_mask$")
_LEAF_END = re.compile(r"_leaf-\d+_mask$")
#: Masks by what messages call them: uint8 (H, W), high where the leaf is.
Masks = Mapping[str, Plane]


def segment_leaves(
    image: Image, acquisition_type: AcquisitionType
) -> list[Segmentation]:
    """Cut every leaf out of a picture, as `segment` does: the largest first.

    Each further leaf is what `segment` finds after the leaves before were erased. A
    photo has one at most. A compound leaf is one leaf; leaves so near to each other
    that `segment` takes them for one are split. All have the number of the leaves.
    """
    leaves: list[Segmentation] = []
    n_further = 1
    while n_further:
        pieces = segment_pieces(image, acquisition_type)
        if not pieces[0].mask.any():
            break
        size = np.count_nonzero(pieces[0].mask)
        if leaves and size < MIN_SHARE * np.count_nonzero(leaves[0].mask):
            break
        n_further = pieces[0].n_leaves - len(pieces)
        leaves += pieces
        if n_further:
            image = erase(image, np.any([piece.mask for piece in pieces], axis=0))
    whole = [
        replace(leaf, blade=remove_petiole(leaf.mask), n_leaves=len(leaves))
        for leaf in leaves
    ]
    return sorted(whole, key=lambda leaf: -np.count_nonzero(leaf.blade))


def isolate_leaf(image: Image, leaves: Sequence[Segmentation], index: int) -> Image:
    """Cut one of several leaves out of a picture with some of the sheet around it.

    The other leaves are erased.
    """
    erased = np.any(
        [leaf.mask for number, leaf in enumerate(leaves) if number != index], axis=0
    )
    image = erase(image, erased, leaves[index].mask)
    row0, row1, col0, col1 = box = leaves[index].box
    margin = round(_MARGIN * max(row1 - row0, col1 - col0))
    return image[get_window(box, margin)]


def find_holes(image: Image, leaf: Segmentation) -> Mask:
    """Mark the parts of a leaf that look like the sheet: holes or reflections.

    Where the leaf was found in even light, they are searched for in that.
    """
    window = get_window(leaf.box)
    seen = image if leaf.picture is None else leaf.picture
    distance = measure_distance_around(seen, leaf.mask)[window]
    mask = leaf.mask[window].view(np.uint8)
    inside = cv2.erode(mask, make_square(3), borderValue=0)
    near = (distance < _NEAR * cv2.mean(distance, inside)[0]).view(np.uint8) & inside
    _, labels, stats, _ = cv2.connectedComponentsWithStats(near, connectivity=4)
    is_hole = stats[:, cv2.CC_STAT_AREA] >= max(4, _LEAST_HOLE * mask.sum())
    is_hole[0] = False
    holes = np.zeros_like(leaf.mask)
    holes[window] = is_hole[labels]
    return holes


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
        stem = picture.stem
        folder = picture.absolute().parent.name
        expected = f"expected one mask, {stem}.png or {stem}_mask.png"
        hint = f"in a folder {folder} where pictures share that name"
        problem = " and ".join(map(str, whole)) or "none"
        raise ImageError(f"{picture}: {expected} ({hint}), found {problem}")
    try:
        return {str(mask): _read_mask(mask) for mask in whole or masks}
    except ImageError as error:
        raise ImageError(f"{picture}: {error}") from error


def _read_mask(file: Path) -> Plane:
    alpha = read_alpha(file)
    return read_image(file).max(axis=2) if alpha is None else alpha


def segment_by_masks(masks: Masks, image: Image) -> list[Segmentation]:
    """Take the leaves of an image from its masks.

    An `ImageError` says which mask can't be one of it.
    """
    leaves = []
    for name, mask in masks.items():
        if mask.shape != image.shape[:2]:
            raise ImageError(
                f"{name}: expected a mask of {image.shape[:2]} pixels, found "
                f"{mask.shape}"
            )
        try:
            leaves.append(Segmentation.from_mask(mask))
        except LeafidError as error:
            raise ImageError(f"{name}: {error}") from error
    return leaves


def split_parts(leaf: Segmentation) -> list[Segmentation]:
    """Make a leaf of each connected part of a mask of several leaves, largest first."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(leaf.mask.view(np.uint8))
    areas = stats[1:, cv2.CC_STAT_AREA]
    order = np.argsort(-areas, kind="stable")
    parts = order[areas[order] >= _LEAST_PART * areas.max()] + 1
    return [Segmentation.from_mask(labels == part) for part in parts]
