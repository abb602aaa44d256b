"""A run in memory, its names, and its writer.

`leafid.scoring.reading.run_reading` reads runs.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError, ProblemsError
from leafid.grouping import count_noun, group_by
from leafid.metrics.averages import Booleans, Floats
from leafid.pictures.name_index import NameIndex
from leafid.pictures.names import drop_authors, normalise_name, separate_words
from leafid.pictures.picture import Picture, to_run_name
from leafid.textfiles import LineProblems, parse_finite_number, parse_whole_number

#: Number of the line, picture, species, rank (None where it follows from the scores)
#: and score, as they stand in a file.
Words = tuple[int, str, str, str | None, str]
Record = TypeVar("Record")
_Integers = NDArray[np.int32]


def select_rows(record: Record, rows: NDArray[Any]) -> Record:
    """Select rows of all columns of a dataclass, by a mask or by indices."""
    columns = {}
    for name in record.__dataclass_fields__:  # type: ignore[attr-defined]
        column = getattr(record, name)
        if isinstance(column, np.ndarray):
            columns[name] = column[rows]
    return replace(record, **columns)  # type: ignore[type-var]


class Prediction(NamedTuple):
    """One line of a run: `rank` from 1 up, a higher `score` is more confident."""

    picture: str
    species: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Run:
    """All predictions of a run, in columns of one length, by picture, rank and line.

    Columns instead of objects: a run of a million lines takes some 20 MB.
    """

    #: The name of the file.
    name: str
    #: `pictures`, `species`: the distinct names, sorted.
    pictures: tuple[str, ...]
    species: tuple[str, ...]
    #: `picture_index`, `species_index`: int32 (N,), each prediction's picture and
    #: species, as indices into `pictures` and `species`.
    picture_index: _Integers
    species_index: _Integers
    #: int32 (N,): 1 for the best.
    rank: _Integers
    #: float64 (N,): finite; higher is more confident.
    score: Floats
    #: int32 (N,): the 1-based line in the file.
    line: _Integers

    def __len__(self) -> int:
        return len(self.rank)

    def __repr__(self) -> str:
        n_predictions = count_noun(len(self), "prediction")
        return f"<Run {self.name}: {n_predictions}, pictures: {len(self.pictures)}>"

    def select(self, mask: Booleans) -> Run:
        """Select some of the predictions; names without any stay."""
        return select_rows(self, mask)

    def find_score_problem(self) -> str | None:
        """Find a score that isn't 0 to 1, or contradicts its rank."""
        problem = self.find_rising_score()
        rows = np.flatnonzero((self.score < 0) | (self.score > 1))
        if len(rows):
            problem = (
                self.line[rows[0]],
                "expected a probability from 0 to 1 as score, found "
                f"{self.score[rows[0]]:g}",
            )
        return problem and f"{self.name}:{problem[0]}: {problem[1]}"

    def find_rising_score(self) -> tuple[int, str] | None:
        """Find the first line whose score contradicts its rank, and the problem.

        A higher score is more confident.
        """
        is_same = self.picture_index[1:] == self.picture_index[:-1]
        rows = np.flatnonzero(is_same & (self.score[1:] > self.score[:-1])) + 1
        if not len(rows):
            return None
        row = rows[self.line[rows].argmin()]
        return int(self.line[row]), (
            f"expected a score that falls with the rank, found {self.score[row]} after "
            f"{self.score[row - 1]} for picture "
            f"{self.pictures[self.picture_index[row]]!r}; write scores that are higher "
            "for better ranks"
        )

    def __iter__(self) -> Iterator[Prediction]:
        """Iterate over the predictions, picture by picture, rank by rank."""
        pictures = (self.pictures[index] for index in self.picture_index.tolist())
        species = (self.species[index] for index in self.species_index.tolist())
        numbers = (self.rank.tolist(), self.score.tolist())
        return map(Prediction, pictures, species, *numbers)

    def split(self) -> Iterator[Words]:
        """Split the predictions into the words that `make_run` takes."""
        for line, (picture, species, rank, score) in zip(self.line, self, strict=True):
            yield int(line), picture, species, str(rank), repr(score)


def make_run(
    name: str,
    rows: Iterable[Words],
    problems: LineProblems,
    known: KnownNames | None = None,
) -> Run:
    """Make a run of predictions in any order.

    Parameters
    ----------
    name : str
    rows : iterable of Words
        Where no rank is given, ranks follow from the scores: equal ones are in the
        order of the names.
    problems : LineProblems
        Gets what is wrong with rows, which are left out.
    known : KnownNames, optional
        The names that are taken where the rows have others for them.

    Returns
    -------
    Run
    """
    pictures: dict[str, int] = {}
    species: dict[str, int] = {}
    # A list of objects would take several times as much memory.
    whole_numbers = array("i")
    scores_of_rows = array("d")
    # Few ranks differ.
    parse_rank = lru_cache(1 << 10)(parse_whole_number)
    for row in rows:
        number, picture, kind, rank, word = row
        place = parse_rank(rank or "0")
        score = parse_finite_number(word)
        is_new = picture not in pictures or kind not in species
        is_wrong = score is None or not (place or rank is None)
        if (is_new or is_wrong) and (problem := _find_problem(row)):
            problems.add(number, problem, picture)
            continue
        assert score is not None
        picture_number = pictures.setdefault(picture, len(pictures))
        kind_number = species.setdefault(kind, len(species))
        whole_numbers.extend((picture_number, kind_number, place or 0, number))
        scores_of_rows.append(score)
    table = np.array(whole_numbers, np.int32).reshape(-1, 4)
    scores = np.array(scores_of_rows, np.float64)
    picture_names = clean_picture_names(pictures, known)
    species_names = [normalise_name(name) for name in species]
    if known is not None:
        species_of = known.match_species(species_names)
        species_names = [species_of.get(kind, kind) for kind in species_names]
    distinct_pictures, picture_index = _sort_names(picture_names, table[:, 0])
    distinct_species, species_index = _sort_names(species_names, table[:, 1])
    ranks, lines = table.T[2:]
    if not ranks.any():
        order = np.lexsort((species_index, -scores, picture_index))
        ordered = picture_index[order]
        ranks[order] = 1 + np.arange(len(order)) - np.searchsorted(ordered, ordered)
    order = np.lexsort((lines, ranks, picture_index))
    return Run(
        name=name,
        pictures=distinct_pictures,
        species=distinct_species,
        picture_index=picture_index[order],
        species_index=species_index[order],
        rank=ranks[order],
        score=scores[order],
        line=lines[order],
    )


