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
import reprlib
from collections.abc import Iterable, Iterator, Set
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from leafid.files import StrPath
from leafid.grouping import count_noun
from leafid.parallel.progress import show_progress
from leafid.pictures.names import UNKNOWN_SPECIES
from leafid.scoring.reading.run_formats import LINE, split_run
from leafid.scoring.reading.runs import (
    KnownNames,
    Run,
    Words,
    clean_picture_names,
    make_run,
)
from leafid.textfiles import LineProblems

logger = logging.getLogger(__name__)

Problem = tuple[int, str]
_shortener = reprlib.Repr()
_shortener.maxstring = 60
#: The size of a file above which progress is shown: reading it takes a second.
LARGE_BYTES = 1 << 23
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
        rows = split_run(file, problems)
        if file.is_file() and file.stat().st_size > LARGE_BYTES:
            rows = show_progress(rows, None, f"reading {file.name}")
        run = make_checked_run(file.name, rows, problems, known, official=official)
        if not len(run) and not problems:
            problems.add(1, f"expected lines {LINE}, found no prediction")
    return run


def make_checked_run(
    name: str,
    rows: Iterable[Words],
    problems: LineProblems,
    known: KnownNames | None = None,
    *,
    official: bool = False,
) -> Run:
    """Make a run of rows as `make_run` does, and find everything that is wrong with it.

    With `official`, only unknown pictures, pictures without a rank 1, and a run that
    names no known species are wrong; see `read_run`.
    """
    run = make_run(name, rows, problems, known)
    if official:
        # Rows are sorted by picture, rank and line: the last of equal (picture, rank)
        # stays.
        is_repeated = np.diff(run.picture_index, append=-1) == 0
        is_repeated &= np.diff(run.rank, append=-1) == 0
        if n_repeated := is_repeated.sum():
            logger.warning(
                "%s: ignored %s whose rank a later line of the picture has",
                name,
                count_noun(n_repeated, "line"),
            )
        run = run.select(~is_repeated)
    if len(run):
        incomplete = {*clean_picture_names(problems.subjects, known)}
        for line, problem in _find_problems(run, known, official, incomplete):
            problems.add(line, problem)
    return run


def _find_problems(
    run: Run, known: KnownNames | None, official: bool, incomplete: Set[str]
) -> Iterator[Problem]:
    """Find what predictions contradict; `incomplete` pictures lack some of theirs."""
    yield from _check_pictures(run, known)
    if known is not None:
        yield from _check_species(run, known)
    yield from _check_ranks(run, incomplete, only_first=official)
    if not official:
        yield from _check_repeated_species(run)
        yield from filter(None, [run.find_rising_score()])


def _check_pictures(run: Run, known: KnownNames | None) -> Iterator[Problem]:
    rows = np.unique(run.picture_index, return_index=True)[1]
    for line, name in zip(run.line[rows].tolist(), run.pictures, strict=True):
        if known is None and "." not in name:
            yield (
                line,
                f"expected a picture's file name such as '1001.jpg', found {name!r} "
                "without extension",
            )
        elif known is not None and name not in known.pictures:
            yield line, f"expected a picture of the ground truth, found {name!r}"


def _check_species(run: Run, known: KnownNames) -> Iterator[Problem]:
    """Check that some species are known, and warn of the others."""
    unknown = sorted({*run.species} - known.species - {UNKNOWN_SPECIES})
    if not unknown or not known.species:
        return
    nearest = {
        name: species
        for name in unknown[:MAX_COMPARED]
        for species in get_close_matches(name, known.species, 1, MIN_RESEMBLANCE)
    }
    names = _shortener.repr(unknown)
    if nearest:
        names += f" (the nearest known names are {_shortener.repr(nearest)})"
    if not known.species.isdisjoint(run.species):
        logger.warning(
            "%s: %d of %d names are of no known species, and count as wrong answers: "
            "%s",
            run.name,
            len(unknown),
            len(run.species),
            names,
        )
    else:
        expected = _shortener.repr(sorted(known.species))
        yield (
            int(run.line.min()),
            f"expected some of the {len(known.species)} known species {expected}, "
            f"found others only: {names}",
        )


def _check_ranks(
    run: Run, incomplete: Set[str], *, only_first: bool
) -> Iterator[Problem]:
    """Check that the ranks of a picture are 1, 2, 3, …, each once.

    Pictures whose lines have other problems are left out: they lack ranks.
    """
    is_first = np.diff(run.picture_index, prepend=-1) > 0
    previous = np.where(is_first, 0, np.roll(run.rank, 1))
    is_wrong = run.rank != previous + 1
    if only_first:
        is_wrong &= is_first
    is_complete = np.array([name not in incomplete for name in run.pictures])
    is_wrong &= is_complete[run.picture_index]
    for row in np.flatnonzero(is_wrong).tolist():
        rank = run.rank[row]
        line = int(run.line[row])
        name = run.pictures[run.picture_index[row]]
        problem = f"found {rank}; ranks begin at 1 and have no gaps"
        expected = previous[row] + 1
        if rank == previous[row]:
            problem = f"found rank {rank} in lines {run.line[row - 1]} and {line}"
        yield line, f"expected rank {expected} of picture {name!r}, {problem}"


def _check_repeated_species(run: Run) -> Iterator[Problem]:
    answer = run.picture_index.astype(np.int64) * len(run.species) + run.species_index
    order = np.lexsort((run.line, answer))
    for index in np.flatnonzero(np.diff(answer[order]) == 0).tolist():
        first, second = order[index : index + 2]
        line = int(run.line[second])
        name = run.pictures[run.picture_index[second]]
        kind = run.species[run.species_index[second]]
        problem = f"found {kind!r} in lines {run.line[first]} and {line}"
        yield line, f"expected each species of picture {name!r} once, {problem}"
