"""The ways in which examples are held out of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
S = TypeVar("S")


class Folds(NamedTuple, Generic[T]):
    """A value for each way of holding examples out.

    A classifier that is fitted without a fold has not seen the plant, or the species,
    that names the way.
    """

    #: The plants of the fold.
    without_plant: T
    #: The species of the fold. There is no such fold where nothing is learned from it.
    without_species: T
    #: The plants of the fold, of which there are more than in `without_plant`;
    #: likewise.
    without_more_plants: T

    def map(self, function: Callable[[T], S]) -> Folds[S]:
        """Apply a function to each value."""
        return Folds(*map(function, self))
