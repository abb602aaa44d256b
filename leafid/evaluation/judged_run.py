"""Lays a run beside the ground truth: for each picture, where the right species stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leafid.collection.names import parse_genus
from leafid.runs.ground_truth import UNKNOWN, GroundTruth
from leafid.runs.run import Run


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What a run says of each picture of the ground truth, in its order.

    Attributes
    ----------
    name : str
        The run's.
    rank : int32 (n,)
        The rank of the right species, from 1; 0 where the run doesn't name it.
    size : int64 (n,)
        How many species the run names.
    covered : bool (n,)
        Whether the run says anything of the picture.
    first_genus, first_family : bool (n,)
        Whether the species of rank 1 is of the right genus, family.
    repeated : int
        As the run's.
    """

    name: str
    rank: NDArray[np.int32]
    size: NDArray[np.int64]
    covered: NDArray[np.bool_]
    first_genus: NDArray[np.bool_]
    first_family: NDArray[np.bool_]
    repeated: int = 0

    @property
    def missing(self) -> int:
        """How many pictures the run says nothing of."""
        return int((~self.covered).sum())


def judge_run(run: Run, truth: GroundTruth) -> JudgedRun:
    """Lay a run beside the ground truth.

    Parameters
    ----------
    run : Run
        Predictions of pictures that the ground truth lacks are ignored.
    truth : Truth

    Returns
    -------
    JudgedRun

    Notes
    -----
    The genus of a predicted species is what its name begins with, its family is that of the genus in the ground
    truth: a predicted species need not have a picture there.
    """
    place = {name: index for index, name in enumerate(truth.pictures)}
    picture = np.array([place.get(name, -1) for name in run.pictures], np.intp)[run.picture_index]
    names, right = truth.column("species")
    code = {name: index for index, name in enumerate(names)}
    species = np.array([code.get(name, -1) for name in run.species], np.intp)[run.species_index]
    inside = picture >= 0
    hit = np.flatnonzero(inside & (species == right[np.where(inside, picture, 0)]))
    rank = np.zeros(len(truth), np.int32)
    # Ranks rise within a picture: going backwards, the best of a repeated species is written last.
    rank[picture[hit][::-1]] = run.rank[hit][::-1]
    size = np.bincount(picture[inside], minlength=len(truth))
    first = np.flatnonzero(inside & (run.rank == 1))
    genus = [parse_genus(name) for name in run.species]
    family = [truth.family_of.get(name, UNKNOWN) for name in genus]
    return JudgedRun(
        run.name,
        rank,
        size,
        size > 0,
        _agreeing(genus, truth.genus, run.species_index[first], picture[first]),
        _agreeing(family, truth.family, run.species_index[first], picture[first]),
        run.repeated,
    )


def _agreeing(
    said: list[str], right: tuple[str, ...], species: NDArray[np.int32], picture: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Compare what each first species belongs to with what its picture belongs to; unknown is never right."""
    codes = {name: code for code, name in enumerate(sorted({*right} - {UNKNOWN}))}
    said_codes = np.array([codes.get(name, -1) for name in said], np.intp)
    right_codes = np.array([codes.get(name, -2) for name in right], np.intp)
    agree = np.zeros(len(right), bool)
    agree[picture] = said_codes[species] == right_codes[picture]
    return agree
