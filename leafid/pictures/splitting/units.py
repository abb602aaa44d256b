"""Splits pictures by plant, place, author, day or collection."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.pictures.picture import Picture

#: What folds keep together.
Unit = Literal["plant", "author", "place", "day", "collection"]
UNITS: tuple[Unit, ...] = get_args(Unit)
#: Distance in km below which two plants are at the same place.
PLACE_KM = 5.0
_EARTH_RADIUS_KM = 6371.0088


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
    check_n_folds(n_folds, len(members), "plants")

    def find_main_species(plant: str) -> str:
        # A grafted or mislabelled plant has several species.
        counts = Counter(pictures[index].species or "" for index in members[plant])
        return min(counts, key=lambda species: (-counts[species], species))

    plants_by_species = group_by(sorted(members), find_main_species)
    random = np.random.default_rng(seed)
    fold_of = np.zeros(len(pictures), int)
    sizes = np.zeros(n_folds, int)
    # Species with many plants come first, so that rare species balance the folds.
    entries = plants_by_species.items()
    for _, plants in sorted(entries, key=lambda entry: (-len(entry[1]), entry[0])):
        n_plants = np.zeros(n_folds, int)
        n_pictures = np.zeros(n_folds, int)
        tie_breakers = random.permutation(n_folds)
        for position in random.permutation(len(plants)):
            indices = members[plants[position]]
            fold = np.lexsort((tie_breakers, sizes, n_pictures, n_plants))[0]
            fold_of[indices] = fold
            n_plants[fold] += 1
            n_pictures[fold] += len(indices)
            sizes[fold] += len(indices)
    return _list_folds(fold_of, n_folds)


def group_by_plant(pictures: Sequence[Picture]) -> dict[str, list[int]]:
    """Group the indices of pictures by `Picture.group`."""
    return group_by(range(len(pictures)), lambda index: pictures[index].group)


def _list_folds(fold_of: np.ndarray, n_folds: int) -> list[np.ndarray]:
    return [np.flatnonzero(fold_of == fold) for fold in range(n_folds)]


def group_by_unit(pictures: Sequence[Picture], unit: str) -> list[list[int]]:
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
    `unit` is a unit of `label_units`. The units with the most plants come first, and
    equal units in an order shuffled by the seed; each goes to the fold with the fewest
    plants so far. Returns indices as `split_by_plant` does. Fewer units than folds
    raise a `LeafidError`.
    """
    members = group_by_unit(pictures, unit)
    units = f"{unit}s (plants without one count as a single one)"
    check_n_folds(n_folds, len(members), units)
    plants_of_units: list[tuple[list[str], list[int]]] = []
    for indices in members:
        plants = sorted({pictures[index].group for index in indices})
        plants_of_units.append((plants, indices))
    # They are sorted by name first, so that the order of the pictures doesn't matter.
    plants_of_units.sort()
    order = np.random.default_rng(seed).permutation(len(members))
    shuffled = [plants_of_units[position] for position in order]
    shuffled.sort(key=lambda entry: -len(entry[0]))
    fold_of = np.zeros(len(pictures), int)
    n_plants = [0] * n_folds
    for plants, indices in shuffled:
        fold = int(np.argmin(n_plants))
        fold_of[indices] = fold
        n_plants[fold] += len(plants)
    return _list_folds(fold_of, n_folds)


def label_units(
    pictures: Sequence[Picture], unit: str, within_km: float = PLACE_KM
) -> np.ndarray:
    """Label pictures by unit, in order of appearance: int64 (n,).

    Units are ``place``, ``author``, ``day`` and ``collection``. All pictures of a plant
    have one label, and so have units that a plant joins. Two plants are at the same
    place if they are closer than `within_km`, or if a chain of such plants joins them.
    Plants without coordinates, author, date or collection, which may be of any unit,
    form one unit together.
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


def check_n_folds(n_folds: int, n_units: int, units: str) -> None:
    """Raise a `LeafidError` for fewer units than folds; `units` names them."""
    if n_units < n_folds:
        raise LeafidError(
            f"expected at least {n_folds} {units} for {n_folds} folds, found {n_units}"
        )