def clean_picture_names(names: Iterable[str], known: KnownNames | None) -> list[str]:
    """Write names of pictures as run files do, or find the known pictures they mean."""
    cleaned = [*map(to_run_name, names)]
    if known is None:
        return cleaned
    # A table may have paths of pictures.
    return [*map(known.find_picture, cleaned)]


def _find_problem(row: Words) -> str | None:
    """Find what is wrong with a row by itself."""
    _, picture, species, rank, score = row
    # Bytes that are no UTF-8 are lone surrogates, which aren't printable.
    if not picture.isprintable() or not species.isprintable():
        line = " ".join(filter(None, row[1:]))
        return f"expected UTF-8 text without invisible characters, found {line!r}"
    if not picture or not species:
        return "expected a picture and a species, found an empty cell"
    if rank is not None and not parse_whole_number(rank):
        return f"expected a rank (1, 2, …) before the score, found {rank!r}"
    if parse_finite_number(score) is None:
        return f"expected a score as a finite number, found {score!r}"
    return None


def _sort_names(
    names: Sequence[str], codes: _Integers
) -> tuple[tuple[str, ...], _Integers]:
    """Sort names, and change their indices; two names of one thing become one."""
    distinct, index = np.unique(np.array(names, np.str_), return_inverse=True)
    return tuple(distinct.tolist()), index.astype(np.int32)[codes]


@dataclass(frozen=True)
class KnownNames:
    """The names that a run may use."""

    pictures: frozenset[str]
    species: frozenset[str]
    #: Pairs of another name that the collection has for a species, such as an
    #: identifier or one with authors, and the species.
    names: frozenset[tuple[str, str]] = frozenset()
    #: The family of each known genus, by the pictures or else by a list of common
    #: genera.
    family_of: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def picture_index(self) -> NameIndex[str]:
        """The pictures by their names, and by their unique names without endings."""
        return NameIndex((name, [name]) for name in self.pictures)

    def find_picture(self, name: str) -> str:
        """Find the picture that a name, or path, means, or return the name itself."""
        picture = self.picture_index.find(name)
        if name in self.pictures or picture is None:
            return name
        return picture

    def match_species(self, names: Iterable[str]) -> dict[str, str]:
        """Find the species that names mean, without names that mean none, or several.

        A name means the species that the collection calls so; else with blanks for
        underscores, or without authors on either side, where no other of the names, and
        no other name of the collection, is then the same.
        """
        # A label that lost its authors is none of the names that the collection uses.
        shortened = {
            species
            for name, species in self.names
            if name != species and drop_authors(name) == species
        }
        pairs = self.names | {(name, name) for name in self.species - shortened}
        matched = {}
        for reduce in (drop_authors, separate_words, str):
            species_of: defaultdict[str, set[str]] = defaultdict(set)
            for name, species in pairs:
                species_of[reduce(name)].add(species)
            for reduced, group in group_by({*names}, reduce).items():
                if len(group) == len(species_of[reduced]) == 1:
                    matched[group[0]] = species_of[reduced].pop()
        return matched


def format_run_line(picture: str, species: str, rank: int, score: float) -> str:
    """Format a prediction as a line of a run file; reading it gives the same score.

    A name that the format can't hold, or a score that isn't finite, raises a
    `LeafidError`.
    """
    if problem := find_name_problem(picture):
        raise LeafidError(f"picture {picture!r}: {problem}; rename the file")
    line = f"{picture} {species} {int(rank)} {float(score)!r}"
    is_plain = line.isprintable() and " ".join(line.split()) == line and species
    if not is_plain or not math.isfinite(score):
        raise LeafidError(
            f"picture {picture!r}: expected a species name with single blanks and a "
            f"finite score, found {species!r} and {score}"
        )
    return f"{line}\n"


def find_name_problem(picture: str) -> str | None:
    """Return the reason why a run file can't hold a picture's name, or None.

    `read_run` accepts all other names.
    """
    # Bytes that are no UTF-8 are lone surrogates, which aren't printable.
    if (
        picture.split() != [picture]
        or not picture.isprintable()
        or picture.startswith("<")
    ):
        return (
            "a run file holds names in UTF-8 without blanks, invisible characters or "
            "'<' at the beginning"
        )
    if "." not in picture:
        return "expected a picture name with an extension such as '.jpg'"
    return None


def check_picture_names(pictures: Sequence[Picture]) -> None:
    """Raise a `ProblemsError` for names that a run file can't hold, and equal ones."""
    problems = []
    for name, group in group_by(pictures, lambda picture: picture.name).items():
        files = ", ".join(str(picture.file) for picture in group)
        if reason := find_name_problem(name):
            problems.append(f"{files}: {reason}; rename the file")
        elif len(group) > 1:
            problems.append(
                f"{name}: several pictures have this name ({files}); rename them"
            )
    if problems:
        raise ProblemsError(problems)
