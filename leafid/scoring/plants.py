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
# The lowest probability of a species that a run lists: `fuse_pictures` takes a lower
# one for the species that the run doesn't list.
_LISTED = 2e-9


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

    def score_single(self) -> float:
        """Compute the share of pictures that name the plant correctly by themselves."""
        is_first = self.probabilities.argmax(axis=1) == self.label
        return float((is_first & self.probabilities.any(axis=1)).mean())

    def is_named_by(self, size: int | None, random: np.random.Generator) -> bool:
        """Tell whether a random sample of the pictures, or all, name the plant."""
        sample = self.probabilities
        if size is not None:
            sample = sample[random.permutation(len(sample))[:size]]
        if not sample.any():
            return False
        n = len(sample)
        fused = fuse_pictures(sample, [""] * n, [DEFAULT_EXPONENT] * n)
        return int(fused.argmax()) == self.label


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
    singles = [plant.score_single() for plant in scored]
    shares = singles
    if size != 1:
        n_samples = _N_SAMPLES if size else 1
        shares = []
        for plant in scored:
            is_named = [plant.is_named_by(size, random) for _ in range(n_samples)]
            shares.append(accuracy_score(is_named))
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
    # The least difference that makes the better rank win between equal scores; what is
    # listed wins over what isn't.
    table[picture, located.species_index] = np.maximum(located.score, _LISTED) * (
        1 - 1e-12 * located.rank
    )
    labels = find_indices(truth.species, run.species).tolist()
    by_type: dict[str, list[PlantPictures]] = {
        type_: [] for type_ in sorted(set(truth.type))
    }
    plants = group_by(
        range(len(truth)), lambda index: (truth.type[index], truth.plant[index])
    )
    for (type_, _), indices in plants.items():
        authors = {truth.author[index] for index in indices}
        by_type[type_].append(
            PlantPictures(table[indices], labels[indices[0]], authors)
        )
    return by_type


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
                    rows.append([f"{name}, {type_}", number, n_plants, *scores])
    note = (
        "single: share of the pictures of these plants that are named correctly by "
        "themselves, averaged by plant"
    )
    return Table(
        title="Per plant, fused from several pictures",
        columns=["run", "pictures", "plants", "single", "top-1", "S"],
        rows=rows,
        notes=[note],
    )
