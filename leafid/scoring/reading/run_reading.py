"""Reads a run: lines ``2107.jpg Platanus x hispanica 1 1.0``, or another format.

The species name is everything between the first word and the last two. Lines come in
any order. What is wrong is listed with its line: lines that can't be parsed, and what
their predictions contradict. Formats are detected by
`leafid.scoring.reading.run_formats`.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF
   2011; package README, section 3.
"""

import logging
import re
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path, PurePath

import numpy as np

from leafid.errors import UsageError
from leafid.files import StrPath
from leafid.pictures.names import UNKNOWN_SPECIES
from leafid.scoring.reading.run_formats import LINE, split_run
from leafid.scoring.reading.runs import KnownNames, Run, make_run
from leafid.textfiles import LineProblems

logger = logging.getLogger(__name__)

Problem = tuple[int, str]
_shortener = reprlib.Repr()
_shortener.maxstring = 60
#: From this ratio of `difflib`, a name of no known species may be a known one with an
#: error.
MIN_RESEMBLANCE = 0.75
#: Maximum number of names that are compared with all known ones: among a thousand, that
#: takes three seconds.
MAX_COMPARED = 300


def read_run(
    path: StrPath,
    known: KnownNames | None = None,
    *,
    official: bool = False,
) -> Run:
    """Read a run file of any format, refusing it when anything is wrong with it.

    `known` has the pictures and species that the run may name; without it only the file
    itself is checked. With `official` it is read as the official scorer does: of
    several lines of one picture and rank the last one counts, species may be repeated,
    ranks may have gaps, scores don't count. Species that aren't known count as wrong
    answers, with a warning. A `ProblemsError` has the first problems as ``run.txt:17:
    expected …, found …``, and the number of the others; one is that no species is
    known.
    """
    file = Path(path)
    with LineProblems(file) as problems:
        run = make_run(file.name, split_run(file, problems), problems, known)
        if not len(run) and not problems:
            problems.add(1, f"expected lines {LINE}, found an empty file")
        if official:
            run = _keep_last_of_each_rank(run)
        for line, complaint in find_problems(run, known, official=official):
            problems.add(line, complaint)
    return run


def read_run_files(
    files: Sequence[StrPath],
    known: KnownNames | None = None,
    **options: bool,
) -> Iterator[Run]:
    """Read runs as `read_run` does.

    Where names of files without their endings are equal, runs are called by paths.

    A file that is named twice raises a `UsageError`.
    """
    names = [PurePath(file).name for file in files]
    if len({PurePath(name).stem for name in names}) < len(files):
        names = [re.sub(r"\W+", "-", str(file)).strip("-") for file in files]
    if len({*names}) < len(files):
        paths = ", ".join(map(str, files))
        raise UsageError(
            f"expected run files that differ, found {paths}; name each once"
        )
    for file, name in zip(files, names, strict=True):
        yield replace(read_run(file, known, **options), name=name)


def _keep_last_of_each_rank(run: Run) -> Run:
    # Rows are sorted by picture, rank and line: the last of equal (picture, rank)
    # stays.
    is_same = (np.diff(run.picture_index) == 0) & (np.diff(run.rank) == 0)
    if not is_same.any():
        return run
    return replace(run.select(np.append(~is_same, True)), repeated=int(is_same.sum()))


def find_problems(
    run: Run, known: KnownNames | None = None, *, official: bool = False
) -> Iterator[Problem]:
    """Find everything that is wrong with a run: line and complaint, in no order.

    With `official`, only unknown pictures, pictures without a rank 1, and a run that
    names no known species.
    """
    if not len(run):
        return
    yield from _check_pictures(run, known)
    if known is not None:
        yield from _check_species(run, known)
    yield from _check_ranks(run, only_first=official)
    if not official:
        yield from _check_repeated_species(run)
        yield from filter(None, [run.find_rising_score()])


def _check_pictures(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    lines = np.full(len(run.pictures), np.iinfo(np.int32).max, np.int32)
    np.minimum.at(lines, run.picture_index, run.line)
    for line, name in zip(lines.tolist(), run.pictures, strict=True):
        if known is None and "." not in name:
            yield (
                line,
                f"expected a picture's file name such as '1001.jpg', found {name!r} "
                "without extension",
            )
        elif known is not None and name not in known.pictures:
            expected = "expected a picture of the ground truth"
            yield line, f"{expected}, found {name!r}"


def _check_species(run: Run, known: KnownNames) -> Iterator[Problem]:
    """Check that some species are known, and warn of the others."""
    foreign = sorted({*run.species} - known.species - {UNKNOWN_SPECIES})
    if not foreign or not known.species:
        return
    nearest = {
        name: species
        for name in foreign[:MAX_COMPARED]
        for species in get_close_matches(name, known.species, 1, MIN_RESEMBLANCE)
    }
    names = _shortener.repr(foreign)
    if nearest:
        names += f" (the nearest known names are {_shortener.repr(nearest)})"
    if not known.species.isdisjoint(run.species):
        message = (
            "%s: %d of %d names are of no known species, and count as wrong answers: %s"
        )
        logger.warning(message, run.name, len(foreign), len(run.species), names)
    else:
        expected = _shortener.repr(sorted(known.species))
        yield (
            int(run.line.min()),
            f"expected some of the {len(known.species)} known species {expected}, "
            f"found others only: {names}",
        )


def _check_ranks(run: Run, *, only_first: bool) -> Iterator[Problem]:
    """Check that the ranks of a picture are 1, 2, 3, …, each once."""
    starts = np.flatnonzero(np.diff(run.picture_index, prepend=-1))
    first_lines = np.minimum.reduceat(run.line, starts)
    for group in np.flatnonzero(run.rank[starts] != 1).tolist():
        row = starts[group]
        name = run.pictures[run.picture_index[row]]
        yield (
            int(first_lines[group]),
            f"expected a line of rank 1 for picture {name!r}, found none; its first "
            f"rank is {run.rank[row]}",
        )
    if only_first:
        return
    for row in np.flatnonzero(
        (np.diff(run.rank) != 1) & (np.diff(run.picture_index) == 0)
    ).tolist():
        rank, next_rank = run.rank[row : row + 2]
        line = int(run.line[row + 1])
        name = run.pictures[run.picture_index[row]]
        if next_rank == rank:
            yield (
                line,
                f"expected rank {rank} of picture {name!r} once, found it in lines "
                f"{run.line[row]} and {line}",
            )
        else:
            yield (
                line,
                f"expected rank {rank + 1} of picture {name!r}, found {next_rank}; "
                "ranks have no gaps",
            )


def _check_repeated_species(run: Run) -> Iterator[Problem]:
    order = np.lexsort((run.line, run.species_index, run.picture_index))
    picture = run.picture_index[order]
    species = run.species_index[order]
    line = run.line[order]
    repeated = np.flatnonzero(
        (picture[1:] == picture[:-1]) & (species[1:] == species[:-1])
    )
    for row in repeated.tolist():
        name = run.pictures[picture[row]]
        kind = run.species[species[row]]
        both = f"lines {line[row]} and {line[row + 1]}"
        yield (
            int(line[row + 1]),
            f"expected each species of picture {name!r} once, found {kind!r} in {both}",
        )
