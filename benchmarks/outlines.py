"""How often the outline of a leaf is right where leafid is sure of it.

    python -m benchmarks.outlines reliability SHARED
    python -m benchmarks.outlines fit SHARED

Scans of ImageCLEF 2011 and leaves of the UCI set, whose masks are known, are disturbed
by `benchmarks.disturbing`, and cut out again. The confidence of an outline is fitted on
one half of the plants; the tables are of the other half. A mask is right where its IoU
with the leaf is at least 0.9. `reliability` prints

- for the unaltered pictures, and for each disturbance, how many masks are right, how
  many have a confidence of 0.9, and how many of those are right: by the confidence of
  the segmentation, and by that of the outline;
- how many masks are right, and how many areas and lengths are within 5 %, in ranges of
  the confidence.

`fit` prints the numbers of `leafid.segmentation.outlines` that the first half gives.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from sklearn.linear_model import LogisticRegression
from tabulate import tabulate

from benchmarks.disturbing import DISTURBANCES
from benchmarks.pictures import select_pictures
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.outlines import measure_outline_cues
from leafid.segmentation.pixels import Image, Mask, find_convex_hull
from leafid.segmentation.segment import segment

_SIDE = 800
# Smallest confidence of a segmentation whose mask stands for the leaf of a scan.
_MIN_CONFIDENCE = 0.8
_MIN_IOU = 0.9
_SURE = 0.9
_TOLERANCE = 0.05
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.01)


class Leaf(NamedTuple):
    """A picture with the mask that is known of its leaf."""

    collection: str
    plant: str
    image: Image
    mask: Mask


class Outcome(NamedTuple):
    """What came of cutting a leaf out of a disturbed picture."""

    picture: str
    is_taught: bool
    iou: float
    segmentation: float
    outline: float
    area_error: float
    length_error: float
    cues: np.ndarray | None


def list_leaves(shared: Path, number: int) -> Iterator[Leaf]:
    """List scans that are cut out well, and a third as many leaves of the UCI set."""
    for picture in select_pictures(shared, number)[AcquisitionType.SCAN]:
        image = read_image(picture.file, _SIDE)
        leaf = segment(image, AcquisitionType.SCAN, petiole=False)
        if leaf.confidence >= _MIN_CONFIDENCE:
            yield Leaf("scan", str(picture.group), image, leaf.mask)
    files = sorted((shared / "uci-leaf" / "RGB").glob("*.JPG"))
    for file in files[:: max(1, 3 * len(files) // number)]:
        drawn = read_image(file.parents[1] / "masks" / f"{file.stem}.png")
        yield Leaf("UCI", file.stem, read_image(file), drawn.max(axis=2) > 0)


def cut_out(leaf: Leaf, number: int) -> Iterator[Outcome]:
    """Cut a leaf out of its picture, unaltered and disturbed."""
    kinds = {"as is": lambda image, mask, _random: (image, mask)} | DISTURBANCES
    for index, (name, disturb) in enumerate(kinds.items()):
        random = np.random.default_rng([number, index])
        image, mask = _limit(*disturb(leaf.image, leaf.mask, random))
        segmentation = segment(image, AcquisitionType.SCAN_LIKE, petiole=False)
        union = int(np.count_nonzero(segmentation.mask | mask))
        yield Outcome(
            f"{leaf.collection}, {name}",
            zlib.crc32(leaf.plant.encode()) % 2 == 0,
            float(np.count_nonzero(segmentation.mask & mask) / max(union, 1)),
            segmentation.confidence,
            segmentation.outline_confidence,
            abs(np.count_nonzero(segmentation.mask) / np.count_nonzero(mask) - 1),
            abs(_measure_length(segmentation.mask) / _measure_length(mask) - 1),
            measure_outline_cues(image, segmentation.mask)
            if segmentation.mask.any()
            else None,
        )


def _limit(image: Image, mask: Mask) -> tuple[Image, Mask]:
    scale = min(1.0, _SIDE / max(mask.shape))
    size = [round(side * scale) for side in mask.shape[::-1]]
    reduced = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    share = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    return reduced, share > 0.5


def _measure_length(mask: Mask) -> float:
    """Measure the longest diameter."""
    if not mask.any():
        return 0.0
    corners = find_convex_hull(mask.view(np.uint8))[:, 0].astype(float)
    return float(np.linalg.norm(corners[:, None] - corners, axis=2).max()) + 1


def describe_kinds(outcomes: list[Outcome]) -> Iterator[list[object]]:
    """Describe, by kind of picture, how many masks are right, sure, and both."""
    for kind in [*dict.fromkeys(outcome.picture for outcome in outcomes), "all"]:
        chosen = [outcome for outcome in outcomes if kind in (outcome.picture, "all")]
        right = np.array([outcome.iou >= _MIN_IOU for outcome in chosen])
        row: list[object] = [kind, len(chosen), right.mean()]
        for number in ("segmentation", "outline"):
            sure = np.array([getattr(outcome, number) >= _SURE for outcome in chosen])
            row += [sure.mean(), right[sure].mean() if sure.any() else None]
        yield row


def describe_ranges(outcomes: list[Outcome]) -> Iterator[list[object]]:
    """Describe how many masks, areas and lengths are right by confidence."""
    for low, high in pairwise(_BINS):
        chosen = [outcome for outcome in outcomes if low <= outcome.outline < high]
        if chosen:
            yield [
                low,
                len(chosen),
                np.mean([outcome.outline for outcome in chosen]),
                np.mean([outcome.iou >= _MIN_IOU for outcome in chosen]),
                np.mean([outcome.area_error <= _TOLERANCE for outcome in chosen]),
                np.mean([outcome.length_error <= _TOLERANCE for outcome in chosen]),
            ]


def fit(outcomes: list[Outcome]) -> tuple[float, np.ndarray]:
    """Fit the offset and the slopes of the confidence to outcomes."""
    judged = [outcome for outcome in outcomes if outcome.cues is not None]
    cues = np.array([outcome.cues for outcome in judged])
    is_right = [outcome.iou >= _MIN_IOU for outcome in judged]
    fitted = LogisticRegression(C=10).fit(cues, is_right)
    return float(fitted.intercept_[0]), -fitted.coef_[0]


def main() -> None:
    """Print the tables, or the numbers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["reliability", "fit"])
    parser.add_argument("shared", type=Path)
    parser.add_argument(
        "--number", type=int, default=25, help="number of scans to disturb"
    )
    options = parser.parse_args()
    outcomes = [
        outcome
        for number, leaf in enumerate(list_leaves(options.shared, options.number))
        for outcome in cut_out(leaf, number)
    ]
    if options.what == "fit":
        offset, slopes = fit([outcome for outcome in outcomes if outcome.is_taught])
        print(f"_OFFSET = {offset:.2f}\n_SLOPES = {tuple(slopes.round(2).tolist())}")
        return
    held_out = [outcome for outcome in outcomes if not outcome.is_taught]
    columns = ["pictures", "n", "right", "sure before", "right", "sure", "right"]
    print(tabulate(describe_kinds(held_out), columns, floatfmt=".2f", missingval="–"))
    columns = ["from", "n", "mean", "IoU ≥ .9", "area ± 5 %", "length ± 5 %"]
    print()
    print(tabulate(describe_ranges(held_out), columns, floatfmt=".2f"))


if __name__ == "__main__":
    main()
