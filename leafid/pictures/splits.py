"""Chooses training pictures, and splits them by plant, place, author or day."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np
from msgspec import Meta, Struct

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.pictures.fold_files import Folds, read_folds
from leafid.pictures.names import UNKNOWN_SPECIES, separate_words
from leafid.pictures.picture import (
    AcquisitionType,
    Picture,
    count_plants,
    group_by_collection,
)

#: Distance in km below which two plants are at the same place.
PLACE_KM = 5.0
_EARTH_RADIUS_KM = 6371.0088
logger = logging.getLogger(__name__)


def select_training_pictures(
    pictures: Sequence[Picture], source: str = "the collection"
) -> list[Picture]:
    """Choose the labelled pictures of the training part, or of all if there is none.

    Each of several collections has its own parts. A warning says how many pictures of
    the part have no label. Messages call the collection `source`. A `LeafidError` is
    raised when no picture is left, or the label of one is `UNKNOWN_SPECIES`.
    """
    candidates = []
    for members in group_by_collection(pictures).values():
        of_part = [picture for picture in members if picture.part == "train"]
        candidates += of_part or members
    labelled = [picture for picture in candidates if picture.species is not None]
    if not labelled:
        raise LeafidError(
            f"{source}: expected labelled pictures, found {len(pictures)} without a "
            "label; put them into folders named after their labels, or use "
            "--label-from or --metadata"
        )
    for picture in labelled:
        name = separate_words(str(picture.species)).capitalize()
        if name == UNKNOWN_SPECIES:
            raise LeafidError(
                f"{picture.file}: expected the label of a class, found {name!r}, which "
                "stands for none of the classes in a ground truth; rename the label, "
                "or leave its pictures out"
            )
    left_out = [p.file for p in candidates if p.species is None and p.part != "test"]
    if left_out:
        message = "%s: %d of %d pictures have no label and are left out, %s first"
        logger.warning(message, source, len(left_out), len(candidates), left_out[0])
    return labelled


def assume_plants(pictures: Sequence[Picture]) -> list[Picture]:
    """Give a plant to pictures of several collections that have none.

    A collection's pictures of a species are taken for one plant: if each counted as a
    plant, most held-out pictures would be of leaves that were trained on, and a model
    would expect as much of others. A warning says what is assumed. A single collection
    stays as it is, and so do several where no species would have two plants.
    """
    assumed = []
    for picture in pictures:
        plant = picture.plant or f"{picture.species} (assumed)"
        assumed.append(replace(picture, plant=plant))
    n_species = len({picture.species for picture in assumed})
    n_plants = count_plants(assumed)
    collections = group_by_collection(pictures)
    if len(collections) < 2 or n_plants <= n_species:
        return [*pictures]
    for name, members in collections.items():
        if n_unknown := sum(picture.plant is None for picture in members):
            message = (
                "%s: the plants of %d of %d pictures are unknown; those of a species "
                "count as one plant"
            )
            logger.warning(message, name, n_unknown, len(members))
    return assumed


def select_unknown_pictures(
    pictures: Sequence[Picture], known: Sequence[Picture]
) -> list[Picture]:
    """Choose the pictures of unknown species of the training part, or of no part.

    Those of a species whose plants are unknown count as one plant. A `LeafidError` is
    raised where known pictures are of one of the species.
    """
    species = {picture.species for picture in known} - {None}
    if wrong := [picture for picture in pictures if picture.species in species]:
        raise LeafidError(
            f"{wrong[0].file}: expected a species that the model is not to know, found "
            f"{wrong[0].species!r}, and {len(wrong)} such pictures in all; leave them "
            "out, or train on them"
        )
    return [
        replace(picture, plant=picture.plant or picture.species)
        for picture in pictures
        if picture.part in (None, "train")
    ]


def check_labels(pictures: Sequence[Picture]) -> None:
    """Raise a `LeafidError` if all pictures have one label, which no fit accepts."""
    labels = {picture.species for picture in pictures}
    if len(labels) == 1:
        raise LeafidError(
            "expected pictures of at least two labels to learn from, found only "
            f"{labels.pop()!r}; name a table of labels with --metadata, or put the "
            "pictures of each label into a folder"
        )


def split_by_plant(
    pictures: Sequence[Picture], n_folds: int, seed: int
) -> list[np.ndarray]:
    """Distribute the plants of every species evenly over folds.

    Returns the indices of each fold's pictures, ascending. In an order shuffled by the
    seed, each plant goes to the fold with the fewest plants of its species so far, then
    the fewest pictures of its species, then the fewest pictures. A picture of unknown
    plant counts as a plant. Which pictures share a fold doesn't depend on
    the order of the pictures. Fewer plants than folds raise a `LeafidError`.
    """
    members = group_by_plant(pictures)
    _check_n_folds(n_folds, len(members), "plants")

    def get_main_species(plant: str) -> str:
        return _find_main_species([pictures[index] for index in members[plant]])

    plants_by_species = group_by(sorted(members), get_main_species)
    random = np.random.default_rng(seed)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    sizes = np.zeros(n_folds, int)
    # Species with many plants come first, so that those with few plants balance the
    # folds.
    entries = plants_by_species.items()
    for _, plants in sorted(entries, key=lambda entry: (-len(entry[1]), entry[0])):
        n_plants = np.zeros(n_folds, int)
        n_pictures = np.zeros(n_folds, int)
        tie_breakers = random.permutation(n_folds)
        for position in random.permutation(len(plants)):
            indices = members[plants[position]]
            fold = np.lexsort((tie_breakers, sizes, n_pictures, n_plants))[0]
            folds[fold] += indices
            n_plants[fold] += 1
            n_pictures[fold] += len(indices)
            sizes[fold] += len(indices)
    return _to_arrays(folds)


def group_by_plant(pictures: Sequence[Picture]) -> dict[str, list[int]]:
    """Group the indices of pictures by `Picture.group`."""
    return group_by(range(len(pictures)), lambda index: pictures[index].group)


def _to_arrays(folds: Iterable[Sequence[int]]) -> list[np.ndarray]:
    return [np.array(sorted(fold), np.int64) for fold in folds]


def _group_by_unit(pictures: Sequence[Picture], unit: str) -> list[list[int]]:
    """Group the indices of pictures by plant or another unit."""
    if unit == "plant":
        return [*group_by_plant(pictures).values()]
    labels = label_units(pictures, unit).tolist()
    return [*group_by(range(len(pictures)), labels.__getitem__).values()]


def split_by_unit(
    pictures: Sequence[Picture], unit: str, n_folds: int, seed: int
) -> list[np.ndarray]:
    """Distribute whole places, authors, days or collections over folds.

    A model is then tested at places, for instance, that no training picture shows.
    `unit` is one of those of `label_units`. The units with the
    most plants come first, and equal units in an order shuffled by the seed; each goes
    to the fold with the fewest plants so far. Returns indices as `split_by_plant` does.
    Fewer units than folds raise a `LeafidError`.
    """
    members = _group_by_unit(pictures, unit)
    units = f"{unit}s (plants without one count as a single one)"
    _check_n_folds(n_folds, len(members), units)

    def list_plants(indices: Sequence[int]) -> set[str]:
        return {pictures[index].group for index in indices}

    # They are sorted by name first, so that the order of the pictures doesn't matter.
    by_name = sorted(members, key=lambda indices: min(list_plants(indices)))
    order = np.random.default_rng(seed).permutation(len(by_name))
    shuffled = [by_name[position] for position in order]
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    n_plants = [0] * n_folds
    for indices in sorted(shuffled, key=lambda indices: -len(list_plants(indices))):
        fold = int(np.argmin(n_plants))
        folds[fold] += indices
        n_plants[fold] += len(list_plants(indices))
    return _to_arrays(folds)


def label_units(
    pictures: Sequence[Picture], unit: str, within_km: float = PLACE_KM
) -> np.ndarray:
    """Label pictures by unit, in order of appearance: int64 (n,).

    Units are ``place``, ``author``, ``day`` and ``collection``. All pictures of a plant
    have one label, and so have units that a plant joins. Two plants are at the same
    place if they are closer than `within_km`, or if a chain of such plants joins them.
    Plants without coordinates, author, date or collection, which may be of any unit,
    form one together.
    """
    # It takes longer to import than a picture to be identified.
    from scipy.cluster.hierarchy import DisjointSet

    field = {"place": "coordinates", "day": "date"}.get(unit, unit)
    values = [getattr(picture, field) for picture in pictures]
    if unit == "place":
        place_of = _number_places({*values} - {None}, within_km)
        values = [place_of.get(value) for value in values]
    plants = [picture.group for picture in pictures]
    unit_of_plant = list(zip(plants, values, strict=True))
    has_unit = {plant for plant, value in unit_of_plant if value is not None}
    units = DisjointSet([*plants, *((unit, value) for value in values)])
    for plant, value in unit_of_plant:
        if value is not None or plant not in has_unit:
            units.merge(plant, (unit, value))
    numbers: dict[object, int] = {}
    labels = [numbers.setdefault(units[plant], len(numbers)) for plant in plants]
    return np.array(labels, np.int64)


def _number_places(
    points: set[tuple[float, float]], within_km: float
) -> dict[tuple[float, float], int]:
    """Find the places of points in degrees; a chain of near points is a place."""
    # It takes longer to import than a picture to be identified.
    from sklearn.cluster import DBSCAN

    if not points:
        return {}
    # With a minimum of one, DBSCAN gives one number to all points that a chain joins.
    radius = within_km / _EARTH_RADIUS_KM
    clustering = DBSCAN(eps=radius, min_samples=1, metric="haversine")
    ordered = sorted(points)
    places = clustering.fit_predict(np.radians(ordered)).tolist()
    return dict(zip(ordered, places, strict=True))


def sample_by_plant(pictures: Sequence[Picture], limit: int, seed: int) -> np.ndarray:
    """Sample whole plants, up to a number of pictures; returns ascending indices.

    Plants with more pictures than `limit` are skipped; if all have more, some pictures
    of one plant are taken. The sample depends on the seed and the names of the plants.
    """
    if len(pictures) <= limit:
        return np.arange(len(pictures))
    members = sorted(group_by_plant(pictures).items())
    order = np.random.default_rng(seed).permutation(len(members))
    shuffled = [members[position][1] for position in order]
    sampled: list[int] = []
    for indices in shuffled:
        if len(sampled) + len(indices) <= limit:
            sampled += indices
    return np.array(sorted(sampled or shuffled[0][:limit]), np.int64)


def weigh_by_plant(pictures: Sequence[Picture]) -> np.ndarray:
    """Weigh pictures so that each plant counts once, as in the official score.

    The weight is one over the number of pictures of the plant.
    """
    groups = [picture.group for picture in pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / counts[inverse]


def _find_part(pictures: Sequence[Picture], part: str) -> np.ndarray:
    return np.flatnonzero([picture.part == part for picture in pictures])


def _check_n_folds(n_folds: int, n_units: int, units: str) -> None:
    if n_units < n_folds:
        raise LeafidError(
            f"expected at least {n_folds} {units} for {n_folds} folds, found {n_units}"
        )


def _find_main_species(pictures: Sequence[Picture]) -> str:
    """Return the species of most pictures of a plant.

    A grafted or mislabelled plant has several.
    """
    counts = Counter(picture.species or "" for picture in pictures)
    return min(counts, key=lambda species: (-counts[species], species))


#: How test pictures are chosen, and what folds keep together.
Kind = Literal["folds", "leave-one-out", "parts"]
Unit = Literal["plant", "author", "place", "day", "collection"]
UNITS: tuple[Unit, ...] = get_args(Unit)
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
    #: How many, 5 by default; or a file that has them (`leafid.pictures.fold_files`).
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

        Test on each plant, or other unit, in turn is such a split. Folds are of whole
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
            units = _group_by_unit(pictures, self.by)
            _check_n_folds(2, len(units), f"{self.by}s")
            return {seeds[0]: _to_arrays(units)}
        if self.kind == "parts":
            tested = _find_part(pictures, "test")
            n_trained = len(_find_part(pictures, "train"))
            if not (n_trained and len(tested)):
                raise LeafidError(
                    "expected labelled pictures of parts train and test, found "
                    f"{n_trained} and {len(tested)}; name parts by folders, by "
                    "train.txt and test.txt, or by the column split of --metadata"
                )
            return {seed: [tested] for seed in seeds}
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
        drawn: dict[tuple[str | None, AcquisitionType | None], dict[str, int]] = {}
        for index in random.permutation(split.training).tolist():
            picture = pictures[index]
            units = drawn.setdefault((picture.species, picture.type), {})
            unit = str(index)
            if self.shots_of == "plants":
                unit = picture.group
            ranks[index] = units.setdefault(unit, len(units))
        for number in self.shots:
            indices = sorted(index for index, rank in ranks.items() if rank < number)
            setting = count_noun(number, self.shots_of.removesuffix("s"))
            training = np.array(indices, np.int64)
            yield replace(split, training=training, setting=setting)
