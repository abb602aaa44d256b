"""The leaf's shape and a random forest [1]_, by the mask of `leafid.segment`.

References
----------
.. [1] L. Breiman, "Random forests", Machine Learning 45(1), 2001,
   doi:10.1023/A:1010933404324
"""

import cv2
import numpy as np
from peers import evaluate_on_folds
from skimage.measure import regionprops
from sklearn.ensemble import RandomForestClassifier

import leafid


def describe(picture):
    """Describe the blade by ratios of its lengths and areas, and Hu's moments.

    Float (13,), 0 without a leaf.
    """
    image = leafid.read_image(picture.file)
    blade = leafid.segment(image, picture.type).blade
    if not blade.any():
        return np.zeros(13)
    (region,) = regionprops(blade.astype(np.uint8))
    rows, columns = region.image.shape
    hu = cv2.HuMoments(cv2.moments(blade.astype(np.uint8), binaryImage=True))[:, 0]
    return np.array(
        [
            region.solidity,
            region.eccentricity,
            region.extent,
            max(rows, columns) / min(rows, columns),
            4 * np.pi * region.area / region.perimeter**2,
            region.perimeter / region.axis_major_length,
            *np.sign(hu) * np.log10(np.abs(hu) + 1e-12),
        ]
    )


if __name__ == "__main__":
    evaluate_on_folds(describe, RandomForestClassifier(300, random_state=0))
