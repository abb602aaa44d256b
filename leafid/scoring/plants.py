"""Scores plants that are identified from several pictures each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.grouping import group_by
from leafid.learning.plant_fusion import DEFAULT_EXPONENT, fuse_pictures
from leafid.metrics.averages import accuracy_score, average_score
from leafid.scoring.judging import title_run
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth, find_indices
from leafid.scoring.tables import Cell, Table

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
    #: The authors of its pictures, each once.
    authors: Collection[str]

    def is_named_by(self, size: int | None, random: np.random.Generator) -> bool:
        """Tell whether a random sample of the pictures, of that size, or all of them name the plant correctly."""
        chosen = self.probabilities
        if size is not None:
            chosen = chosen[random.permutation(len(chosen))[:size]]
        if not chosen.any():
            return False
        fused = fuse_pictures(
            chosen, [""] * len(chosen), [DEFAULT_EXPONENT] * len(chosen)
        )
        return int(fused.argmax()) == self.label


def score_plants(
    plants: Sequence[PlantPictures], size: int | None = None
) -> tuple[int, float, float, float]:
    """Score plants by samples of some of their pictures, or by all; a plant with fewer than a sample is left out.

    Returns the number of plants, the share of these that a single picture names correctly, the share that the pictures
    together name correctly, and S: its mean over authors, where a plant counts for each of its authors.
    """
    random = np.random.default_rng(0)
    scored = [plant for plant in plants if len(plant.probabilities) >= (size or 1)]
    by_picture = [
        (
            (plant.probabilities.argmax(axis=1) == plant.label)
            & plant.probabilities.any(axis=1)
        ).mean()
        for plant in scored
    ]
    correct = by_picture
    if size != 1:
        n_samples = _N_SAMPLES if size else 1
        correct = [
            np.mean([plant.is_named_by(size, random) for _ in range(n_samples)])
            for plant in scored
        ]
    single = accuracy_score(by_picture)
    answers = [
        (share, author, index)
        for index, share in enumerate(correct)
        for author in scored[index].authors
    ]
    mean_by_author = (
        average_score(*zip(*answers, strict=True)) if answers else float("nan")
    )
    return len(scored), single, accuracy_score(correct), mean_by_author


def collect_plants(run: Run, truth: GroundTruth) -> dict[str, list[PlantPictures]]:
    """Collect what a run says of the pictures of each plant, by acquisition type.

    Scores are taken for probabilities. Pictures that the run lacks tell nothing; a plant that has no other is named
    wrongly. A `LeafidError` is raised when a score is no probability, or contradicts its rank.
    """
    run.check_scores()
    located, picture, _ = truth.locate(run)
    table = np.zeros((len(truth), len(run.species)))
    # The least difference that makes the better rank win between equal scores; what is listed wins over what isn't.
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
    """Tabulate the scores of plants that are identified from several pictures, by run and acquisition type."""
    rows: list[list[Cell]] = []
    for run in runs:
        for type_, plants in collect_plants(run, truth).items():
            for size in SIZES:
                n_plants, *scores = score_plants(plants, size)
                if n_plants:
                    rows.append(
                        [
                            f"{title_run(run.name)}, {type_}",
                            size or "all",
                            n_plants,
                            *scores,
                        ]
                    )
    notes = [
        "single: share of the pictures of these plants that are named correctly by themselves, averaged by plant"
    ]
    headings = ["run", "pictures", "plants", "single", "top-1", "S"]
    return Table("Per plant, fused from several pictures", headings, rows, notes)
