"""The ways in which examples are held out of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
S = TypeVar("S")


class Folds(NamedTuple, Generic[T]):
    """A value for each way of holding examples out.

    The name of a way says what a classifier that is fitted without a fold of examples
    has not seen. Where nothing is learned from the second and third way, they have no
    folds.
    """

    #: A fold has whole plants.
    without_plant: T
    #: A fold has whole species.
    without_species: T
    #: A fold has whole plants, more than in `without_plant`.
    without_more_plants: T

    def map(self, function: Callable[[T], S]) -> Folds[S]:
        """Apply a function to each value."""
        return Folds(*map(function, self))
