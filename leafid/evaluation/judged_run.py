"""Judges a run by the ground truth: for each picture, the rank of the correct species."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leafid.metrics.plant_task import PlantMetric
from leafid.pictures.names import parse_genus
from leafid.runs.ground_truth import UNKNOWN, GroundTruth
from leafid.runs.run import Run


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What a run answers for each picture of the ground truth, in its order."""

    #: The run's.
    name: str
    #: int32 (n,): the rank of the correct species, from 1; 0 where the run doesn't name it.
    rank: NDArray[np.int32]
    #: int64 (n,): how many species the run names.
    size: NDArray[np.int64]
    #: bool (n,): whether the run names any.
    covered: NDArray[np.bool_]
    #: `genus_correct`, `family_correct`: bool (n,), whether the species of rank 1 is of the correct genus, family.
    genus_correct: NDArray[np.bool_]
    family_correct: NDArray[np.bool_]
    #: As the run's.
    repeated: int = 0

    @property
    def n_missing(self) -> int:
        """Number of pictures that the run lacks."""
        return int((~self.covered).sum())

    def score_pictures(self, metric: PlantMetric) -> NDArray[np.float64]:
        """Score each picture: float64 (n,) in [0, 1]."""
        # A correct genus or family counts as rank 1, any other as not named.
        ranks = {"species": self.rank, "genus": self.genus_correct, "family": self.family_correct}
        return metric.score_pictures(ranks[metric.level])


def judge_run(run: Run, truth: GroundTruth) -> JudgedRun:
    """Judge a run by the ground truth. Predictions of other pictures are ignored.

    The genus of a predicted species is the beginning of its name, its family is that of the genus in the ground truth:
    a predicted species need not have a picture there.
    """
    picture = find_indices(run.pictures, truth.pictures)[run.picture_index]
    names, correct = truth.encode("species")
    species = find_indices(run.species, names)[run.species_index]
    in_truth = picture >= 0
    hits = np.flatnonzero(in_truth & (species == correct[np.where(in_truth, picture, 0)]))
    rank = np.zeros(len(truth), np.int32)
    # Ranks rise within a picture: written in reverse order, the best rank of a repeated species remains.
    rank[picture[hits][::-1]] = run.rank[hits][::-1]
    size = np.bincount(picture[in_truth], minlength=len(truth))
    top = np.flatnonzero(in_truth & (run.rank == 1))
    genera = [parse_genus(name) for name in run.species]
    families = [truth.family_of.get(name, UNKNOWN) for name in genera]

    def is_correct(taxa: Sequence[str], level: str) -> NDArray[np.bool_]:
        taxon_names, labels = truth.encode(level)
        predicted, expected = find_indices(taxa, taxon_names)[run.species_index[top]], labels[picture[top]]
        is_known = np.array([name != UNKNOWN for name in taxon_names])[expected]
        found = np.zeros(len(truth), bool)
        found[picture[top]] = (predicted == expected) & is_known
        return found

    return JudgedRun(
        run.name,
        rank,
        size,
        size > 0,
        is_correct(genera, "genus"),
        is_correct(families, "family"),
        run.repeated,
    )


def find_indices(names: Sequence[str], known: Sequence[str]) -> NDArray[np.intp]:
    """Find each name's index among the known ones, -1 for others."""
    index = {name: position for position, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in names], np.intp)
