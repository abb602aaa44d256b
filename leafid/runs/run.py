"""What a run says: for each picture a ranking of species, held in columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Prediction(NamedTuple):
    """One line of a run: `rank` from 1 up, a higher `score` is surer."""

    picture: str
    species: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Run:
    """All predictions of a run file, in columns of one length, sorted by picture, rank and line.

    Columns and not objects: a run of a million lines takes some 20 MB.

    Attributes
    ----------
    name : str
        The run's file name.
    pictures, species : tuple of str
        The distinct names, sorted.
    picture_index, species_index : int32 (N,)
        What each prediction is about, as indices into `pictures` and `species`.
    rank : int32 (N,)
    score : float64 (N,)
        Finite; higher is surer.
    line : int32 (N,)
        The 1-based line in the file.
    repeated : int
        How many lines were left out because a later one has the same picture and rank; see `read_run`.
    """

    name: str
    pictures: tuple[str, ...]
    species: tuple[str, ...]
    picture_index: NDArray[np.int32]
    species_index: NDArray[np.int32]
    rank: NDArray[np.int32]
    score: NDArray[np.float64]
    line: NDArray[np.int32]
    repeated: int = 0

    def __len__(self) -> int:
        """Count the predictions."""
        return len(self.rank)

    def __iter__(self) -> Iterator[Prediction]:
        """Pass over the predictions as records, picture by picture, rank by rank."""
        columns = zip(
            self.picture_index.tolist(),
            self.species_index.tolist(),
            self.rank.tolist(),
            self.score.tolist(),
            strict=True,
        )
        for picture, species, rank, score in columns:
            yield Prediction(self.pictures[picture], self.species[species], rank, score)


def make_run(
    name: str,
    pictures: dict[str, int],
    species: dict[str, int],
    columns: tuple[NDArray, NDArray, NDArray, NDArray, NDArray],
) -> Run:
    """Bring columns into the canonical order, which doesn't depend on the order of the lines.

    Parameters
    ----------
    name : str
    pictures, species : dict of str to int
        The code that the columns use for each name: 0, 1, …
    columns : tuple of five arrays (N,)
        Picture codes, species codes, ranks, scores, lines.

    Returns
    -------
    Run
    """
    picture_names, picture_of = _sorted_names(pictures)
    species_names, species_of = _sorted_names(species)
    picture, kind = picture_of[columns[0]], species_of[columns[1]]
    order = np.lexsort((columns[4], columns[2], picture))
    return Run(
        name,
        picture_names,
        species_names,
        picture[order],
        kind[order],
        columns[2][order].astype(np.int32),
        columns[3][order].astype(np.float64),
        columns[4][order].astype(np.int32),
    )


def _sorted_names(codes: dict[str, int]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    names = tuple(sorted(codes))
    place = np.empty(len(names), np.int32)
    for index, name in enumerate(names):
        place[codes[name]] = index
    return names, place
