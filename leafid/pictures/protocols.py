"""Protocols of experiments: generators of pairs of training and test pictures, by their indices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np
from msgspec import Meta, Struct

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
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
        """Yield the splits of each seed, in which test on each plant in turn is the same and comes only once.

        Folds are of whole plants, stratified by species, or of whole authors, places or days. Given parts differ only
        in what is drawn at random. A `LeafidError` is raised when either part has no picture.
        """
        part = np.array([picture.part or "" for picture in pictures])
        trained, tested = np.flatnonzero(part == "train"), np.flatnonzero(part == "test")
        if self.kind == "parts" and not (len(trained) and len(tested)):
            raise LeafidError(
                f"expected labelled pictures of parts train and test, found {len(trained)} and {len(tested)}; tell "
                "parts by folders, by train.txt and test.txt, or by the column split of --metadata"
            )
        for seed in seeds[:1] if self.kind == "leave-one-out" else seeds:
            if self.kind == "parts":
                tests = [tested]
            elif self.kind == "leave-one-out":
                tests = [*map(np.array, group_by(range(len(pictures)), lambda index: pictures[index].group).values())]
            elif self.by == "plant":
                tests = split_by_plant(pictures, self.folds or 5, seed)
            else:
                tests = split_by_unit(pictures, self.by, self.folds or 5, seed)
            for fold, test in enumerate(tests):
                training = trained if self.kind == "parts" else np.setdiff1d(np.arange(len(pictures)), test)
                split = Split(seed, fold, training, test)
                yield from self._limit_training(split, pictures) if self.shots else [split]

    def _limit_training(self, split: Split, pictures: Sequence[Picture]) -> Iterator[Split]:
        """Thin the training part of a split out to some numbers of pictures, or of plants, of each species and type.

        They are drawn at random by the seed and fold; those of a smaller number are among those of a larger one. Of a
        species with fewer, all are kept.
        """
        order = np.random.default_rng([split.seed, split.fold]).permutation(split.training)
        ranks: dict[int, int] = {}
        drawn: dict[tuple[str | None, AcquisitionType | None], dict[str, int]] = {}
        for index in order.tolist():
            picture = pictures[index]
            units = drawn.setdefault((picture.species, picture.type), {})
            unit = picture.group if self.shots_of == "plants" else str(index)
            ranks[index] = units.setdefault(unit, len(units))
        for number in self.shots:
            kept = np.array(sorted(index for index, rank in ranks.items() if rank < number), np.int64)
            yield replace(split, training=kept, setting=count_noun(number, self.shots_of.removesuffix("s")))
