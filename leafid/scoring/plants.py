"""Scores plants that are identified from several pictures each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.learning.plant_fusion import DEFAULT_EXPONENT, fuse_pictures
from leafid.metrics.averages import accuracy_score, average_score
from leafid.scoring.judging import strip_run_suffix
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth, find_indices
from leafid.scoring.tables import Rows, Table

#: Numbers of pictures that plants are identified from; None for all pictures.
SIZES = (1, 2, 3, 5, None)
# Number of random samples of a plant's pictures that are averaged.
_N_SAMPLES = 20
# The lowest probability of a species that a run names: `fuse_pictures` takes a lower
# one for the other species.
_LEAST_PROBABILITY = 2e-9


@dataclass(frozen=True)
class PlantPictures:
    """The pictures of a plant of one acquisition type, and its correct species."""

    #: float (n, n_species); the probabilities of pictures, zeros where a run lacks the
    #: picture.
    probabilities: np.ndarray
    #: The column of the species; -1 for one that has none.
    label: int
    #: The authors of its pictures, each once.
    authors: Collection[str]

    def score(self, size: int | None, random: np.random.Generator) -> float:
        """Compute how often random samples of the pictures, or all, name the plant."""
        n_pictures = len(self.probabilities)
        if size == 1:
            is_first = self.probabilities.argmax(axis=1) == self.label
            return accuracy_score(is_first & self.probabilities.any(axis=1))
        n = size or n_pictures
        is_named = []
        for _ in range(_N_SAMPLES if size else 1):
            sample = self.probabilities[random.permutation(n_pictures)[:n]]
            fused = fuse_pictures(sample, [""] * n, [DEFAULT_EXPONENT] * n)
            is_named.append(sample.any() and fused.argmax() == self.label)
        return accuracy_score(is_named)


def score_plants(
    plants: Sequence[PlantPictures], size: int | None = None
) -> tuple[int, float, float, float]:
    """Score plants by samples of some of their pictures, or by all.

    Parameters
    ----------
    plants : sequence of PlantPictures
    size : int, optional
        The number of pictures in a sample. A plant with fewer is left out.

    Returns
    -------
    n_plants : int
        The number of plants that are scored.
    single : float
        The share of these plants that a single picture names correctly.
    top_1 : float
        The share that the pictures together name correctly.
    s : float
        Its mean over authors, where a plant counts for each of its authors.
    """
    random = np.random.default_rng(0)
    scored = [plant for plant in plants if len(plant.probabilities) >= (size or 1)]
    singles = [plant.score(1, random) for plant in scored]
    shares = [plant.score(size, random) for plant in scored]
    n_authors = [len(plant.authors) for plant in scored]
    mean_by_author = average_score(
        np.repeat(shares, n_authors),
        [author for plant in scored for author in plant.authors],
        np.repeat(np.arange(len(scored)), n_authors),
    )
    return len(scored), accuracy_score(singles), accuracy_score(shares), mean_by_author


def collect_plants(run: Run, truth: GroundTruth) -> dict[str, list[PlantPictures]]:
    """Collect what a run says of the pictures of each plant, by acquisition type.

    Scores are taken for probabilities. Pictures that the run lacks tell nothing; a
    plant that has no other is named wrongly. A `LeafidError` is raised when a score is
    no probability, or contradicts its rank.
    """
    if problem := run.find_score_problem():
        raise LeafidError(problem)
    located, picture, _ = truth.locate(run)
    table = np.zeros((len(truth), len(run.species)))
    # Of equal scores, the better rank wins by the least difference; a species that the
    # run names wins over the others.
    probability = np.maximum(located.score, _LEAST_PROBABILITY)
    table[picture, located.species_index] = probability * (1 - 1e-12 * located.rank)
    labels = find_indices(truth.species, run.species).tolist()
    by_type: dict[str, list[PlantPictures]] = {}
    keys = [*zip(truth.type, truth.plant, strict=True)]
    for (type_, _), rows in group_by(range(len(truth)), keys.__getitem__).items():
        plant = PlantPictures(table[rows], labels[rows[0]], {*truth.author[rows]})
        by_type.setdefault(type_, []).append(plant)
    return dict(sorted(by_type.items()))


def make_plant_table(runs: Sequence[Run], truth: GroundTruth) -> Table:
    """Tabulate the scores of plants by run and acquisition type.

    A plant is identified from several pictures.
    """
    rows: Rows = []
    for run in runs:
        name = strip_run_suffix(run.name)
        for type_, plants in collect_plants(run, truth).items():
            for size in SIZES:
                n_plants, *scores = score_plants(plants, size)
                if n_plants:
                    number = size or "all"
                    rows.append([type_, name, number, n_plants, *scores])
    note = (
        "single: share of the pictures of these plants that are named correctly by "
        "themselves, averaged by plant"
    )
    return Table(
        title="Per plant, fused from several pictures",
        columns=["type", "run", "pictures", "plants", "single", "top-1", "S"],
        rows=rows,
        notes=[note],
    )
