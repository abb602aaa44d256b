"""Estimators of scikit-learn: `LeafDescriptor` for vectors, `LeafClassifier` for names.

They take a sequence of pictures, each as `leafid.Model.identify` takes it, in place of
a matrix, and work in ``Pipeline``, ``cross_val_score`` and ``GridSearchCV``. There,
``FunctionTransformer(model.embed)`` makes a matrix of the features of a model. `color`
is the order of channels in arrays, "bgr" or "rgb".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from leafid.api import train
from leafid.descriptors.registry import find_families, get_column_names
from leafid.errors import InputError, LeafidError
from leafid.features.computations import PictureFunction
from leafid.features.loader import open_loader
from leafid.features.recipe import Expert
from leafid.files import StrPath
from leafid.measurement import describe, segment
from leafid.pictures.conversion import check_color, is_one_picture, to_picture
from leafid.pictures.picture import AcquisitionType, Picture, Taxon


class _PictureEstimator(BaseEstimator):
    """Base of the estimators whose input is pictures instead of a matrix."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


@dataclass(eq=False, repr=False)
class LeafDescriptor(TransformerMixin, _PictureEstimator):
    """Measures leaves: a row a picture, NaN without a leaf, and a column a measure.

    Parameters
    ----------
    families : str, sequence of str, or None
        Descriptor families, as ``leafid describe --list`` names them; None for all.
    acquisition_type : {"scan", "scan-like", "photo"}
        How the pictures were taken, which decides how the leaf is segmented.
    jobs : int
        Number of worker processes; -1 uses every core.
    cache : path or bool
        As in `leafid.train`.
    color : {"bgr", "rgb"}

    Attributes
    ----------
    feature_names_out_ : ndarray of str, shape (n_measures,)

    Examples
    --------
    >>> from leafid.sklearn import LeafDescriptor
    >>> LeafDescriptor(["hu"]).fit_transform(["data/sample/Test/5.jpg"]).shape
    (1, 7)
    """

    families: str | Sequence[str] | None = None
    acquisition_type: str = "scan-like"
    jobs: int = 1
    cache: StrPath | bool = True
    color: str = "bgr"

    def fit(self, X: Sequence[Any], y: object = None) -> LeafDescriptor:
        """Check the parameters; there is nothing to learn.

        Parameters
        ----------
        X : sequence of pictures
        y : object
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        LeafidError
            If X is no sequence of pictures, or there is no such family or type.
        """
        _list_pictures(X, self.color)
        AcquisitionType.parse(self.acquisition_type)
        self.feature_names_out_ = np.array(
            get_column_names(self.families), dtype=object
        )
        return self

    def transform(self, X: Sequence[Any]) -> NDArray[np.float64]:
        """Measure pictures.

        Parameters
        ----------
        X : sequence of pictures

        Returns
        -------
        ndarray of float64, shape (n_pictures, n_measures)

        Raises
        ------
        LeafidError
            If a picture can't be read.
        """
        check_is_fitted(self)
        type_ = AcquisitionType.parse(self.acquisition_type)
        pictures = [
            replace(picture, type=type_) for picture in _list_pictures(X, self.color)
        ]
        names = tuple(family.name for family in find_families(self.families))
        expert = Expert(descriptor="measures", families=names)
        with open_loader(self.jobs, self.cache) as loader:
            function = PictureFunction(
                f"measures|{expert.make_feature_key()}",
                compute=self._measure,
                dtype=np.float32,
            )
            rows = loader.compute_for_each(function, pictures)
        for problem in loader.unreadable.values():
            raise LeafidError(problem)
        return np.array(rows, np.float64)

    def _measure(
        self, image: NDArray[np.uint8], picture: Picture
    ) -> NDArray[np.float64]:
        leaf = segment(image, picture.type)
        if not leaf.blade.any():
            return np.full(len(self.feature_names_out_), np.nan)
        return np.array(list(describe(image, leaf, self.families).values()))

    def get_feature_names_out(
        self, input_features: object = None
    ) -> NDArray[np.object_]:
        """Return the names of the measures."""
        check_is_fitted(self)
        return self.feature_names_out_


