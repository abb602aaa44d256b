"""Chooses the pictures that a model may learn from, and splits pictures into folds of whole plants, places and such."""

import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.pictures.picture import AcquisitionType, Picture

#: Distance in km below which two plants are at the same place.
PLACE_KM = 5.0
_EARTH_RADIUS_KM = 6371.0088
logger = logging.getLogger(__name__)


def select_training_pictures(
    pictures: Sequence[Picture], assume_type: AcquisitionType | None = None, source: str = "the collection"
) -> list[Picture]:
    """Choose the labelled pictures of the training part, or of all parts where there is none; warn of others in it.

    With `assume_type`, every picture counts as one of this type. Messages call the collection `source`. A `LeafidError`
    is raised when no picture is left.
    """
    parts = {picture.part for picture in pictures}
    own = [picture for picture in pictures if picture.part == "train" or "train" not in parts]
    chosen = [picture for picture in own if picture.species is not None]
    if not chosen:
        raise LeafidError(
            f"{source}: expected labelled pictures, found {len(pictures)} without a label; put those of a species, or "
            "of any class, directly into a folder named after it and name the folder above, or say --label-from or "
            "--metadata (in Python: label_from, metadata)"
        )
    if unlabelled := [picture.file for picture in own if picture.species is None and picture.part != "test"]:
        message = "%s: %d of %d pictures have no label and are left out, %s first"
        logger.warning(message, source, len(unlabelled), len(own), unlabelled[0])
    return chosen if assume_type is None else [replace(picture, type=assume_type) for picture in chosen]


def split_by_plant(pictures: Sequence[Picture], n_folds: int, seed: int) -> list[np.ndarray]:
    """Distribute the plants of every species evenly over folds; returns the indices of each fold's pictures, ascending.

    In an order shuffled by the seed, each plant goes to the fold with the fewest plants of its species so far, then the
    fewest pictures of its species, then the fewest pictures. A picture of unknown plant counts as a plant of its own.
    Which pictures share a fold doesn't depend on the order of the pictures. Fewer plants than folds raise a
    `LeafidError`.
    """
    members = group_by(range(len(pictures)), lambda index: pictures[index].group)
    _check_n_folds(n_folds, len(members), "plants")
    plants_by_species = group_by(
        sorted(members), lambda plant: _find_main_species([pictures[index] for index in members[plant]])
    )
    random = np.random.default_rng(seed)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    # Species with many plants come first, so that those with few plants balance the folds.
    for species in sorted(plants_by_species, key=lambda species: (-len(plants_by_species[species]), species)):
        plants = plants_by_species[species]
        n_plants = [0] * n_folds
        n_pictures = [0] * n_folds
        tie_breakers = random.permutation(n_folds)
        for plant in (plants[position] for position in random.permutation(len(plants))):
            fold = min(range(n_folds), key=lambda f: (n_plants[f], n_pictures[f], len(folds[f]), tie_breakers[f]))
            folds[fold] += members[plant]
            n_plants[fold] += 1
            n_pictures[fold] += len(members[plant])
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]


def split_by_unit(pictures: Sequence[Picture], unit: str, n_folds: int, seed: int) -> list[np.ndarray]:
    """Distribute whole places, authors or days over folds, so that a model is tested at unseen places, for instance.

    `unit` is ``place`` (see `label_places`), ``author`` or ``day``; authors and days of one plant share a fold. Each
    unit, those with many plants first and equal ones in an order shuffled by the seed, goes to the fold with the fewest
    plants so far. Returns indices as `split_by_plant` does. Fewer units than folds raise a `LeafidError`.
    """
    if unit == "place":
        labels = label_places(pictures)
    else:
        labels = _label_groups(pictures, [picture.author if unit == "author" else picture.date for picture in pictures])
    n_labels = int(labels.max(initial=-1)) + 1
    _check_n_folds(n_folds, n_labels, f"{unit}s (plants without one count as a single one)")
    plants: list[set[str]] = [set() for _ in range(n_labels)]
    for label, picture in zip(labels, pictures, strict=True):
        plants[label].add(picture.group)
    # Sorted by name first, so that the order of the pictures doesn't matter.
    by_name = sorted(range(n_labels), key=lambda label: min(plants[label]))
    shuffled = [by_name[position] for position in np.random.default_rng(seed).permutation(n_labels)]
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    n_plants = [0] * n_folds
    for label in sorted(shuffled, key=lambda label: -len(plants[label])):
        fold = int(np.argmin(n_plants))
        folds[fold] += np.flatnonzero(labels == label).tolist()
        n_plants[fold] += len(plants[label])
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]


def label_places(pictures: Sequence[Picture], within_km: float = PLACE_KM) -> np.ndarray:
    """Label each picture with the number of its place, from 0 in the order of their first pictures: int64 (n,).

    Two plants are at the same place if they are closer than `within_km`, or if a chain of such plants joins them; all
    pictures of a plant are at one place. As a plant without coordinates may be anywhere, all of these form one place.
    """
    coordinates = [picture.coordinates for picture in pictures]
    is_known = np.array([point is not None for point in coordinates], bool)
    clusters = np.full(len(pictures), None)
    if is_known.any():
        points, inverse = np.unique([point for point in coordinates if point is not None], axis=0, return_inverse=True)
        latitude, longitude = np.radians(points).T
        across = np.cos(latitude)
        on_sphere = np.stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)], axis=1)
        chord = 2 * np.sin(within_km / _EARTH_RADIUS_KM / 2)
        pairs = KDTree(on_sphere).query_pairs(chord, output_type="ndarray")
        graph = coo_array((np.ones(len(pairs), bool), tuple(pairs.T)), shape=(len(points), len(points)))
        # NumPy 2.0.0 returns the inverse as a column.
        clusters[is_known] = connected_components(graph, directed=False)[1][inverse.ravel()]
    return _label_groups(pictures, clusters.tolist())


def _label_groups(pictures: Sequence[Picture], values: Sequence[Hashable | None]) -> np.ndarray:
    """Label each picture with the number of its value, from 0 in the order of their first pictures: int64 (n,).

    Values that pictures of one plant have are one group. All plants without any value form one group.
    """
    plants = _number(picture.group for picture in pictures)
    is_known = np.array([value is not None for value in values], bool)
    # Group 0 is the unknown value.
    groups = np.zeros(len(pictures), np.int64)
    groups[is_known] = 1 + _number(value for value in values if value is not None)
    is_edge = is_known | ~np.isin(plants, plants[is_known])
    n_plants = int(plants.max(initial=-1)) + 1
    n_nodes = n_plants + int(groups.max(initial=0)) + 1
    edges = plants[is_edge], n_plants + groups[is_edge]
    graph = coo_array((np.ones(is_edge.sum(), bool), edges), shape=(n_nodes, n_nodes))
    return _number(connected_components(graph, directed=False)[1][plants].tolist())


def _number(values: Iterable[Hashable]) -> np.ndarray:
    """Replace values by numbers from 0, in the order of their first occurrence: int64 (n,)."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)


def _check_n_folds(n_folds: int, n_units: int, units: str) -> None:
    if n_folds < 2:
        raise ValueError(f"n_folds: expected at least 2, found {n_folds}")
    if n_units < n_folds:
        raise LeafidError(f"expected at least {n_folds} {units} for {n_folds} folds, found {n_units}")


def _find_main_species(pictures: Sequence[Picture]) -> str:
    """Return the species of most pictures of a plant; a grafted or mislabelled plant has several."""
    counts = Counter(picture.species or "" for picture in pictures)
    return min(counts, key=lambda species: (-counts[species], species))
