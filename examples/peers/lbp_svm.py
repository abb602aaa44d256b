"""Uniform local binary patterns at three radii, and an SVM [1]_.

References
----------
.. [1] T. Ojala, M. Pietikäinen, T. Mäenpää, "Multiresolution gray-scale and rotation
   invariant texture classification with local binary patterns", IEEE TPAMI 24(7), 2002,
   doi:10.1109/TPAMI.2002.1017623
"""

import cv2
import numpy as np
from peers import evaluate_on_folds
from skimage.feature import local_binary_pattern
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import leafid


def describe(picture):
    """Count rotation-invariant patterns of 8, 16 and 24 neighbours; float (54,)."""
    grey = cv2.cvtColor(leafid.read_image(picture.file), cv2.COLOR_BGR2GRAY)
    scale = 256 / max(grey.shape)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    histograms = []
    for radius in (1, 2, 3):
        patterns = local_binary_pattern(grey, 8 * radius, radius, "uniform").astype(int)
        histograms.append(
            np.bincount(patterns.ravel(), minlength=8 * radius + 2) / patterns.size
        )
    return np.concatenate(histograms)


if __name__ == "__main__":
    evaluate_on_folds(
        describe, make_pipeline(StandardScaler(), SVC(C=10.0, gamma="scale"))
    )
