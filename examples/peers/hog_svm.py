"""HOG and a linear SVM [1]_: histograms of oriented gradients of the whole picture.

References
----------
.. [1] N. Dalal, B. Triggs, "Histograms of oriented gradients for human detection", CVPR
   2005, doi:10.1109/CVPR.2005.177
"""

import cv2
from peers import evaluate_on_folds
from skimage.feature import hog
from sklearn.svm import LinearSVC

import leafid


def describe(picture):
    """Describe the picture, squeezed into a square, by 8 × 8 cells; float (1764,)."""
    grey = cv2.cvtColor(leafid.read_image(picture.file), cv2.COLOR_BGR2GRAY)
    square = cv2.resize(grey, (128, 128), interpolation=cv2.INTER_AREA)
    return hog(square, orientations=9, pixels_per_cell=(16, 16), cells_per_block=(2, 2))


if __name__ == "__main__":
    evaluate_on_folds(describe, LinearSVC(C=1.0, random_state=0))
