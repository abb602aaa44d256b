"""Protocols: how training and test pictures of a study are chosen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct

from leafid.errors import LeafidError
from leafid.grouping import count_noun
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splitting.fold_files import Folds, read_folds
from leafid.pictures.splitting.units import (
    Unit,
    check_n_folds,
    group_by_unit,
    split_by_plant,
    split_by_unit,
)

#: How test pictures are chosen.
Kind = Literal["folds", "leave-one-out", "parts"]
Shots = Literal["pictures", "plants"]


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test pictures, by their indices, ascending.

    All splits of a seed make a repeat.
    """

    seed: int
    fold: int
    training: np.ndarray
    test: np.ndarray
    #: What distinguishes it from other splits of its seed and fold.
    setting: str = ""

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give the training and the test indices, as splitters of scikit-learn do."""
        return iter((self.training, self.test))


class SplitProtocol(Struct, frozen=True, forbid_unknown_fields=True):
    """How training and test pictures are chosen; a table of an experiment."""

    name: str
    kind: Kind = "folds"
    #: What folds keep together.
    by: Unit = "plant"
    #: Their number, 5 by default; or a file that has them
    #: (`leafid.pictures.splitting.fold_files`).
    folds: Annotated[int, Meta(ge=2)] | str | None = None
    #: Numbers of training pictures, or plants, of each species and type; all by
    #: default.
    shots: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    shots_of: Shots = "pictures"
    test_type: AcquisitionType | None = None

    def make_splits(
        self, pictures: Sequence[Picture], seeds: Sequence[int]
    ) -> Iterator[Split]:
        """Yield the splits of each seed; a split that no seed changes comes once.

        So does the test on each plant, or other unit, in turn. Folds are of whole
        plants, stratified by species, or of whole units of another kind. Given parts
        differ only in what is drawn at random; the repeats of a file take the place of
        the seeds. A `LeafidError` is raised when either part has no picture.
        """
        for seed, tests in self._choose_tests(pictures, seeds).items():
            for fold, test in enumerate(tests):
                if self.kind == "parts":
                    training = _find_part(pictures, "train")
                else:
                    training = np.setdiff1d(np.concatenate(tests), test)
                split = Split(seed, fold, training, test)
                if self.shots:
                    yield from self.limit_training(split, pictures)
                else:
                    yield split

    def _choose_tests(self, pictures: Sequence[Picture], seeds: Sequence[int]) -> Folds:
        """Choose the test pictures of each fold by the seed, or a file's repeat."""
        if isinstance(self.folds, str):
            return read_folds(self.folds, pictures)
        if self.kind == "leave-one-out":
            units = group_by_unit(pictures, self.by)
            check_n_folds(2, len(units), f"{self.by}s")
            return {seeds[0]: [*map(np.array, units)]}
        if self.kind == "parts":
            test = _find_part(pictures, "test")
            n_training = len(_find_part(pictures, "train"))
            if not (n_training and len(test)):
                raise LeafidError(
                    "expected labelled pictures of parts train and test, found "
                    f"{n_training} and {len(test)}; name parts by folders, by "
                    "train.txt and test.txt, or by the column split of --metadata"
                )
            return {seed: [test] for seed in seeds}
        n_folds = self.folds or 5
        if self.by == "plant":
            return {seed: split_by_plant(pictures, n_folds, seed) for seed in seeds}
        return {seed: split_by_unit(pictures, self.by, n_folds, seed) for seed in seeds}

    def limit_training(
        self, split: Split, pictures: Sequence[Picture]
    ) -> Iterator[Split]:
        """Reduce the training part to n pictures or plants of each species and type.

        They are drawn at random by the seed and fold; a larger number contains the draw
        of a smaller one. A species with fewer keeps all.
        """
        random = np.random.default_rng([split.seed, split.fold])
        ranks: dict[int, int] = {}
        units_of: dict[tuple[str | None, AcquisitionType | None], dict[str, int]] = {}
        for index in random.permutation(split.training).tolist():
            picture = pictures[index]
            units = units_of.setdefault((picture.species, picture.type), {})
            unit = str(index)
            if self.shots_of == "plants":
                unit = picture.group
            ranks[index] = units.setdefault(unit, len(units))
        for number in self.shots:
            indices = sorted(index for index, rank in ranks.items() if rank < number)
            setting = count_noun(number, self.shots_of.removesuffix("s"))
            training = np.array(indices, np.int64)
            yield replace(split, training=training, setting=setting)


def _find_part(pictures: Sequence[Picture], part: str) -> np.ndarray:
    return np.flatnonzero([picture.part == part for picture in pictures])
