"""The answers of a run to the pictures of a ground truth, as metrics need them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError
from leafid.metrics.averages import Booleans, Floats, Indices
from leafid.pictures.names import UNKNOWN_SPECIES, parse_genus
from leafid.scoring.reading.runs import Run, select_rows
from leafid.scoring.reading.truth import UNKNOWN, GroundTruth, Texts

logger = logging.getLogger(__name__)
# What a run may name that knows no species.
_UNKNOWN_GENUS = parse_genus(UNKNOWN_SPECIES)


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run's answers to the pictures of a ground truth, in its order.

    All columns have one length.
    """

    #: The name of the run.
    name: str
    #: int (n,): the rank of the correct species, from 1; 0 where the run doesn't name
    #: it.
    rank: NDArray[np.int32]
    #: int (n,): how many species the run names; 0 where it lacks the picture.
    size: NDArray[np.int64]
    #: int (n,): the correct species, and the first one that is named, as indices into
    #: the species of the ground truth; -1 for none, and a number below for each other
    #: name, the same in all runs.
    label: Indices
    first: Indices
    #: object (n,): the name of the first species, None where the run lacks the picture.
    answer: Texts
    #: float (n,): the scores of the first species and of the correct one, and the sum
    #: of the squares of all scores; 0 for what isn't named.
    first_score: Floats
    probability: Floats
    squares: Floats
    #: bool (n,): whether the first species is of the correct genus, of the correct
    #: family.
    genus_correct: Booleans
    family_correct: Booleans
    #: bool (n,): whether the picture shows a species that a system can know. Most
    #: metrics only count these.
    is_known: Booleans
    #: int (n,): who took the picture, its plant as the official scorer counts plants,
    #: and its plant.
    author: Indices
    official_plant: Indices
    plant: Indices
    #: Why the scores are no probabilities, or None where they are.
    problem: str | None = None
    #: The genera of first species whose family is unknown, which makes it wrong.
    genera_without_family: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """What tables call the run."""
        return strip_run_suffix(self.name)

    @property
    def stem(self) -> str:
        """The beginning of the names of files about the run."""
        return self.title.replace("/", "-")

    @property
    def covered(self) -> Booleans:
        """Whether the run has the picture: bool (n,)."""
        return self.size > 0

    def check_probabilities(self, purpose: str) -> None:
        """Raise a `LeafidError` if scores, which the purpose needs, aren't such."""
        if self.problem:
            raise LeafidError(
                f"{self.problem}; {purpose} is computed from probabilities"
            )

    def select(self, rows: NDArray[Any]) -> JudgedRun:
        """Select pictures, by a mask or by indices."""
        return select_rows(self, rows)


def strip_run_suffix(name: str) -> str:
    """Leave out the ending of a run's file."""
    return re.sub(r"\.(txt|csv|tsv|npz|run|trec)$", "", name)


def judge_runs(
    runs: Sequence[Run], truth: GroundTruth, *, leave_out_missing: bool = False
) -> list[JudgedRun]:
    """Judge runs, which have predictions for some pictures of known species.

    A warning counts the pictures that a run lacks.
    """
    consequence = "count 0"
    if leave_out_missing:
        consequence = "are left out of the means by type and group"
    judged = [judge_run(run, truth) for run in runs]
    for run in judged:
        is_covered = run.covered[run.is_known]
        n_pictures = len(is_covered)
        if not is_covered.any():
            raise LeafidError(
                f"{run.name}: expected predictions for the {n_pictures} labelled "
                "pictures, found none"
            )
        if n_missing := n_pictures - int(is_covered.sum()):
            logger.warning(
                "%s: %d of %d pictures are missing and %s",
                run.name,
                n_missing,
                n_pictures,
                consequence,
            )
    return judged


def warn_of_families(runs: Iterable[JudgedRun]) -> None:
    """Warn of genera that runs name first, and whose families are unknown."""
    for run in runs:
        if genera := ", ".join(sorted(run.genera_without_family)):
            logger.warning(
                "%s: expected genera of known families, found %s, which count as "
                "wrong; name a collection that has them (--taxonomy)",
                run.name,
                genera,
            )


def judge_run(run: Run, truth: GroundTruth) -> JudgedRun:
    """Judge a run by the ground truth. Predictions of other pictures are ignored.

    The genus of a predicted species is the beginning of its name. Its family is the
    family of the genus in the ground truth or, where no picture shows the genus, in a
    list.
    """
    predictions, picture, species = truth.locate(run)
    labels, author, official_plant, plant = [
        np.unique(column, return_inverse=True)[1]
        for column in (truth.species, truth.author, truth.official_plant, truth.plant)
    ]
    is_hit = species == labels[picture]
    # Ranks rise within a picture: written in reverse order, the best rank of a repeated
    # species remains.
    hits = np.flatnonzero(is_hit)[::-1]
    first = np.flatnonzero(predictions.rank == 1)
    others = np.array([-2 - crc32(name.encode()) for name in run.species], np.intp)
    names = np.where(species < 0, others[predictions.species_index], species)
    species_names = np.array(run.species, object)[predictions.species_index]
    genera = [parse_genus(name) for name in run.species]
    families = [truth.known.family_of.get(name, UNKNOWN) for name in genera]

    named = predictions.species_index[first][truth.family[picture[first]] != UNKNOWN]
    without_family = {
        genera[index] for index in named.tolist() if families[index] == UNKNOWN
    }

    def spread(rows: Indices, values: NDArray[Any], empty: Any = 0) -> NDArray[Any]:
        """Give each picture the value of its prediction among some rows."""
        column = np.full(len(truth), empty, values.dtype)
        column[picture[rows]] = values[rows]
        return column

    def compare(taxa: Sequence[str], correct: Texts) -> Booleans:
        """Tell whether the taxon of each prediction is the correct one."""
        expected = correct[picture]
        predicted = np.array(taxa, object)[predictions.species_index]
        # The correct species is right even if the ground truth has two families of its
        # genus.
        return ((predicted == expected) | is_hit) & (expected != UNKNOWN)

    # Scores that are too large to be squared are no probabilities, which metrics check.
    with np.errstate(over="ignore"):
        squares = np.bincount(picture, predictions.score**2, len(truth))
    return JudgedRun(
        name=run.name,
        rank=spread(hits, predictions.rank),
        size=np.bincount(picture, minlength=len(truth)),
        label=labels,
        first=spread(first, names, -1),
        answer=spread(first, species_names, None),
        first_score=spread(first, predictions.score),
        probability=spread(hits, predictions.score),
        squares=squares.astype(np.float64),
        genus_correct=spread(first, compare(genera, truth.genus)),
        family_correct=spread(first, compare(families, truth.family)),
        is_known=truth.species != UNKNOWN_SPECIES,
        problem=run.find_score_problem(),
        genera_without_family=frozenset(without_family - {_UNKNOWN_GENUS}),
        author=author,
        official_plant=official_plant,
        plant=plant,
    )
