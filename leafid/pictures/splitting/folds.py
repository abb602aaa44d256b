"""Folds of a collection: drawn, read, or handed over as indices or by a splitter."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from msgspec.structs import replace
from sklearn.model_selection import check_cv

from leafid.errors import InputError, UsageError
from leafid.pictures.columns import is_path
from leafid.pictures.picture import Picture
from leafid.pictures.splitting.fold_files import warn_of_split_plants
from leafid.pictures.splitting.protocol import Split, SplitProtocol
from leafid.pictures.splitting.units import Unit

#: A number of folds, a table of the fold of each picture, `Folds`, pairs of indices, or
#: a splitter.
FoldsLike = Any


class Folds(list[Split]):
    """Splits of labelled pictures into training and test pictures.

    A list, which scikit-learn takes as `cv`: each split gives two arrays of indices,
    int64, of the training and of the test pictures. Its attributes `seed`, `fold` and
    `setting` tell repeats, folds and numbers of training pictures apart.

    Attributes
    ----------
    pictures : list of Picture
        The pictures that the indices are of.
    """

    def __init__(self, splits: Iterable[Split], pictures: Sequence[Picture]) -> None:
        super().__init__(splits)
        self.pictures = [*pictures]


def check_folds(
    folds: FoldsLike,
    repeats: int | None,
    by: Unit,
    hold_out: Unit | None,
    *,
    parts: bool,
) -> None:
    """Raise a `UsageError` for options that leave one another nothing to choose."""
    is_number = isinstance(folds, Integral)
    if is_number and folds < 2:
        raise UsageError(f"--folds: expected at least 2, found {folds}")
    n_fixed = (not is_number) + bool(hold_out)
    if n_fixed == 2 or (n_fixed and (repeats or parts or by != "plant")):
        raise UsageError(
            "expected --folds FILE, or --hold-out, without --repeats, --parts and "
            "--by, which it settles"
        )


def are_indices(folds: FoldsLike) -> bool:
    """Tell whether folds are pairs of indices, of all pictures of a collection."""
    is_protocol = isinstance(folds, Integral | Folds) or is_path(folds)
    return not (is_protocol or hasattr(folds, "split"))


def choose_folds(
    pictures: Sequence[Picture],
    folds: FoldsLike,
    protocol: SplitProtocol,
    seeds: Sequence[int],
) -> Folds:
    """Make or read folds as a protocol says, or adopt the folds of the caller.

    Parameters
    ----------
    pictures : sequence of Picture
    folds : int, path, Folds, iterable or splitter
        A splitter of scikit-learn gets the species as `y`, and the plants as `groups`.
        A split of others begins a repeat where it tests a picture again.
    protocol : SplitProtocol
        Its numbers of training pictures also limit the folds of the caller.
    seeds : sequence of int

    Returns
    -------
    Folds

    Raises
    ------
    InputError
        When a split isn't of two arrays of indices without a common picture.
    """
    if isinstance(folds, Integral) or is_path(folds):
        source = int(folds) if isinstance(folds, Integral) else os.fspath(folds)
        settled = replace(protocol, folds=source)
        return Folds(settled.make_splits(pictures, seeds), pictures)
    splits: Iterable[Split] = folds
    if not isinstance(folds, Folds):
        splits = _adopt(folds, pictures)
    elif [p.file for p in folds.pictures] != [p.file for p in pictures]:
        raise InputError(
            "folds: expected the folds of these pictures, found folds of others; "
            "cross-validate folds.pictures"
        )
    if protocol.shots:
        limited = (protocol.limit_training(split, pictures) for split in splits)
        splits = chain.from_iterable(limited)
    return Folds(splits, pictures)


def _adopt(folds: Any, pictures: Sequence[Picture]) -> Iterator[Split]:
    """Check the pairs of indices of an iterable, or a splitter, and number them."""
    species = [picture.species for picture in pictures]
    plants = [picture.group for picture in pictures]
    try:
        pairs = [*check_cv(folds).split(species, species, plants)]
        if folds is None or not pairs:
            raise ValueError("found none")
    except (TypeError, ValueError) as error:
        raise InputError(
            "folds: expected a whole number from 2, a file, pairs of arrays of indices "
            f"or a splitter of scikit-learn: {error}"
        ) from None
    seed = 0
    fold = 0
    # The test pictures of the repeat so far.
    earlier = np.array([], np.int64)
    for number, pair in enumerate(pairs, 1):
        place = f"folds: split {number}"
        training, test = _check_pair(place, pair, len(pictures))
        sides = dict.fromkeys(training.tolist(), "training")
        sides |= dict.fromkeys(test.tolist(), "test")
        warn_of_split_plants(place, pictures, sides)
        if np.intersect1d(earlier, test).size:
            seed = seed + 1
            fold = 0
            earlier = earlier[:0]
        yield Split(seed, fold, training, test)
        earlier = np.append(earlier, test)
        fold += 1


def _check_pair(place: str, pair: Any, n_pictures: int) -> list[np.ndarray]:
    """Check the training and test indices of a split, and sort them."""
    try:
        sides = [np.asarray(side) for side in pair]
        both = np.concatenate(sides)
        is_pair = len(sides) == 2 and both.dtype.kind in "iu" and all(map(len, sides))
        is_known = np.isin(both, range(n_pictures)).all()
        is_valid = bool(is_pair and is_known and len(np.unique(both)) == len(both))
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise InputError(
            f"{place}: expected an array of indices of the {n_pictures} labelled "
            "pictures for training, and another without any of these for test, found "
            f"{pair!r:.100}"
        )
    return [np.sort(side) for side in sides]
