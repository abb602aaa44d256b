"""Scores plants that are identified from several pictures each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leafid.grouping import group_by
from leafid.learning.averages import accuracy_score, average_score
from leafid.model.plant_fusion import DEFAULT_EXPONENT, fuse_pictures
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth, find_indices

#: Numbers of pictures that plants are identified from; None for all that they have.
SIZES = (1, 2, 3, 5, None)
# Number of random samples of a plant's pictures that are averaged.
_N_SAMPLES = 20
# The lowest probability of a species that a run lists, above what `fuse_pictures` takes for that of others.
_LISTED = 2e-9


@dataclass(frozen=True)
class PlantPictures:
    """The pictures of a plant of one acquisition type, and its correct species."""

    #: float (n, n_species); the probabilities of pictures, zeros where a run lacks the picture.
    probabilities: np.ndarray
    #: The column of the species; -1 for one that has none.
    label: int
    author: str
    #: See `leafid.model.plant_fusion`.
    exponent: float = DEFAULT_EXPONENT

    @property
    def is_named_first(self) -> np.ndarray:
        """Whether each picture is named correctly by itself, bool (n,)."""
        return (self.probabilities.argmax(axis=1) == self.label) & self.probabilities.any(axis=1)

    def is_named_by(self, size: int | None, random: np.random.Generator) -> bool:
        """Tell whether a random sample of the pictures, of that size, or all of them name the plant correctly."""
        own = self.probabilities
        chosen = own if size is None else own[random.permutation(len(own))[:size]]
        if not chosen.any():
            return False
        fused = fuse_pictures(chosen, [""] * len(chosen), [self.exponent] * len(chosen))
        return int(fused.argmax()) == self.label


@dataclass(frozen=True)
class PlantScores:
    """The scores of plants that are identified from so many pictures each."""

    #: None for all.
    n_pictures: int | None
    #: Number of plants that have as many.
    plants: int
    #: Share of these that a single picture names correctly.
    single: float
    #: Share that the pictures together name correctly, and the mean over authors of that share.
    top1: float
    S: float


def score_plants(
    plants: Sequence[PlantPictures], sizes: Sequence[int | None] = SIZES, seed: int = 0
) -> list[PlantScores]:
    """Score plants by samples of their pictures, and by all; a plant with fewer than a sample has is left out.

    The `seed` is that of the samples.
    """
    scores = []
    for size in sizes:
        random = np.random.default_rng(seed)
        own = [plant for plant in plants if len(plant.probabilities) >= (size or 1)]
        correct = [
            np.mean([plant.is_named_by(size, random) for _ in range(_N_SAMPLES if size else 1)]) for plant in own
        ]
        single = accuracy_score([plant.is_named_first.mean() for plant in own])
        mean_by_author = average_score(correct, [plant.author for plant in own], np.arange(len(own)))
        scores.append(PlantScores(size, len(own), single, accuracy_score(correct), mean_by_author))
    return scores


def collect_plants(
    probabilities: np.ndarray,
    labels: ArrayLike,
    types: Sequence[str],
    authors: Sequence[str],
    plants: Sequence[str],
    exponent: float = DEFAULT_EXPONENT,
) -> dict[str, list[PlantPictures]]:
    """Collect the pictures of each plant, for each acquisition type; the columns belong to the pictures."""
    columns = np.asarray(labels, np.intp)
    found: dict[str, list[PlantPictures]] = {kind: [] for kind in sorted(set(types))}
    for (kind, _), own in group_by(range(len(types)), lambda index: (types[index], plants[index])).items():
        found[kind].append(PlantPictures(probabilities[own], int(columns[own[0]]), authors[own[0]], exponent))
    return found


def collect_run_plants(run: Run, truth: GroundTruth) -> dict[str, list[PlantPictures]]:
    """Collect what a run says of the pictures of each plant, by acquisition type.

    Scores are taken for probabilities. Pictures that the run lacks tell nothing; a plant that has no other is named
    wrongly. A `LeafidError` is raised when a score is no probability, or contradicts its rank.
    """
    run.check_probabilities()
    run.check_order()
    own, picture, _ = truth.locate(run)
    table = np.zeros((len(truth), len(run.species)))
    # The least difference that makes the better rank win between equal scores; what is listed wins over what isn't.
    table[picture, own.species_index] = np.maximum(own.score, _LISTED) * (1 - 1e-12 * own.rank)
    return collect_plants(table, find_indices(truth.species, run.species), truth.type, truth.author, truth.unit)


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
