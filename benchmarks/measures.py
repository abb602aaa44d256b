"""Compares measures of leaves with scikit-image's and PlantCV's on the same masks.

PlantCV is optional. The area is also that of the leaf as leafid cuts it out of the
picture, relative to the mask's. The masks are from the UCI "Leaf" set (Silva, Marçal,
da Silva 2013), which show no petiole.

    LEAFID_REAL_DATA=path/to/data python -m benchmarks.measures
"""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
from skimage.measure import regionprops

from leafid.descriptors.measures import measure_leaf
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.leaves import find_holes, segment_leaves
from leafid.segmentation.result import Segmentation

# The names of the same measures in scikit-image and in PlantCV.
MEASURES = {
    "area": ("area", "area"),
    "perimeter": ("perimeter", "perimeter"),
    "solidity": ("solidity", "solidity"),
}


def measure_with_plantcv(mask: np.ndarray) -> dict[str, float]:
    """Measure a mask, uint8 (H, W), with PlantCV."""
    plantcv = import_module("plantcv.plantcv")
    plantcv.params.debug = None
    plantcv.outputs.clear()
    plantcv.analyze.size(img=np.dstack([mask] * 3), labeled_mask=mask, n_labels=1)
    (observations,) = plantcv.outputs.observations.values()
    return {name: observation["value"] for name, observation in observations.items()}


def main() -> None:
    folder = Path(os.environ["LEAFID_REAL_DATA"]) / "uci-leaf" / "masks"
    ratios: dict[tuple[str, str], list[float]] = {}
    for file in sorted(folder.iterdir()):
        _, labels, stats, _ = cv2.connectedComponentsWithStats(
            read_image(file).max(axis=2)
        )
        mask = labels == 1 + stats[1:, cv2.CC_STAT_AREA].argmax()
        values = measure_leaf(Segmentation(mask, mask, 1.0)).values
        (region,) = regionprops(mask.view(np.uint8))
        of_libraries = {
            "scikit-image": {name: float(region[name]) for name, _ in MEASURES.values()}
        }
        if find_spec("plantcv"):
            of_libraries["PlantCV"] = measure_with_plantcv(mask.view(np.uint8))
        for library, measured in of_libraries.items():
            for name, names in MEASURES.items():
                ratio = float(values[name] or 0) / measured[names[library == "PlantCV"]]
                ratios.setdefault((name, library), []).append(ratio)
        picture = read_image(folder.parent / "RGB" / f"{file.stem}.JPG")
        leaf = segment_leaves(picture, AcquisitionType.SCAN_LIKE)[0]
        measures = measure_leaf(leaf, find_holes(picture, leaf))
        ratio = float(measures.values["area"] or 0) / float(values["area"] or 1)
        ratios.setdefault(("area", "cut out"), []).append(ratio)
    for (name, library), of_leaves in ratios.items():
        off = 100 * np.abs(np.array(of_leaves) - 1)
        within = int((off <= 2).sum())
        print(
            f"{name:<10} {library:<13} median {np.median(of_leaves):.4f}, {within} of "
            f"{len(off)} within 2 %"
        )


if __name__ == "__main__":
    main()
