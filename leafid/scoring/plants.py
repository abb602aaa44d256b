"""Scores plants that are identified from several pictures each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leafid.grouping import group_by
from leafid.learning.averages import accuracy_score, average_score
from leafid.model.plant_fusion import DEFAULT_EXPONENT, fuse_pictures
from leafid.scoring.truth import find_indices
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth, find_indices

#: Numbers of pictures that plants are identified from, besides all that they have.
SIZES = (1, 2, 3, 5)


# Number of random samples of a plant's pictures that are averaged.
_N_SAMPLES = 20


# The lowest probability of a species that a run lists, above what `fuse_pictures` takes for that of others.
_LISTED = 2e-9


@dataclass(frozen=True)
class PlantPictures:
    """The pictures of a plant, by acquisition type, and its correct species."""

    #: float (n, n_species) for each type; the probabilities of pictures, zeros where a run lacks the picture.
    probabilities: Mapping[str, np.ndarray]
    #: The column of the species; -1 for one that has none.
    label: int
    author: str
    #: See `leafid.model.plant_fusion`; it matters where there are several types.
    exponents: Mapping[str, float]


@dataclass(frozen=True)
class PlantScores:
    """The scores of plants that are identified from so many pictures each."""

    #: Of each type; None for all.
    n_pictures: int | None
    #: Number of plants that have as many.
    plants: int
    #: Share of these that a single picture names correctly.
    single: float
    #: Share that the pictures together name correctly, and the mean over authors of that share.
    top1: float
    S: float


def score_plants(
    plants: Sequence[PlantPictures], sizes: Sequence[int | None] = (*SIZES, None), seed: int = 0
) -> list[PlantScores]:
    """Score plants by samples of their pictures, and by all.

    `sizes` are numbers of pictures of each type, or None for all that a plant has; a plant that has fewer is left out.
    The `seed` is that of the samples.
    """
    scores = []
    for size in sizes:
        random = np.random.default_rng(seed)
        n_needed = size or 1
        own = [plant for plant in plants if min(map(len, plant.probabilities.values())) >= n_needed]
        correct = [np.mean([_is_named(plant, size, random) for _ in range(_N_SAMPLES if size else 1)]) for plant in own]
        first = [_is_named_first(np.vstack(list(plant.probabilities.values())), plant.label) for plant in own]
        authors = [plant.author for plant in own]
        scores.append(
            PlantScores(
                size,
                len(own),
                accuracy_score([row.mean() for row in first]),
                accuracy_score(correct),
                average_score(correct, authors, np.arange(len(own))),
            )
        )
    return scores


def collect_plants(
    probabilities: np.ndarray,
    labels: ArrayLike,
    types: Sequence[str],
    authors: Sequence[str],
    plants: Sequence[str],
    exponents: Mapping[str, float] | None = None,
) -> dict[str, list[PlantPictures]]:
    """Collect the pictures of each plant, for each acquisition type; the columns belong to the pictures."""
    by_plant = group_by(range(len(types)), lambda index: (types[index], plants[index]))
    columns = np.asarray(labels, np.intp)
    found: dict[str, list[PlantPictures]] = {kind: [] for kind in sorted(set(types))}
    for (kind, _), own in by_plant.items():
        exponent = (exponents or {}).get(kind, DEFAULT_EXPONENT)
        plant = PlantPictures({kind: probabilities[own]}, int(columns[own[0]]), authors[own[0]], {kind: exponent})
        found[kind].append(plant)
    return found


def collect_run_plants(run: Run, truth: GroundTruth) -> dict[str, list[PlantPictures]]:
    """Collect what a run says of the pictures of each plant, by acquisition type.

    Scores are taken for probabilities. Pictures that the run lacks tell nothing; a plant that has no other is named
    wrongly. A `LeafidError` is raised when a score is no probability, or contradicts its rank.
    """
    run.check_probabilities()
    run.check_order()
    picture = find_indices(run.pictures, truth.pictures)[run.picture_index]
    kept = picture >= 0
    table = np.zeros((len(truth), len(run.species)))
    # The least difference that makes the better rank win between equal scores; what is listed wins over what isn't.
    scores = np.maximum(run.score, _LISTED) * (1 - 1e-12 * run.rank)
    table[picture[kept], run.species_index[kept]] = scores[kept]
    labels = find_indices(truth.species, run.species)
    return collect_plants(table, labels, truth.type, truth.author, truth.unit)


def pair_plants(first: Sequence[PlantPictures], second: Sequence[PlantPictures]) -> list[PlantPictures]:
    """Join each plant of one type with a plant of its species of another type, as if both were one plant.

    Hardly any plant has pictures of two types. The pairs show more than the pictures of one plant can: the plants of a
    species differ.
    """
    pairs = []
    for label in sorted({plant.label for plant in first} & {plant.label for plant in second}):
        own = [plant for plant in first if plant.label == label]
        other = [plant for plant in second if plant.label == label]
        for plant, partner in zip(own, other, strict=False):
            probabilities = {**plant.probabilities, **partner.probabilities}
            pairs.append(PlantPictures(probabilities, label, plant.author, {**plant.exponents, **partner.exponents}))
    return pairs


def _is_named(plant: PlantPictures, size: int | None, random: np.random.Generator) -> bool:
    """Identify a plant by a random sample of its pictures of each type, and tell whether the answer is correct."""
    rows, types = [], []
    for kind, own in plant.probabilities.items():
        chosen = own if size is None else own[random.permutation(len(own))[:size]]
        rows.append(chosen)
        types += [kind] * len(chosen)
    table = np.vstack(rows)
    if not table.any():
        return False
    fused = fuse_pictures(table, types, [plant.exponents[kind] for kind in types])
    return int(fused.argmax()) == plant.label


def _is_named_first(probabilities: np.ndarray, label: int) -> np.ndarray:
    return (probabilities.argmax(axis=1) == label) & probabilities.any(axis=1)


def make_plant_table(plants: Mapping[str, Sequence[PlantPictures]], first_column: str = "pictures of") -> Table:
    """Tabulate the scores of plants that are identified from several pictures, by a name for each group of plants."""
    rows: list[list[Cell]] = [
        [name, "all" if row.n_pictures is None else row.n_pictures, row.plants, row.single, row.top1, row.S]
        for name, own in plants.items()
        for row in score_plants(own)
        if row.plants
    ]
    notes = ["single: share of the pictures of these plants that are named correctly by themselves, averaged by plant"]
    headings = [first_column, "pictures", "plants", "single", "top-1", "S"]
    return Table("Per plant, fused from several pictures", headings, rows, notes)
