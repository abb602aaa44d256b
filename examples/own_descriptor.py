"""Cross-validate a descriptor of your own beside leafid's, by plants.

Both are steps of a pipeline of scikit-learn.
"""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline, make_union

import leafid
from leafid.sklearn import LeafDescriptor


class Redness(TransformerMixin, BaseEstimator):
    """The mean share of red in the colours of a leaf."""

    def fit(self, pictures, y=None):
        """Learn nothing."""
        return self

    def transform(self, pictures):
        """Measure each picture; a row each."""
        rows = []
        for file in pictures:
            image = leafid.read_image(file)  # BGR
            colours = image[leafid.segment(image, "scan").mask].astype(float)
            rows.append([np.mean(colours[:, 2] / np.maximum(colours.sum(axis=1), 1))])
        return np.array(rows)


scans = leafid.read_collection("data/sample").part("train").select_type("scan").pictures
files, species, plants = zip(
    *((picture.file, picture.species, picture.plant) for picture in scans), strict=True
)
for name, columns in {
    "geometry": LeafDescriptor(["geometry"], "scan"),
    "geometry and redness": make_union(LeafDescriptor(["geometry"], "scan"), Redness()),
}.items():
    classifier = make_pipeline(columns, LinearDiscriminantAnalysis())
    # By plant: pictures of one plant look alike, and scores would be too high
    # otherwise.
    scores = cross_val_score(
        classifier, files, species, groups=plants, cv=GroupKFold(5)
    )
    print(f"{name}: {scores.mean():.3f} ± {scores.std():.3f}")
