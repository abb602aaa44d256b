"""Ffirst: texture of the leaf's interior and of its border, and linear SVMs [1]_.

Local binary patterns of sign and magnitude are counted over eight scales, as histogram
Fourier features [2]_; a linear SVM of each region has the approximate χ² kernel. All
leaves have one size, so that there is no choice among scales.

References
----------
.. [1] M. Šulc, J. Matas, "Fine-grained recognition of plants from images", Plant
   Methods 13, 2017, doi:10.1186/s13007-017-0265-4
.. [2] T. Ahonen, J. Matas, C. He, M. Pietikäinen, "Rotation invariant image description
   with local binary pattern histogram Fourier features", SCIA 2009,
   doi:10.1007/978-3-642-02230-2_7
"""

import cv2
import numpy as np
from leaf_area import cut_out_leaf
from peers import evaluate_on_folds
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

NEIGHBOURS = 8
#: Radii of the rings of neighbours, in pixels.
RADII = 2 ** (np.arange(8) / 2)
#: Pixels nearer to the outline belong to the border.
BORDER = 12
#: Features of a region: of each radius, 38 of the sign and 38 of the magnitude.
LENGTH = len(RADII) * 2 * 38


def label_codes():
    """Label each of the 256 codes by its bin.

    A code of n adjacent ones has the bin 8 (n - 1) and its turn; then come the bins of
    no ones, of ones only, and of all other codes.
    """
    labels = np.full(256, 58)
    labels[0] = 56
    labels[255] = 57
    for ones in range(1, NEIGHBOURS):
        for turn in range(NEIGHBOURS):
            code = sum(1 << (turn + bit) % NEIGHBOURS for bit in range(ones))
            labels[code] = NEIGHBOURS * (ones - 1) + turn
    return labels


LABELS = label_codes()


def describe(picture):
    """Describe interior and border; float (2, `LENGTH`), 0 without a leaf."""
    leaf = cut_out_leaf(picture, margin=BORDER)
    if leaf is None:
        return np.zeros((2, LENGTH))
    return describe_regions(*leaf)


def describe_regions(grey, mask):
    """Describe the interior and the border of a leaf by all scales."""
    depth = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
    regions = [depth > BORDER, mask & (depth <= BORDER)]
    features = [[], []]
    for radius in RADII:
        smooth = cv2.GaussianBlur(grey, (0, 0), radius / 2)
        for codes in compute_codes(smooth, radius, mask):
            for region, of_region in zip(regions, features, strict=True):
                of_region.append(compute_fourier_features(codes[region]))
    return np.reshape(features, (2, LENGTH))


def compute_codes(grey, radius, mask):
    """Compute the codes of sign and of magnitude; uint8 (H, W) each.

    A bit of the magnitude is set if the step to that neighbour is larger than the mean
    step inside the leaf.
    """
    steps = np.empty((NEIGHBOURS, *grey.shape), np.float32)
    for index in range(NEIGHBOURS):
        angle = 2 * np.pi * index / NEIGHBOURS
        shift = -radius * np.array([np.cos(angle), np.sin(angle)])
        transform = np.column_stack([np.eye(2), shift])
        neighbours = cv2.warpAffine(
            grey, transform, grey.shape[::-1], borderMode=cv2.BORDER_REPLICATE
        )
        steps[index] = neighbours - grey
    sizes = abs(steps)
    mean_size = sizes.mean(axis=0)[mask].mean()
    return _pack(steps >= 0), _pack(sizes >= mean_size)


def _pack(bits):
    return sum(bit * np.uint8(1 << index) for index, bit in enumerate(bits))


def compute_fourier_features(codes):
    """Describe the histogram of codes so that a turn by 45° changes nothing.

    Float (38,), 0 without codes.
    """
    counts = np.bincount(codes, minlength=256)
    shares = np.bincount(LABELS, weights=counts) / max(len(codes), 1)
    magnitudes = abs(np.fft.rfft(shares[:56].reshape(7, NEIGHBOURS)))
    return np.append(magnitudes, shares[56:])


class SumOfRegions(ClassifierMixin, BaseEstimator):
    """Adds the scores of a classifier of each region.

    The softmax of a sum is the product of probabilities, made of the same scores.
    """

    def __init__(self, classifier):
        self.classifier = classifier

    def fit(self, described, labels):
        """Train a classifier of each region."""
        regions = np.swapaxes(described, 0, 1)
        self.trained_ = [clone(self.classifier).fit(each, labels) for each in regions]
        self.classes_ = self.trained_[0].classes_
        return self

    def decision_function(self, described):
        """Return the sum of scores; float (n_pictures, n_species)."""
        regions = np.swapaxes(described, 0, 1)
        return sum(
            trained.decision_function(each)
            for trained, each in zip(self.trained_, regions, strict=True)
        )


if __name__ == "__main__":
    classifier = make_pipeline(AdditiveChi2Sampler(), LinearSVC(random_state=0))
    evaluate_on_folds(describe, SumOfRegions(classifier))
