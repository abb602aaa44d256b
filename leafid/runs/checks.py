"""Finds what is wrong with a run whose lines could be parsed."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from leafid.runs.run import Run

#: Number of species of the 2011 task: the maximum number of lines for a picture where the species are not known.
SPECIES_2011 = 71

# Maximum number of names to search the nearest known name for: each takes a millisecond.
_MAX_SUGGESTIONS = 200
# Minimum similarity of a misspelt name: congeners such as Juglans nigra and Juglans regia are below it.
_MIN_SIMILARITY = 0.88
# Maximum number of unknown species that are reported one by one.
_MAX_UNKNOWN = 3

Problem = tuple[int, str]


@dataclass(frozen=True)
class KnownNames:
    """The names that a run may use."""

    pictures: frozenset[str]
    species: frozenset[str]
    #: Whether there can be no other species. Where only a test set is known, a well-formed name that it lacks may be
    #: another species of the training set, and is accepted unless it looks misspelt.
    complete: bool = True
    #: The species of each identifier that a run may use in place of the name.
    identifiers: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_stem(self) -> dict[str, str]:
        """The pictures by their names without extension."""
        return {PurePath(name).stem: name for name in sorted(self.pictures)}


def find_problems(run: Run, known: KnownNames | None = None, *, official: bool = False) -> list[Problem]:
    """Find everything that is wrong with a run: line and complaint, in no order.

    With `official`, only what the official scorer can't read: unknown pictures, and pictures without a rank 1.
    """
    if not len(run):
        return []
    problems = [*_check_pictures(run, known), *_check_ranks(run, only_first=official)]
    if not official:
        problems += _check_species(run, known)
        problems += _check_repeated_species(run)
        problems += _check_lengths(run, known)
    return problems


def _check_pictures(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    lines = _NameLines(run, run.picture_index, len(run.pictures))
    for index, name in enumerate(run.pictures):
        if known is None:
            if "." not in name:
                yield lines.report(
                    index, f"expected a picture's file name such as '1001.jpg', found {name!r} without extension"
                )
        elif name not in known.pictures:
            similar = known.by_stem.get(name) or known.by_stem.get(PurePath(name).stem)
            hint = f"; did you mean {similar!r}?" if similar else ""
            yield lines.report(index, f"expected a picture of the ground truth, found {name!r}{hint}")


def _check_species(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    if known is None:
        return
    names = sorted(known.species)
    normalised = {_normalise(name): name for name in names}
    suggestions = _MAX_SUGGESTIONS
    lines = _NameLines(run, run.species_index, len(run.species))
    unknown: list[int] = []
    # Of plain classes, as Species1 and Species12, any other may exist, too, and may resemble a known one.
    has_classes = not known.complete and not all(map(_is_binomial, names))
    higher = [index for index, name in enumerate(run.species) if name.endswith("*")]
    if higher:
        first = min(higher, key=lambda index: int(lines.first[index]))
        yield lines.report(
            first,
            f"expected a species, found {run.species[first]!r}; 'leafid evaluate-hierarchy' scores higher taxa",
        )
    for index, name in enumerate(run.species):
        if name in known.species or name.endswith("*"):
            continue
        same_name = sorted(species for species in known.identifiers.values() if species.rpartition(" ")[0] == name)
        if same_name:
            choices = ", ".join(same_name)
            yield lines.report(
                index, f"expected one species, found {name!r}, the name of several; write one of {choices}"
            )
            continue
        nearest = normalised.get(_normalise(name))
        if nearest is None and suggestions and not has_classes:
            suggestions -= 1
            nearest = next(iter(difflib.get_close_matches(name, names, n=1, cutoff=_MIN_SIMILARITY)), None)
        if nearest is not None:
            yield lines.report(
                index, f"expected a known species, found {name!r}; the nearest known name is {nearest!r}"
            )
        elif known.complete or not (has_classes or _is_binomial(name)):
            unknown.append(index)
    if len(unknown) <= _MAX_UNKNOWN:
        for index in unknown:
            yield lines.report(index, f"expected a known species, found {run.species[index]!r}")
        return
    # Most likely the run is of a model of other species: that is a single problem, whatever the number of names.
    unknown.sort(key=lambda index: int(lines.first[index]))
    examples = ", ".join(f"{run.species[index]!r} in line {lines.first[index]}" for index in unknown[:_MAX_UNKNOWN])
    yield (
        int(lines.first[unknown[0]]),
        f"expected species of the {len(names)} known ones, found {len(unknown)} others ({examples}, …); "
        "'leafid evaluate --official' counts them as wrong answers",
    )


def _normalise(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _is_binomial(name: str) -> bool:
    # The cross of a hybrid genus stands before its name.
    words = name.removeprefix("x ").split()
    return len(words) >= 2 and words[0][:1].isupper() and all(word[:1].islower() for word in words[1:])


class _NameLines:
    """The first line and the number of lines of each name in a run."""

    def __init__(self, run: Run, index: NDArray[np.int32], n_names: int) -> None:
        self.first = np.full(n_names, np.iinfo(np.int32).max, np.int32)
        np.minimum.at(self.first, index, run.line)
        self.counts = np.bincount(index, minlength=n_names)

    def report(self, name: int, complaint: str) -> Problem:
        """Report all lines of a name as one problem."""
        others = int(self.counts[name]) - 1
        more = f" (and in {others} more line{'s' if others > 1 else ''})" if others else ""
        return int(self.first[name]), f"{complaint}{more}"


def _check_ranks(run: Run, *, only_first: bool) -> Iterator[Problem]:
    """Ranks of a picture are 1, 2, 3, …, each once."""
    starts, counts = _group_by_picture(run)
    expected = np.arange(len(run), dtype=np.int32) - np.repeat(starts, counts) + 1
    wrong = run.rank != expected
    if only_first:
        wrong &= expected == 1
    for group in np.flatnonzero(np.logical_or.reduceat(wrong, starts)).tolist():
        rows = slice(int(starts[group]), int(starts[group] + counts[group]))
        ranks, lines = run.rank[rows].tolist(), run.line[rows].tolist()
        name = run.pictures[run.picture_index[rows.start]]
        if ranks[0] != 1:
            yield (
                min(lines),
                f"expected a line of rank 1 for picture {name!r}, found none; its first rank is {ranks[0]}",
            )
        if only_first:
            continue
        for rank, next_rank, line, next_line in zip(ranks, ranks[1:], lines, lines[1:], strict=False):
            if next_rank == rank:
                yield (
                    next_line,
                    f"expected rank {rank} of picture {name!r} once, found it in lines {line} and {next_line}",
                )
            elif next_rank != rank + 1:
                yield next_line, f"expected rank {rank + 1} of picture {name!r}, found {next_rank}; ranks have no gaps"


def _check_repeated_species(run: Run) -> Iterator[Problem]:
    order = np.lexsort((run.line, run.species_index, run.picture_index))
    picture, species, line = run.picture_index[order], run.species_index[order], run.line[order]
    repeated = np.flatnonzero((picture[1:] == picture[:-1]) & (species[1:] == species[:-1]))
    for row in repeated.tolist():
        name, kind = run.pictures[picture[row]], run.species[species[row]]
        both = f"lines {line[row]} and {line[row + 1]}"
        yield int(line[row + 1]), f"expected each species of picture {name!r} once, found {kind!r} in {both}"


def _check_lengths(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    # Unknown species are a problem of their own.
    limit = max(SPECIES_2011, len(run.species))
    if known is not None and known.complete:
        limit = len(known.species.union(run.species))
    starts, counts = _group_by_picture(run)
    for group in np.flatnonzero(counts > limit).tolist():
        lines = sorted(run.line[starts[group] : starts[group] + counts[group]].tolist())
        name = run.pictures[run.picture_index[starts[group]]]
        yield lines[limit], f"expected at most {limit} lines for picture {name!r}, found {len(lines)}"


def _group_by_picture(run: Run) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the first row and the number of rows of each picture."""
    starts = np.flatnonzero(np.diff(run.picture_index, prepend=-1))
    return starts, np.diff(starts, append=len(run))
