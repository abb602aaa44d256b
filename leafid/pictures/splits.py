"""Chooses the pictures that a model may learn from, and splits pictures into folds of whole plants or places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.pictures.geography import PLACE_KM, label_groups, label_places
from leafid.pictures.picture import AcquisitionType, Picture

if TYPE_CHECKING:
    import numpy as np


def select_training_pictures(
    pictures: Sequence[Picture], assume_type: AcquisitionType | None = None, source: str = "the collection"
) -> list[Picture]:
    """Choose the labelled pictures of the training part, or of all parts where there is none.

    With `assume_type`, every picture counts as one of this type. Messages call the collection `source`. A `LeafidError`
    is raised when no picture is left.
    """
    parts = {picture.part for picture in pictures}
    chosen = [p for p in pictures if p.species is not None and (p.part == "train" or "train" not in parts)]
    if not chosen:
        raise LeafidError(
            f"{source}: expected labelled pictures, found {len(pictures)} without a label; put those of a species, or "
            "of any class, directly into a folder named after it and name the folder above, or say --label-from or "
            "--metadata (in Python: label_from, metadata)"
        )
    return chosen if assume_type is None else [replace(picture, type=assume_type) for picture in chosen]


def split_by_plant(pictures: Sequence[Picture], n_folds: int, seed: int) -> list[np.ndarray]:
    """Distribute the plants of every species evenly over folds; returns the indices of each fold's pictures, ascending.

    In an order shuffled by the seed, each plant goes to the fold with the fewest plants of its species so far, then the
    fewest pictures of its species, then the fewest pictures. A picture of unknown plant counts as a plant of its own.
    Which pictures share a fold doesn't depend on the order of the pictures. Fewer plants than folds raise a
    `LeafidError`.
    """
    import numpy as np

    _check_n_folds(n_folds)
    members = group_by(range(len(pictures)), lambda index: pictures[index].group)
    if len(members) < n_folds:
        raise LeafidError(f"expected at least {n_folds} plants for {n_folds} folds, found {len(members)}")

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


def split_by_place(pictures: Sequence[Picture], n_folds: int, seed: int) -> list[np.ndarray]:
    """Distribute whole places, as `label_places` finds them, over folds, so that a model is tested at unseen places.

    Each place, those with many plants first and equal ones in an order shuffled by the seed, goes to the fold with the
    fewest plants so far. Returns indices as `split_by_plant` does; the pictures of a plant share a fold, too. Fewer
    places than folds raise a `LeafidError`.
    """
    unit = f"places, {PLACE_KM:g} km apart,"
    return _split_by_label(pictures, label_places(pictures), n_folds, seed, unit, "plants without coordinates")


def split_by_author(pictures: Sequence[Picture], n_folds: int, seed: int) -> list[np.ndarray]:
    """Distribute authors over folds as `split_by_place` does places; authors of one plant share a fold."""
    labels = label_groups(pictures, [picture.author for picture in pictures])
    return _split_by_label(pictures, labels, n_folds, seed, "authors", "pictures without an author")


def split_by_day(pictures: Sequence[Picture], n_folds: int, seed: int) -> list[np.ndarray]:
    """Distribute days over folds as `split_by_place` does places; the days of one plant share a fold."""
    labels = label_groups(pictures, [picture.date for picture in pictures])
    return _split_by_label(pictures, labels, n_folds, seed, "days", "pictures without a date")


def _split_by_label(
    pictures: Sequence[Picture], labels: np.ndarray, n_folds: int, seed: int, unit: str, unknown: str
) -> list[np.ndarray]:
    """Distribute the pictures with each label over folds."""
    import numpy as np

    _check_n_folds(n_folds)
    n_labels = int(labels.max(initial=-1)) + 1
    if n_labels < n_folds:
        raise LeafidError(
            f"expected at least {n_folds} {unit} for {n_folds} folds, found {n_labels} ({unknown} count as one)"
        )
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


def _check_n_folds(n_folds: int) -> None:
    if n_folds < 2:
        raise ValueError(f"n_folds: expected at least 2, found {n_folds}")


def _find_main_species(pictures: Sequence[Picture]) -> str:
    """Return the species of most pictures of a plant; a grafted or mislabelled plant has several."""
    counts = Counter(picture.species or "" for picture in pictures)
    return min(counts, key=lambda species: (-counts[species], species))
