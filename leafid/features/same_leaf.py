"""Finds pictures of one leaf: scanned twice, or saved at another size."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import cv2
import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from leafid.descriptors.local.grid import LocalFeatures
from leafid.features.extractor import (
    PictureViews,
    extract_local_features,
    segment_as_type,
)
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Expert
from leafid.grouping import group_by
from leafid.parallel.progress import show_progress
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import Picture

#: Number of points in the same arrangement from which two pictures count as one leaf.
MIN_MATCHES = 13
_POINTS = Expert(descriptor="detected-sift", view="upright", size=300)
# Lowe's ratio of the distances to the nearest and the next descriptor, and the
# tolerance of positions.
_MAX_RATIO = 0.8
_TOLERANCE = 0.02


def detect_points(picture: Picture) -> LocalFeatures:
    """Detect points on the upright leaf of a picture of known type."""
    image = read_image(picture.file, 400)
    return extract_local_features(
        PictureViews(image, segment_as_type(image, picture.require_type())), _POINTS
    )


def count_matches(first: LocalFeatures, second: LocalFeatures) -> int:
    """Count the points of two leaves that look alike in the same arrangement.

    One leaf may be turned or resized.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV
       60(2), 2004, section 7, doi:10.1023/B:VISI.0000029664.99615.94
    """
    if min(len(first), len(second)) < 2:
        return 0
    products = first.descriptors @ second.descriptors.T
    nearest = products.argmax(axis=1)
    # Descriptors have length 1: the square of a distance is 2 minus twice the product.
    next_best, best = (2 - 2 * np.partition(products, -2, axis=1)[:, -2:]).T
    is_mutual = products.argmax(axis=0)[nearest] == np.arange(len(nearest))
    matches = np.flatnonzero(is_mutual & (best < _MAX_RATIO**2 * next_best))
    if len(matches) < MIN_MATCHES:
        return 0
    inliers = cv2.estimateAffinePartial2D(
        first.positions[matches],
        second.positions[nearest[matches]],
        ransacReprojThreshold=_TOLERANCE,
    )[1]
    return 0 if inliers is None else int(inliers.sum())


def find_similar(
    pictures: Sequence[Picture], loader: FeatureLoader
) -> Iterator[list[Picture]]:
    """Yield the groups of pictures with one label that seem to show one leaf.

    Chains of similar pairs make a group. Time grows with the square of the number of
    pictures of a label; a thousand pairs take a tenth of a second.
    """
    by_label = group_by(pictures, lambda picture: picture.species)
    labels = [by_label[label] for label in sorted(by_label, key=str)]
    for members in show_progress(labels, len(labels), "compare"):
        points = enumerate(loader.map_pictures(detect_points, members))
        readable = [(index, leaf) for index, leaf in points if leaf is not None]
        groups = DisjointSet(range(len(members)))
        for (first, first_points), (second, second_points) in combinations(readable, 2):
            if count_matches(first_points, second_points) >= MIN_MATCHES:
                groups.merge(first, second)
        for group in groups.subsets():
            if len(group) > 1:
                yield [members[index] for index in sorted(group)]