@dataclass(eq=False, repr=False)
class LeafClassifier(ClassifierMixin, _PictureEstimator):
    """Names leaves: a recipe behind ``fit``, ``predict`` and ``predict_proba``.

    Parameters
    ----------
    recipe : str
        ``default``, ``fast``, ``baseline-bow``, or the path of a recipe.
    acquisition_type : {"scan", "scan-like", "photo"}
        How the pictures were taken.
    cache : path or bool
        As in `leafid.train`: with the default, features computed in one fold or fit
        serve the next.
    jobs : int
        Number of worker processes; -1 uses every core.
    random_state : int
        Seed of every random choice.
    color : {"bgr", "rgb"}

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : leafid.Model
        Its species are called by the index of the class in `classes_`.
    """

    recipe: str = "default"
    acquisition_type: str = "scan-like"
    cache: StrPath | bool = True
    jobs: int = 1
    random_state: int = 0
    color: str = "bgr"

    def fit(
        self, X: Sequence[Any], y: ArrayLike, groups: ArrayLike | None = None
    ) -> LeafClassifier:
        """Train on pictures.

        Parameters
        ----------
        X : sequence of pictures, length n
        y : array_like, shape (n,)
            Labels of any kind that `numpy.unique` can sort.
        groups : array_like, shape (n,), optional
            The plant of each picture. Scores are calibrated on plants that the
            classifiers were not fitted on; without groups each picture counts as a
            plant.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If X is no sequence of pictures.
        LeafidError
            If the recipe can't be used, or there is too little to learn from.
        """
        pictures = _list_pictures(X, self.color)
        check_consistent_length(X, y, groups)
        y = np.asarray(y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        type_ = AcquisitionType.parse(self.acquisition_type)
        plants: list[str | None] = [None] * len(y)
        if groups is not None:
            plants = [*map(str, np.asarray(groups))]
        labelled = [
            replace(
                picture,
                type=type_,
                taxon=Taxon(f"Class {label:06d}", "Class"),
                plant=plant,
            )
            for picture, label, plant in zip(pictures, labels, plants, strict=True)
        ]
        self.model_ = train(
            labelled,
            self.recipe,
            only_type=type_,
            jobs=self.jobs,
            cache=self.cache,
            seed=self.random_state,
        )
        return self

    def predict_proba(self, X: Sequence[Any]) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : sequence of pictures

        Returns
        -------
        ndarray of float64, shape (n_pictures, n_classes)
            From 0 to 1; the columns are in the order of `classes_`.

        Raises
        ------
        LeafidError
            If a picture can't be read.
        """
        check_is_fitted(self)
        rows = []
        pictures = _list_pictures(X, self.color)
        for answer in self.model_.identify(
            pictures, assume_type=self.acquisition_type, jobs=self.jobs
        ):
            if answer.problem:
                raise LeafidError(answer.problem)
            # Sorted by their names, species are in the order of the classes.
            rows.append([probability for _, probability in sorted(answer.ranking)])
        return np.array(rows)

    def predict(self, X: Sequence[Any]) -> NDArray[Any]:
        """Return the likeliest class of each picture.

        Parameters
        ----------
        X : sequence of pictures

        Returns
        -------
        ndarray, shape (n_pictures,)

        Raises
        ------
        LeafidError
            If a picture can't be read.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _list_pictures(X: Any, color: str) -> list[Picture]:
    """Turn X into a picture for each of its items.

    In memory, a picture is called by its position, ``X[3]``.
    """
    is_table = getattr(X, "ndim", 1) not in {1, 4}
    if is_one_picture(X) or is_table or not hasattr(X, "__len__"):
        raise InputError(
            f"X: expected a sequence of pictures, found {type(X).__name__}; write [X] "
            "for one picture"
        )
    if not len(X):
        raise InputError("X: expected at least one picture, found 0 sample(s)")
    check_color(color)
    return [to_picture(item, f"X[{index}]", color) for index, item in enumerate(X)]
