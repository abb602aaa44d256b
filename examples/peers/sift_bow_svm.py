"""A bag of SIFT words and an SVM with a chi-squared kernel [1]_.

The keypoints are of the whole picture.

References
----------
.. [1] J. Zhang, M. Marszałek, S. Lazebnik, C. Schmid, "Local features and kernels for
   classification of texture and object categories: a comprehensive study", IJCV 73(2),
   2007, doi:10.1007/s11263-006-9794-4
"""

import cv2
import numpy as np
from peers import evaluate_on_folds
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import leafid


class BagOfWords(TransformerMixin, BaseEstimator):
    """Learns a codebook of local descriptors, and counts the words of a picture."""

    def __init__(self, words=500):
        self.words = words

    def fit(self, described, labels=None):
        """Learn the words from up to 100,000 descriptors."""
        joined = np.concatenate(described).astype(np.float32)
        sample = np.random.default_rng(0).permutation(len(joined))[:100_000]
        self.codebook_ = MiniBatchKMeans(
            self.words, batch_size=4096, n_init=1, random_state=0
        ).fit(joined[sample])
        return self

    def transform(self, described):
        """Return the share of each word in each picture.

        Float32 (n_pictures, n_words).
        """
        words = [
            self.codebook_.predict(descriptors.astype(np.float32))
            for descriptors in described
        ]
        return np.array(
            [np.bincount(row, minlength=self.words) / len(row) for row in words],
            np.float32,
        )


def describe(picture):
    """Describe the 300 strongest keypoints; uint8 (n, 128)."""
    grey = cv2.cvtColor(leafid.read_image(picture.file), cv2.COLOR_BGR2GRAY)
    descriptors = cv2.SIFT_create(nfeatures=300).detectAndCompute(grey, None)[1]
    return (
        np.zeros((1, 128), np.uint8)
        if descriptors is None
        else descriptors.astype(np.uint8)
    )


if __name__ == "__main__":
    evaluate_on_folds(
        describe, make_pipeline(BagOfWords(), SVC(C=10.0, kernel=chi2_kernel))
    )
