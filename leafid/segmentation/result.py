"""The leaf of one picture.

What works on pixels alone is in `leafid.segmentation.pixels`, and can be had from here.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.errors import InputError
from leafid.notebook import NotebookMixin, plot_outlines
from leafid.segmentation.outlines import (
    Ring,
    estimate_outline_confidence,
    sketch_outlines,
)
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.pixels import (
    Image,
    Mask,
    Value,
    downsample2,
    find_bounding_box,
    find_convex_hull,
    get_window,
    list_border,
    list_halves,
    make_square,
    shrink,
)
from leafid.segmentation.regions import may_be_several

__all__ = [
    "Image",
    "Mask",
    "Value",
    "downsample2",
    "find_bounding_box",
    "find_convex_hull",
    "list_halves",
    "shrink",
]

# Share of the picture's border that a leaf may take, even where it is cut off.
_MOST_BORDER = 0.5
# Labels lower than the greatest are between these parts of it, and flat in this part of
# what a mask marks: other values are noise, or soft edges.
_LABELS = (0.05, 0.95)
_LEAST_LABEL = 0.005


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(NotebookMixin):
    """The leaf of one picture."""

    #: The whole leaf with its petiole; all False without a leaf.
    mask: Mask
    #: The mask without the petiole; empty only where the mask is.
    blade: Mask
    #: Confidence that the mask is one leaf, cut out well; from 0 (no leaf) to 1.
    confidence: float
    #: Position of the edge between the pixels, (H, W), for a small picture on a sheet:
    #: above 127 inside the mask, 255 well inside, 0 well outside. The mask of an
    #: enlarged picture is where the enlarged coverage exceeds 127.
    coverage: NDArray[np.uint8] | None = None
    #: Number of leaves in the picture; the mask shows one of them.
    n_leaves: int = 1
    #: The picture of a sheet that the leaf was cut out of, which `outline_confidence`
    #: is measured in; in even light, if the leaf was found in that.
    picture: Image | None = None
    #: Whether the mask is known to be in one piece, but for small ones.
    is_whole: bool = False

    @classmethod
    def from_mask(cls, mask: ArrayLike) -> "Segmentation":
        """Take the leaf from a mask, and separate its petiole as `leafid.segment` does.

        The mask is an array (H, W) of numbers, highest where the leaf is: True, 1 and
        255 mean the same, and soft edges are cut at half of the greatest. All of a mask
        with two labels, as of blade and petiole, is leaf. Of an image with an alpha
        channel, (H, W, 2 or 4), this is the mask.

        Raises
        ------
        InputError
            Where nothing is leaf, or most of the border, as when a mask is inverted, or
            there are more than two labels, of which ``labels == 1`` selects one.
        """
        array = np.asarray(mask)
        if array.ndim == 3 and array.shape[2] in {2, 4}:
            array = array[:, :, -1]
        if array.ndim != 2 or array.dtype.kind not in "buif":
            raise InputError(
                f"mask: expected numbers of shape (H, W), found {array.dtype} of shape "
                f"{array.shape}"
            )
        greatest = float(array.max(initial=0))
        if not 0 < greatest < np.inf:
            raise InputError(
                "mask: expected finite numbers above 0 where the leaf is, found "
                f"{greatest:g} as the greatest"
            )
        level = array.astype(np.float32) / np.float32(greatest)
        leaf = level > min([1.0, *_list_lower_labels(level)]) / 2
        border = list_border(leaf).mean()
        if border > _MOST_BORDER:
            share = f"{border:.0%} of the border; is the mask inverted?"
            raise InputError(f"mask: expected a leaf inside the picture, found {share}")
        return cls(leaf, remove_petiole(leaf), 1.0)

    def __repr__(self) -> str:
        (rows, cols), share = self.mask.shape, self.mask.mean()
        size = f"{cols} × {rows} pixels: {share:.1%} leaf"
        confidence = f"confidence {self.outline_confidence:.2f}"
        return f"<Segmentation of {size}, {confidence}>"

    def plot(self, image: Any = None, ax: Any = None) -> Any:
        """Draw the outlines over the mask or its BGR image; return the axes."""
        shown = self.mask if image is None else np.asarray(image)[:, :, ::-1]
        return plot_outlines(shown, self.outlines, ax)

    @property
    def outlines(self) -> dict[str, list[Ring]]:
        """Lines around the parts of the blade and the petiole, by colour."""
        return {
            "red": sketch_outlines(self.blade),
            "magenta": sketch_outlines(self.petiole),
        }

    @cached_property
    def outline_confidence(self) -> float:
        """The probability that the mask has an IoU of 0.9 with the leaf.

        Without a picture it is `confidence`, which is not calibrated; classifiers were
        trained with that.
        """
        if self.picture is None or not self.mask.any():
            return self.confidence
        return estimate_outline_confidence(self.picture, self.mask)

    @cached_property
    def may_be_several(self) -> bool:
        """Whether the mask may be of several leaves that touch, or nearly so."""
        window = get_window(self.box)
        return may_be_several(self.mask[window], is_whole=self.is_whole)

    @cached_property
    def box(self) -> tuple[int, int, int, int]:
        """The mask's bounding box, as by `find_bounding_box`."""
        return find_bounding_box(self.mask)

    @property
    def petiole(self) -> Mask:
        """The mask without the blade."""
        return self.mask & ~self.blade


def _list_lower_labels(level: NDArray[np.float32]) -> list[float]:
    """List the label of a mask below its greatest, 1.

    An `InputError` is raised where there are several.
    """
    square = make_square(3)
    is_flat = cv2.erode(level, square) == cv2.dilate(level, square)
    lowest, highest = _LABELS
    between = level[is_flat & (level > lowest) & (level < highest)]
    labels, counts = np.unique(between, return_counts=True)
    labels = labels[counts > _LEAST_LABEL * np.count_nonzero(level)]
    if len(labels) > 1:
        raise InputError(
            f"mask: expected one leaf, found {len(labels) + 1} labels; make a mask of "
            "those that are leaf"
        )
    return labels.tolist()
