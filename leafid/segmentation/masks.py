"""Masks of one's own: the files of a folder, named as segment writes them, or the alpha channel of a picture."""

from collections.abc import Mapping
from glob import escape
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.errors import ImageError, LeafidError
from leafid.pictures.decoding import read_alpha, read_image
from leafid.segmentation.result import Image, Segmentation

# Smallest part of a mask that is a leaf, as a part of the largest one's area.
_LEAST_PART = 0.01
#: Masks by what messages call them: uint8 (H, W), high where the leaf is.
Masks = Mapping[str, NDArray[np.uint8]]


def check_masks_folder(folder: str | None) -> None:
    """Raise a `LeafidError` where the folder of masks that a person names is none."""
    if folder and not Path(folder).is_dir():
        raise LeafidError(f"{folder}: expected a folder of masks, found none")


def read_own_masks(file: Path, folder: str | None) -> Masks:
    """Read the masks of a picture: several where each is one of its leaves, none where it has none of its own.

    Without a folder it is the alpha channel of the picture. An `ImageError` is raised where the folder has none.
    """
    if folder is None:
        alpha = read_alpha(file)
        return {} if alpha is None else {"alpha channel": alpha}
    names = [f"{file.stem}.png", f"{file.stem}_mask.png"]
    masks = [path for name in names if (path := Path(folder, name)).exists()]
    if not masks:
        masks = sorted(Path(folder).glob(f"{escape(file.stem)}_leaf-*_mask.png"))
    elif len(masks) == 2:
        masks = []
    if not masks:
        expected = f"expected one mask in {folder}, {' or '.join(names)}"
        raise ImageError(f"{file}: {expected}, found none or both")
    try:
        return {str(mask): _read_mask(mask) for mask in masks}
    except ImageError as error:
        raise ImageError(f"{file}: {error}") from error


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
    """Make a leaf of each connected part of a mask of several leaves, largest first."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(leaf.mask.view(np.uint8))
    areas = stats[1:, cv2.CC_STAT_AREA]
    order = np.argsort(-areas, kind="stable")
    parts = order[areas[order] >= _LEAST_PART * areas.max()] + 1
    return [Segmentation.from_mask(labels == part) for part in parts]
