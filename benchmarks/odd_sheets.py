"""Segmentation of leaves on sheets in frames, on tightly cropped sheets, and on grey sheets.

Changes the surroundings of the leaf in scans and scan-likes of a collection, and compares the masks with those of the
original pictures. Prints a Markdown table: the number of masks with an IoU below 0.7, and the mean IoU.

    python -m benchmarks.odd_sheets COLLECTION [--pictures 200] [--jobs 2]
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from leafid.collection import AcquisitionType, read_collection
from leafid.images import read_image
from leafid.parallel import ordered_map
from leafid.segmentation import segment
from leafid.segmentation.result import Image, Mask
from leafid.tasks.interpretation.localisation import pascal_score

LONGEST_SIDE = 800
_FRAMES = {
    "in a dark frame of 1 %": (0.01, (20, 20, 20)),
    "… 3 %": (0.03, (20, 20, 20)),
    "… 10 %": (0.1, (20, 20, 20)),
    "in a grey frame of 6 %": (0.06, (110, 110, 110)),
    "in a brown frame of 6 %": (0.06, (60, 90, 130)),
}
_GREY_SHEETS = (240, 160, 130, 110, 40, 25, 10, 0)


def vary_picture(image: Image, mask: Mask) -> Iterator[tuple[str, Image, Mask]]:
    """Yield changes in words, the changed picture, and the mask of the leaf in it."""
    rows, cols = image.shape[:2]
    for what, (part, colour) in _FRAMES.items():
        width = round(part * max(rows, cols))
        yield what, *_add_frame(image, mask, (width,) * 4, colour)
    above, left = (max(rows, cols) - rows) // 2, (max(rows, cols) - cols) // 2
    bars = (above, max(rows, cols) - rows - above, left, max(rows, cols) - cols - left)
    yield "with black bars, square", *_add_frame(image, mask, bars, (0, 0, 0))
    found_rows, found_cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = slice(found_rows[0], found_rows[-1] + 1), slice(found_cols[0], found_cols[-1] + 1)
    yield "cut out along the leaf's box", np.ascontiguousarray(image[box]), mask[box]
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    leaf = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1)
    for sheet in _GREY_SHEETS:
        mixed = (grey * leaf + sheet * (1 - leaf)).astype(np.uint8)
        yield f"grey, on a sheet of grey value {sheet}", cv2.cvtColor(mixed, cv2.COLOR_GRAY2BGR), mask


def measure_overlaps(file: Path) -> list[tuple[str, float]]:
    """Measure the IoU of the masks of each changed picture and of the original."""
    image = read_image(file, LONGEST_SIDE)
    mask = segment(image, AcquisitionType.SCAN).mask
    if not mask.any():
        return []
    found = []
    for what, other, wanted in vary_picture(image, mask):
        own = segment(other, AcquisitionType.SCAN).mask
        found.append((what, pascal_score(wanted, own)))
    return found


def _add_frame(
    image: Image, mask: Mask, widths: tuple[int, int, int, int], colour: tuple[int, int, int]
) -> tuple[Image, Mask]:
    wider = cv2.copyMakeBorder(image, *widths, cv2.BORDER_CONSTANT, value=colour)
    return wider, np.pad(mask, (widths[:2], widths[2:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--pictures", type=int, default=200, help="drawn at random, seed 0")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sheets = [p.file for p in read_collection(arguments.collection).pictures if p.type != AcquisitionType.PHOTO]
    chosen = np.random.default_rng(0).permutation(len(sheets))[: arguments.pictures]
    by_change = defaultdict(list)
    for found in ordered_map(measure_overlaps, [sheets[number] for number in chosen], arguments.jobs):
        for what, overlap in found:
            by_change[what].append(overlap)
    print("| pictures | found otherwise | of | mean IoU |\n|---|---:|---:|---:|")
    for what, values in by_change.items():
        print(f"| {what} | {sum(value < 0.7 for value in values)} | {len(values)} | {np.mean(values):.3f} |")


if __name__ == "__main__":
    main()
