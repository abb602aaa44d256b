"""Protocols of experiments: generators of pairs of training and test pictures, by their indices."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np
from msgspec import Meta, Struct

from leafid.errors import LeafidError
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import split_by_plant, split_by_unit

#: How test pictures are chosen, and what folds keep together.
Kind = Literal["folds", "leave-one-out", "parts"]
Unit = Literal["plant", "author", "place", "day"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Shots = Literal["pictures", "plants"]


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test pictures, by their indices, ascending; all splits of a seed make a repeat."""

    seed: int
    fold: int
    training: np.ndarray
    test: np.ndarray
    #: What distinguishes it from other splits of its seed and fold.
    setting: str = ""


class Protocol(Struct, frozen=True, forbid_unknown_fields=True):
    """How training and test pictures are chosen; a table of an experiment."""

    name: str
    kind: Kind = "folds"
    #: What folds keep together.
    by: Unit = "plant"
    #: 5 by default.
    folds: Annotated[int, Meta(ge=2)] | None = None
    #: Numbers of training pictures, or plants, of each species and type; all by default.
    shots: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    shots_of: Shots = "pictures"
    test_type: AcquisitionType | None = None

    def make_splits(self, pictures: Sequence[Picture], seeds: Sequence[int]) -> Iterator[Split]:
        """Yield the splits of each seed; only of the first one where nothing is drawn."""
        if self.kind == "parts":
            splits = split_by_part(pictures, seeds)
        elif self.kind == "leave-one-out":
            splits = leave_one_out(pictures, seeds[0])
        else:
            splits = make_fold_splits(pictures, self.folds or 5, seeds, self.by)
        return limit_training(splits, pictures, self.shots, self.shots_of) if self.shots else splits


def make_fold_splits(
    pictures: Sequence[Picture], n_folds: int, seeds: Iterable[int], unit: str = "plant"
) -> Iterator[Split]:
    """Test on each fold of whole plants, authors, places or days in turn; plants are stratified by species."""
    for seed in seeds:
        by_plant = unit == "plant"
        folds = split_by_plant(pictures, n_folds, seed) if by_plant else split_by_unit(pictures, unit, n_folds, seed)
        for fold, test in enumerate(folds):
            yield Split(seed, fold, np.setdiff1d(np.arange(len(pictures)), test), test)


def leave_one_out(pictures: Sequence[Picture], seed: int = 0) -> Iterator[Split]:
    """Test on each plant in turn, in the order of their first pictures."""
    groups = np.array([picture.group for picture in pictures])
    for fold, group in enumerate(dict.fromkeys(groups.tolist())):
        yield Split(seed, fold, np.flatnonzero(groups != group), np.flatnonzero(groups == group))


def split_by_part(pictures: Sequence[Picture], seeds: Iterable[int]) -> Iterator[Split]:
    """Train on the training part and test on the test part; only what is drawn at random differs between seeds.

    A `LeafidError` is raised when either part has no picture.
    """
    parts = np.array([picture.part or "" for picture in pictures])
    training, test = np.flatnonzero(parts == "train"), np.flatnonzero(parts == "test")
    if not len(training) or not len(test):
        raise LeafidError(
            f"expected labelled pictures of parts train and test, found {len(training)} and {len(test)}; tell parts by "
            "folders, by train.txt and test.txt, or by the column split of --metadata"
        )
    yield from (Split(seed, 0, training, test) for seed in seeds)


def limit_training(
    splits: Iterable[Split], pictures: Sequence[Picture], shots: Sequence[int], of: Shots
) -> Iterator[Split]:
    """Thin the training part of each split out to some numbers of pictures, or of plants, of each species and type.

    They are drawn at random by the seed and fold; those of a smaller number are among those of a larger one. Of a
    species with fewer, all are kept.
    """
    for split in splits:
        order = np.random.default_rng([split.seed, split.fold]).permutation(split.training)
        ranks: dict[int, int] = {}
        drawn: dict[tuple[str | None, AcquisitionType | None], dict[str, int]] = {}
        for index in order.tolist():
            picture = pictures[index]
            own = drawn.setdefault((picture.species, picture.type), {})
            unit = picture.group if of == "plants" else str(index)
            ranks[index] = own.setdefault(unit, len(own))
        for number in shots:
            kept = np.array(sorted(index for index, rank in ranks.items() if rank < number), np.int64)
            noun = of[:-1] if number == 1 else of
            yield replace(split, training=kept, setting=f"{number} {noun}")
