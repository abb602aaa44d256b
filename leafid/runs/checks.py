"""What can be wrong with a run whose lines could be read."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from leafid.runs.run import Run

#: The species of the 2011 task: no picture has more lines where the species are not known.
SPECIES_2011 = 71

# Looking for the nearest of many names costs a millisecond; a file of nonsense has a thousand wrong ones.
_SUGGESTIONS = 200
# Congeners such as Juglans nigra and Juglans regia stay below it, a slip of the pen above.
_MISSPELT = 0.88
# Unknown species that are named one by one; of more, these are the examples.
_FEW = 3

Problem = tuple[int, str]


@dataclass(frozen=True)
class KnownNames:
    """The names that a run may use.

    Attributes
    ----------
    pictures : frozenset of str
    species : frozenset of str
    complete : bool
        Whether there can be no other species. Where only a test set is known, a well-formed name that it lacks
        may be another species of the training set, and is taken as such unless it looks misspelt.
    """

    pictures: frozenset[str]
    species: frozenset[str]
    complete: bool = True
    stems: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stems", {PurePath(name).stem: name for name in sorted(self.pictures)})


def find_problems(run: Run, known: KnownNames | None = None, *, official: bool = False) -> list[Problem]:
    """Find everything that is wrong with a run.

    Parameters
    ----------
    run : Run
    known : Known, optional
    official : bool, default False
        Only what the official scorer can't take: unknown pictures, and pictures without a rank 1.

    Returns
    -------
    list of (int, str)
        Line and complaint, in no order.
    """
    if not len(run):
        return []
    problems = list(_picture_names(run, known))
    problems += _ranks(run, only_first=official)
    if not official:
        problems += _species_names(run, known)
        problems += _repeated_species(run)
        problems += _too_many(run, known)
    return problems


def _picture_names(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    places = _Places(run, run.picture_index, len(run.pictures))
    for index, name in enumerate(run.pictures):
        if known is None:
            complaint = (
                f"expected a picture's file name such as '1001.jpg', found {name!r} without extension"
                if "." not in name
                else ""
            )
        elif name in known.pictures:
            continue
        else:
            similar = known.stems.get(name) or known.stems.get(PurePath(name).stem)
            complaint = f"expected a picture of the ground truth, found {name!r}"
            complaint += f"; did you mean {similar!r}?" if similar else ""
        if complaint:
            yield places.problem(index, complaint)


def _species_names(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    if known is None:
        return
    names = sorted(known.species)
    folded = {_folded(name): name for name in names}
    suggestions = _SUGGESTIONS
    places = _Places(run, run.species_index, len(run.species))
    strangers: list[int] = []
    for index, name in enumerate(run.species):
        if name in known.species:
            continue
        nearest = folded.get(_folded(name))
        if nearest is None and suggestions:
            suggestions -= 1
            nearest = next(iter(difflib.get_close_matches(name, names, n=1, cutoff=_MISSPELT)), None)
        if nearest is not None:
            yield places.problem(
                index, f"expected a known species, found {name!r}; the nearest known name is {nearest!r}"
            )
        elif known.complete or not _is_binomial(name):
            strangers.append(index)
    if len(strangers) <= _FEW:
        for index in strangers:
            yield places.problem(index, f"expected a known species, found {run.species[index]!r}")
        return
    # Most likely the run is of a model of other species: that is one thing to say, and not one a name.
    strangers.sort(key=lambda index: int(places.first[index]))
    shown = ", ".join(f"{run.species[index]!r} in line {places.first[index]}" for index in strangers[:_FEW])
    yield (
        int(places.first[strangers[0]]),
        f"expected species of the {len(names)} known ones, found {len(strangers)} others ({shown}, …); "
        "'leafid evaluate --official' counts them as wrong answers",
    )


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _is_binomial(name: str) -> bool:
    # The cross of a hybrid genus stands before its name.
    words = name.removeprefix("x ").split()
    return len(words) >= 2 and words[0][:1].isupper() and all(word[:1].islower() for word in words[1:])


class _Places:
    """Where each name of a run is: its first line, and in how many."""

    def __init__(self, run: Run, index: NDArray[np.int32], names: int) -> None:
        self.first = np.full(names, np.iinfo(np.int32).max, np.int32)
        np.minimum.at(self.first, index, run.line)
        self.counts = np.bincount(index, minlength=names)

    def problem(self, name: int, complaint: str) -> Problem:
        """Make one problem of all lines of a name."""
        others = int(self.counts[name]) - 1
        more = f" (and in {others} more line{'s' if others > 1 else ''})" if others else ""
        return int(self.first[name]), f"{complaint}{more}"


def _ranks(run: Run, *, only_first: bool) -> Iterator[Problem]:
    """Ranks of a picture are 1, 2, 3, …, each once."""
    starts, counts = _groups(run)
    wanted = np.arange(len(run), dtype=np.int32) - np.repeat(starts, counts) + 1
    wrong = run.rank != wanted
    if only_first:
        wrong &= wanted == 1
    for group in np.flatnonzero(np.logical_or.reduceat(wrong, starts)).tolist():
        part = slice(int(starts[group]), int(starts[group] + counts[group]))
        ranks, lines = run.rank[part].tolist(), run.line[part].tolist()
        name = run.pictures[run.picture_index[part.start]]
        if ranks[0] != 1:
            yield (
                min(lines),
                f"expected a line of rank 1 for picture {name!r}, found none; its first rank is {ranks[0]}",
            )
        if only_first:
            continue
        for before, after, line, next_line in zip(ranks, ranks[1:], lines, lines[1:], strict=False):
            if after == before:
                yield (
                    next_line,
                    f"expected rank {after} of picture {name!r} once, found it in lines {line} and {next_line}",
                )
            elif after != before + 1:
                yield next_line, f"expected rank {before + 1} of picture {name!r}, found {after}; ranks have no gaps"


def _repeated_species(run: Run) -> Iterator[Problem]:
    order = np.lexsort((run.line, run.species_index, run.picture_index))
    picture, species, line = run.picture_index[order], run.species_index[order], run.line[order]
    again = np.flatnonzero((picture[1:] == picture[:-1]) & (species[1:] == species[:-1]))
    for here in again.tolist():
        name, kind = run.pictures[picture[here]], run.species[species[here]]
        both = f"lines {line[here]} and {line[here + 1]}"
        yield int(line[here + 1]), f"expected each species of picture {name!r} once, found {kind!r} in {both}"


def _too_many(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    # Species that should not be there have a problem of their own.
    limit = max(SPECIES_2011, len(run.species))
    if known is not None and known.complete:
        limit = len(known.species.union(run.species))
    starts, counts = _groups(run)
    for group in np.flatnonzero(counts > limit).tolist():
        lines: Sequence[int] = sorted(run.line[starts[group] : starts[group] + counts[group]].tolist())
        name = run.pictures[run.picture_index[starts[group]]]
        yield lines[limit], f"expected at most {limit} lines for picture {name!r}, found {len(lines)}"


def _groups(run: Run) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each picture's predictions start, and how many they are."""
    starts = np.flatnonzero(np.diff(run.picture_index, prepend=-1))
    return starts, np.diff(starts, append=len(run))
