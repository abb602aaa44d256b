"""Chooses the pictures that a model may learn from, and splits them by plants, places and such, as protocols say."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np
from msgspec import Meta, Struct

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.pictures.fold_files import read_folds
from leafid.pictures.names import UNKNOWN_SPECIES, separate_words
from leafid.pictures.picture import AcquisitionType, Picture

#: Distance in km below which two plants are at the same place.
PLACE_KM = 5.0
_EARTH_RADIUS_KM = 6371.0088
logger = logging.getLogger(__name__)


def select_training_pictures(
    pictures: Sequence[Picture], source: str = "the collection"
) -> list[Picture]:
    """Choose the labelled pictures of the training part, or of all parts where there is none; warn of others in it.

    Messages call the collection `source`. A `LeafidError` is raised when no picture is left, or the label of one is
    `UNKNOWN_SPECIES`.
    """
    parts = {picture.part for picture in pictures}
    candidates = [
        picture
        for picture in pictures
        if picture.part == "train" or "train" not in parts
    ]
    chosen = [picture for picture in candidates if picture.species is not None]
    if not chosen:
        raise LeafidError(
            f"{source}: expected labelled pictures, found {len(pictures)} without a label; put them into folders named "
            "after their labels, or use --label-from or --metadata"
        )
    if reserved := [
        picture.file
        for picture in chosen
        if separate_words(picture.species or "").capitalize() == UNKNOWN_SPECIES
    ]:
        raise LeafidError(
            f"{reserved[0]}: expected the label of a class, found {UNKNOWN_SPECIES!r}, which stands for none of the "
            "classes in a ground truth; rename the label, or leave its pictures out"
        )
    if unlabelled := [
        picture.file
        for picture in candidates
        if picture.species is None and picture.part != "test"
    ]:
        message = "%s: %d of %d pictures have no label and are left out, %s first"
        logger.warning(message, source, len(unlabelled), len(candidates), unlabelled[0])
    return chosen


def check_labels(pictures: Sequence[Picture]) -> None:
    """Raise a `LeafidError` if all pictures have one label, from which nothing can be learned."""
    labels = {picture.species for picture in pictures}
    if len(labels) == 1:
        raise LeafidError(
            f"expected pictures of at least two labels to learn from, found only {labels.pop()!r}; "
            "name a table of labels with --metadata, or put the pictures of each label into a folder"
        )


def split_by_plant(
    pictures: Sequence[Picture], n_folds: int, seed: int
) -> list[np.ndarray]:
    """Distribute the plants of every species evenly over folds; returns the indices of each fold's pictures, ascending.

    In an order shuffled by the seed, each plant goes to the fold with the fewest plants of its species so far, then the
    fewest pictures of its species, then the fewest pictures. A picture of unknown plant counts as a plant of its own.
    Which pictures share a fold doesn't depend on the order of the pictures. Fewer plants than folds raise a
    `LeafidError`.
    """
    members = group_by(range(len(pictures)), lambda index: pictures[index].group)
    _check_n_folds(n_folds, len(members), "plants")
    plants_by_species = group_by(
        sorted(members),
        lambda plant: _find_main_species([pictures[index] for index in members[plant]]),
    )
    random = np.random.default_rng(seed)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    # Species with many plants come first, so that those with few plants balance the folds.
    for species in sorted(
        plants_by_species,
        key=lambda species: (-len(plants_by_species[species]), species),
    ):
        plants = plants_by_species[species]
        n_plants = [0] * n_folds
        n_pictures = [0] * n_folds
        tie_breakers = random.permutation(n_folds)
        for plant in (plants[position] for position in random.permutation(len(plants))):
            fold = min(
                range(n_folds),
                key=lambda f: (
                    n_plants[f],
                    n_pictures[f],
                    len(folds[f]),
                    tie_breakers[f],
                ),
            )
            folds[fold] += members[plant]
            n_plants[fold] += 1
            n_pictures[fold] += len(members[plant])
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]


def split_by_unit(
    pictures: Sequence[Picture], unit: str, n_folds: int, seed: int
) -> list[np.ndarray]:
    """Distribute whole places, authors or days over folds, so that a model is tested at unseen places, for instance.

    `unit` is ``place``, ``author`` or ``day``, see `label_units`. Each unit, those with many plants first and equal
    ones in an order shuffled by the seed, goes to the fold with the fewest plants so far. Returns indices as
    `split_by_plant` does. Fewer units than folds raise a `LeafidError`.
    """
    labels = label_units(pictures, unit)
    n_labels = int(labels.max(initial=-1)) + 1
    _check_n_folds(
        n_folds, n_labels, f"{unit}s (plants without one count as a single one)"
    )
    plants: list[set[str]] = [set() for _ in range(n_labels)]
    for label, picture in zip(labels, pictures, strict=True):
        plants[label].add(picture.group)
    # They are sorted by name first, so that the order of the pictures doesn't matter.
    by_name = sorted(range(n_labels), key=lambda label: min(plants[label]))
    shuffled = [
        by_name[position]
        for position in np.random.default_rng(seed).permutation(n_labels)
    ]
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    n_plants = [0] * n_folds
    for label in sorted(shuffled, key=lambda label: -len(plants[label])):
        fold = int(np.argmin(n_plants))
        folds[fold] += np.flatnonzero(labels == label).tolist()
        n_plants[fold] += len(plants[label])
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]


def label_units(
    pictures: Sequence[Picture], unit: str, within_km: float = PLACE_KM
) -> np.ndarray:
    """Label each picture with the number of its place, author or day, in the order of first pictures: int64 (n,).

    All pictures of a plant have one label, and so have authors or days that a plant joins. Two plants are at the same
    place if they are closer than `within_km`, or if a chain of such plants joins them. As a plant without coordinates,
    author or date may be of any unit, all of these form one.
    """
    # These take longer to import than a picture to be identified.
    from scipy.cluster.hierarchy import DisjointSet
    from sklearn.cluster import DBSCAN

    field = {"place": "coordinates", "author": "author", "day": "date"}[unit]
    values = [getattr(picture, field) for picture in pictures]
    if unit == "place" and any(values):
        points = sorted({value for value in values if value})
        # With a minimum of one, DBSCAN gives one number to all points that a chain joins.
        clustering = DBSCAN(
            eps=within_km / _EARTH_RADIUS_KM, min_samples=1, metric="haversine"
        )
        place_of = dict(
            zip(
                points, clustering.fit_predict(np.radians(points)).tolist(), strict=True
            )
        )
        values = [place_of.get(value) for value in values]
    plants = [picture.group for picture in pictures]
    told = {
        plant for plant, value in zip(plants, values, strict=True) if value is not None
    }
    units = DisjointSet([*plants, *((unit, value) for value in values)])
    for plant, value in zip(plants, values, strict=True):
        if value is not None or plant not in told:
            units.merge(plant, (unit, value))
    numbers: dict[object, int] = {}
    return np.array(
        [numbers.setdefault(units[plant], len(numbers)) for plant in plants], np.int64
    )


def sample_by_plant(pictures: Sequence[Picture], limit: int, seed: int) -> np.ndarray:
    """Sample whole plants, up to a number of pictures; returns ascending indices.

    Plants with more pictures than `limit` are skipped; if all have more, some pictures of one plant are taken. The
    sample depends on the seed and the names of the plants.
    """
    if len(pictures) <= limit:
        return np.arange(len(pictures))
    members = group_by(range(len(pictures)), lambda index: pictures[index].group)
    plants = sorted(members)
    sampled: list[int] = []
    order = np.random.default_rng(seed).permutation(len(plants))
    for position in order:
        indices = members[plants[position]]
        if len(sampled) + len(indices) <= limit:
            sampled += indices
    return np.array(sorted(sampled or members[plants[order[0]]][:limit]), np.int64)


def weigh_by_plant(pictures: Sequence[Picture]) -> np.ndarray:
    """Weigh pictures so that each plant counts once, as in the official score: one over its number of pictures."""
    groups = [picture.group for picture in pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / counts[inverse]


def _check_n_folds(n_folds: int, n_units: int, units: str) -> None:
    if n_units < n_folds:
        raise LeafidError(
            f"expected at least {n_folds} {units} for {n_folds} folds, found {n_units}"
        )


def _find_main_species(pictures: Sequence[Picture]) -> str:
    """Return the species of most pictures of a plant; a grafted or mislabelled plant has several."""
    counts = Counter(picture.species or "" for picture in pictures)
    return min(counts, key=lambda species: (-counts[species], species))


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


class SplitProtocol(Struct, frozen=True, forbid_unknown_fields=True):
    """How training and test pictures are chosen; a table of an experiment."""

    name: str
    kind: Kind = "folds"
    #: What folds keep together.
    by: Unit = "plant"
    #: How many, 5 by default; or a file that has them (`leafid.pictures.fold_files`).
    folds: Annotated[int, Meta(ge=2)] | str | None = None
    #: Numbers of training pictures, or plants, of each species and type; all by default.
    shots: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    shots_of: Shots = "pictures"
    test_type: AcquisitionType | None = None

    def make_splits(
        self, pictures: Sequence[Picture], seeds: Sequence[int]
    ) -> Iterator[Split]:
        """Yield the splits of each seed, in which test on each plant in turn is the same and comes only once.

        Folds are of whole plants, stratified by species, or of whole authors, places or days. Given parts differ only
        in what is drawn at random; the repeats of a file take the place of the seeds. A `LeafidError` is raised when
        either part has no picture.
        """
        given = read_folds(self.folds, pictures) if isinstance(self.folds, str) else {}
        n_folds = self.folds if isinstance(self.folds, int) else 5
        part = np.array([picture.part or "" for picture in pictures])
        trained, tested = (
            np.flatnonzero(part == "train"),
            np.flatnonzero(part == "test"),
        )
        if self.kind == "parts" and not (len(trained) and len(tested)):
            raise LeafidError(
                f"expected labelled pictures of parts train and test, found {len(trained)} and {len(tested)}; tell "
                "parts by folders, by train.txt and test.txt, or by the column split of --metadata"
            )
        for seed in [*given] or (seeds[:1] if self.kind == "leave-one-out" else seeds):
            if given:
                tests = given[seed]
            elif self.kind == "parts":
                tests = [tested]
            elif self.kind == "leave-one-out":
                tests = [
                    *map(
                        np.array,
                        group_by(
                            range(len(pictures)), lambda index: pictures[index].group
                        ).values(),
                    )
                ]
            elif self.by == "plant":
                tests = split_by_plant(pictures, n_folds, seed)
            else:
                tests = split_by_unit(pictures, self.by, n_folds, seed)
            for fold, test in enumerate(tests):
                training = (
                    trained
                    if self.kind == "parts"
                    else np.setdiff1d(np.concatenate(tests), test)
                )
                split = Split(seed, fold, training, test)
                yield from (
                    self._limit_training(split, pictures) if self.shots else [split]
                )

    def _limit_training(
        self, split: Split, pictures: Sequence[Picture]
    ) -> Iterator[Split]:
        """Thin the training part of a split out to some numbers of pictures, or of plants, of each species and type.

        They are drawn at random by the seed and fold; those of a smaller number are among those of a larger one. Of a
        species with fewer, all are kept.
        """
        order = np.random.default_rng([split.seed, split.fold]).permutation(
            split.training
        )
        ranks: dict[int, int] = {}
        drawn: dict[tuple[str | None, AcquisitionType | None], dict[str, int]] = {}
        for index in order.tolist():
            picture = pictures[index]
            units = drawn.setdefault((picture.species, picture.type), {})
            unit = picture.group if self.shots_of == "plants" else str(index)
            ranks[index] = units.setdefault(unit, len(units))
        for number in self.shots:
            kept = np.array(
                sorted(index for index, rank in ranks.items() if rank < number),
                np.int64,
            )
            yield replace(
                split,
                training=kept,
                setting=count_noun(number, self.shots_of.removesuffix("s")),
            )
