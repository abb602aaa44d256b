"""Measures segmentation against masks of leaves on coloured card.

The pictures are of UCI "Leaf" (Silva, Marçal, da Silva 2013). The masks don't include
the petiole: they are compared with the blade. Times are of one core, without reading.

    LEAFID_REAL_DATA=path/to/data python benchmarks/segmentation_quality.py [--worst N]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import cv2
import numpy as np

from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment


def measure(folder: Path) -> dict[str, tuple[float, float]]:
    """Measure the IoU, and the CPU time in milliseconds, of every picture."""
    measured = {}
    for file in sorted((folder / "RGB").glob("*.JPG")):
        image = read_image(file)
        true = read_image(folder / "masks" / f"{file.stem}.png").any(axis=2)
        start = time.thread_time()
        blade = segment(image, AcquisitionType.SCAN_LIKE).blade
        spent = time.thread_time() - start
        measured[file.stem] = (
            (true & blade).sum() / (true | blade).sum(),
            1000 * spent,
        )
    return measured


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--worst",
        type=int,
        default=5,
        metavar="N",
        help="list this many of the worst (default: 5)",
    )
    arguments = parser.parse_args()
    data = os.environ.get("LEAFID_REAL_DATA")
    if not data or not (Path(data) / "uci-leaf").is_dir():
        print(
            "set LEAFID_REAL_DATA to the folder that holds uci-leaf/", file=sys.stderr
        )
        return 2
    cv2.setNumThreads(1)
    measured = measure(Path(data) / "uci-leaf")
    overlap, spent = np.array(list(measured.values())).T
    print(f"pictures         {len(measured)}")
    print(f"mean IoU         {overlap.mean():.4f}")
    print(f"median IoU       {np.median(overlap):.4f}")
    print(f"least IoU        {overlap.min():.4f}")
    print(f"time, median     {np.median(spent):.1f} ms")
    for name in sorted(measured, key=lambda name: measured[name])[: arguments.worst]:
        print(f"  {name}  {measured[name][0]:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
