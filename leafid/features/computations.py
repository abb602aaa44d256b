"""What is computed from a picture, and by which keys it is cached."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from leafid.features.augmentation import Augmentation, AugmentedPicture
from leafid.features.extractor import (
    TYPE_SIDE,
    FeatureExtractor,
    Features,
    measure_type_features,
)
from leafid.grouping import group_by
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import Picture
from leafid.segmentation.condition import Condition
from leafid.versions import TYPE_VERSION

#: Arrays of a picture, each with one axis, by anything that names them.
Arrays = dict[Any, np.ndarray]


@dataclass(frozen=True)
class CachedComputation:
    """A computation from pictures that is cached; picklable, as workers get it."""

    #: Everything but the picture that decides an array, by the array's name.
    keys: dict[Any, str]
    #: Pictures are reduced to it when they are read, in pixels.
    longest_side: int | None
    #: ``function(image, picture, names)`` returns the arrays with these names.
    function: Callable[[np.ndarray, Picture, Sequence[Any]], Arrays]
    #: The type in which arrays are stored.
    dtype: type[np.floating] = np.float16

    def make_keys(self, picture: Picture, content_hash: str | None) -> dict[Any, bytes]:
        """Make the cache's keys of a picture's arrays, by name."""
        words = f"|{picture.type}|{content_hash}"
        return {
            name: hashlib.sha256((key + words).encode()).digest()
            for name, key in self.keys.items()
        }

    def compute(
        self, picture: Picture, names: Sequence[Any]
    ) -> tuple[Arrays, dict[Any, bytes]]:
        """Compute the arrays of a picture with these names.

        Also returns their keys, for the content that was read.
        """
        image, content_hash = read_hashed_image(
            picture.file, self.longest_side, picture.data
        )
        # In the range of its type, and rounded, a computed array equals a cached one to
        # the last bit.
        greatest = np.finfo(self.dtype).max
        arrays = self.function(image, picture, names)
        for name, array in arrays.items():
            arrays[name] = np.clip(array, -greatest, greatest).astype(self.dtype)
        return arrays, self.make_keys(picture, content_hash)


@dataclass(frozen=True)
class PictureFunction:
    """A picklable function of pictures, whose results are cached."""

    #: It stands for the function in the cache, and changes with it.
    key: str
    #: ``compute(image, picture)`` gives the result, float (n,).
    compute: Callable[[np.ndarray, Picture], np.ndarray]
    #: Pictures are reduced to it before, in pixels.
    longest_side: int | None = None
    #: The type in which results are stored.
    dtype: type[np.floating] = np.float16

    def compute_by_key(
        self, image: np.ndarray, picture: Picture, keys: Sequence[str]
    ) -> Arrays:
        """Compute the result by its key, for `CachedComputation.function`."""
        return {key: self.compute(image, picture) for key in keys}


#: `measure_type_features`, from which acquisition types are recognised.
TYPE_FEATURES = PictureFunction(
    f"type|{TYPE_VERSION}", measure_type_features, TYPE_SIDE
)


def make_extraction(
    extractor: FeatureExtractor,
    augmentations: Sequence[Augmentation | None],
    names: Sequence[str],
) -> CachedComputation:
    """Make the computation of an extractor's vectors of augmentations of a picture."""
    keys = {}
    for number, augmentation in enumerate(augmentations):
        words = augmentation.make_feature_key() if augmentation else ""
        for name in names:
            keys[number, name] = extractor.make_feature_key(name, words)
    return CachedComputation(
        keys,
        longest_side=extractor.longest_side,
        function=partial(_extract_arrays, extractor, augmentations),
    )


def _extract_arrays(
    extractor: FeatureExtractor,
    augmentations: Sequence[Augmentation | None],
    image: np.ndarray,
    picture: Picture,
    names: Sequence[tuple[int, str]],
) -> Arrays:
    """Extract vectors; the values of the `Condition` come before each."""
    source = AugmentedPicture(
        image, picture.require_type(), extractor.longest_side, extractor.needed_parts
    )
    arrays: Arrays = {}
    for number, pairs in group_by(names, lambda name: name[0]).items():
        views = source.make_views(augmentations[number])
        vector_names = [vector_name for _, vector_name in pairs]
        features = extractor.extract_from_views(views, vector_names)
        for vector_name, vector in features.vectors.items():
            arrays[number, vector_name] = np.append(features.condition, vector)
    return arrays


def make_features(arrays: Arrays, number: int, names: Sequence[str]) -> Features:
    """Make the features of an augmentation from the arrays of `_extract_arrays`."""
    n_values = len(Condition._fields)
    condition = Condition(*arrays[number, names[0]][:n_values].tolist())
    vectors = {name: arrays[number, name][n_values:] for name in names}
    return Features(vectors, condition)
