"""Counts pictures, species, plants and authors, and measures how unevenly pictures are spread over species."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from leafid.grouping import count_noun, group_by
from leafid.pictures.collection import group_by_species
from leafid.pictures.picture import AcquisitionType, Picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


def lorenz_curve(counts: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Compute which share of all pictures the species with the fewest pictures hold.

    From the number of pictures of each of n species, returns the shares of species 0, 1/n, … 1, from the one with the
    fewest pictures, and the shares of pictures that these hold; both float64 (n + 1,), 0 to 1. A ValueError is raised
    if there are no counts, all are zero, or one is negative or not finite.

    References
    ----------
    .. [1] M. O. Lorenz, "Methods of measuring the concentration of wealth", Publications of the American Statistical
       Association 9(70), 1905. https://doi.org/10.2307/2276207
    .. [2] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
       distribution", NeurIPS Datasets and Benchmarks 2021: the curve over species.

    Examples
    --------
    >>> lorenz_curve([3, 1])
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 1.  ]))
    """
    import numpy as np

    values = np.sort(np.asarray(counts, dtype=np.float64).ravel())
    if values.size == 0 or not np.isfinite(values).all() or values[0] < 0 or values[-1] == 0:
        raise ValueError(f"counts: expected numbers from 0 up, not all 0, found {counts!r}")
    totals = np.concatenate([[0.0], np.cumsum(values)])
    return np.linspace(0.0, 1.0, values.size + 1), totals / totals[-1]


def gini_index(counts: ArrayLike) -> float:
    """Compute the Gini index of the pictures of each species: twice the area between Lorenz curve and diagonal.

    It is 0 if all n species have the same number of pictures, and (n - 1) / n if one species has all of them.

    References
    ----------
    .. [1] C. Gini, "Variabilità e mutabilità", 1912.
    .. [2] J. L. Gastwirth, "The estimation of the Lorenz curve and Gini index", Review of Economics and Statistics
       54(3), 1972. https://doi.org/10.2307/1937992

    Examples
    --------
    >>> gini_index([1, 1, 1, 1]), gini_index([0, 0, 0, 4]), gini_index([1, 3])
    (0.0, 0.75, 0.25)
    """
    import numpy as np

    species_share, picture_share = lorenz_curve(counts)
    # The curve is piecewise linear, so that trapezia give its area exactly.
    return 1 - 2 * float(np.trapezoid(picture_share, species_share))


def count_pictures(pictures: Iterable[Picture]) -> dict[str, int]:
    """Count pictures, and the species, plants and authors among them; unknown ones don't count."""
    pictures = tuple(pictures)
    return {
        "pictures": len(pictures),
        "species": len({picture.species for picture in pictures} - {None}),
        "plants": len({picture.plant for picture in pictures} - {None}),
        "authors": len({picture.author for picture in pictures} - {None}),
    }


def count_by_type(pictures: Iterable[Picture]) -> dict[str, dict[str, int]]:
    """Count per acquisition type that occurs, in the order scan, scan-like, photo, unknown."""
    by_type = group_by(pictures, lambda picture: picture.type)
    return {
        str(type_ or "unknown"): count_pictures(by_type[type_])
        for type_ in (*AcquisitionType, None)
        if type_ in by_type
    }


def count_by_species(pictures: Iterable[Picture]) -> list[dict[str, Any]]:
    """Count pictures, plants, and pictures by type per species, in the order of the number of pictures and the name.

    A picture of unknown plant counts as a plant of its own, as it does in a split.
    """
    counts = [
        {
            "species": species,
            "pictures": len(group),
            "plants": len({picture.group for picture in group}),
            "by_type": dict(sorted(Counter(str(picture.type or "unknown") for picture in group).items())),
        }
        for species, group in group_by_species(pictures).items()
    ]
    return sorted(counts, key=lambda entry: (entry["pictures"], entry["species"]))


def find_duplicates(pictures: Sequence[Picture], hashes: Sequence[str | None]) -> list[list[Picture]]:
    """Group the pictures with equal content hashes, in the pictures' order; a hash of None equals no other."""
    hashed = [pair for pair in zip(pictures, hashes, strict=True) if pair[1] is not None]
    groups = group_by(hashed, lambda pair: pair[1]).values()
    return [[picture for picture, _ in group] for group in groups if len(group) > 1]


def differ_in_species(duplicates: Iterable[Picture]) -> bool:
    """Tell whether duplicates have different species names, at least one of which must be wrong."""
    return len({picture.species for picture in duplicates}) > 1


def differ_in_plant(duplicates: Iterable[Picture]) -> bool:
    """Tell whether duplicates have different plants, so that a split may separate them."""
    return len({picture.group for picture in duplicates}) > 1


def find_risks(pictures: Sequence[Picture], duplicates: Sequence[Sequence[Picture]]) -> Iterator[str]:
    """Find what would spoil an experiment on a collection; yield a line for each with what to do."""
    labelled = [picture for picture in pictures if picture.species is not None]
    by_part: dict[str | None, set[str]] = {}
    plants: dict[str, set[str | None]] = {}
    labels: dict[str, set[str | None]] = {}
    for picture in labelled:
        by_part.setdefault(picture.part, set()).add(str(picture.species))
        if picture.plant is not None:
            plants.setdefault(picture.plant, set()).add(picture.part)
            labels.setdefault(picture.plant, set()).add(picture.species)
    crossing = [group for group in duplicates if len({picture.part for picture in group}) > 1]
    if crossing:
        names = f"{crossing[0][0].name} and {crossing[0][1].name}"
        yield f"{count_noun(len(crossing), 'duplicate')} across parts, {names} first: remove from the training part"
    elif apart := [group for group in duplicates if differ_in_plant(group) and not differ_in_species(group)]:
        yield f"{count_noun(len(apart), 'duplicate')} of different plants: remove, or make them one (--plants-from)"
    if mislabelled := [group for group in duplicates if differ_in_species(group)]:
        yield f"{count_noun(len(mislabelled), 'duplicate')} with different labels: correct or remove them"
    if shared := [plant for plant, parts in plants.items() if len(parts) > 1]:
        yield f"{count_noun(len(shared), 'plant')} in several parts, {shared[0]!r} first: move each plant to one part"
    if mixed := [plant for plant, species in labels.items() if len(species) > 1]:
        yield (
            f"{count_noun(len(mixed), 'plant')} of several labels, {mixed[0]!r} first: number plants over all labels, "
            "or let the pattern of --plants-from include the label"
        )
    trained = by_part.get("train")
    if trained and (unseen := sorted(by_part.get("test", set()) - trained)):
        yield (
            f"{count_noun(len(unseen), 'label')} of the test part without a training picture, {unseen[0]!r} first: add "
            "some, or leave the pictures out"
        )
    counts = Counter(picture.species for picture in labelled)
    label, largest = counts.most_common(1)[0] if counts else (None, 0)
    if len(counts) == 1:
        yield f"all pictures have one label, {label!r}: name the folder above the folders of labels"
    elif 2 * largest > len(labelled):
        yield (
            f"{label!r} holds {largest / len(labelled):.0%} of the pictures: accuracy says little; compare averages "
            "over labels ('leafid evaluate --macro')"
        )
    if single := [name for name, count in counts.items() if count == 1]:
        yield f"{count_noun(len(single), 'label')} with a single picture, {single[0]!r} first: no fold trains and tests"
    if labelled and not plants:
        yield (
            "the plants are unknown: where several pictures show one, held-out scores are too high; say --plants-from, "
            "or look for pictures of one leaf with --similar"
        )
