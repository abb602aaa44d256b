"""Parses the lines of a 2011 run file: good ones many at a time, others one by one to say what is wrong."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from leafid.runs.run import Prediction, Run, make_run
from leafid.textfiles import parse_finite_number, parse_whole_number

#: What a line looks like, for messages.
LINE = "'<picture> <Genus species> <rank> <score>'"

# Number of lines parsed at a time: so few that a broken line slows down few others, and that their words stay in the
# processor's cache.
_CHUNK = 2048
_RANKS = {str(rank): rank for rank in range(1, 10_000)}
_COLUMN_TYPES = (np.int32, np.int32, np.int32, np.float64, np.int32)


def parse_run(all_lines: Iterator[str], name: str) -> tuple[Run, list[tuple[int, str]]]:
    """Parse the lines of a run file of 2011: return those that can be parsed, and number and complaint of the others.

    The lines have bytes that are no UTF-8 as lone surrogates.
    """
    # A name that is looked up for the first time gets the next number.
    pictures: defaultdict[str, int] = defaultdict(count().__next__)
    species: defaultdict[str, int] = defaultdict(count().__next__)
    blocks: list[tuple[NDArray, ...]] = [tuple(np.empty(0, kind) for kind in _COLUMN_TYPES)]
    problems: list[tuple[int, str]] = []
    first = 1
    while lines := list(islice(all_lines, _CHUNK)):
        block = _parse_chunk(lines, first, pictures, species)
        blocks.append(_parse_each(lines, first, pictures, species, problems) if block is None else block)
        first += len(lines)
    picture, kind, rank, score, line = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return make_run(name, pictures, species, (picture, kind, rank, score, line)), problems


def _parse_chunk(
    lines: list[str], first: int, pictures: dict[str, int], species: dict[str, int]
) -> tuple[NDArray, ...] | None:
    """Parse good lines all at once; None where any line needs a closer look."""
    n_lines = len(lines)
    # One flat list instead of a list of rows: millions of small lists would keep the garbage collector busy.
    words = [word for line in lines for word in line.rsplit(None, 2)]
    names = [word for head in words[::3] for word in head.split(" ", 1)]
    if len(words) != 3 * n_lines or len(names) != 2 * n_lines:
        return None
    names, kinds = names[::2], names[1::2]
    try:
        rank = np.array([_RANKS[word] for word in words[1::3]], np.int32)
        score = np.array([float(word) for word in words[2::3]])
    except (ValueError, KeyError):
        return None
    scores = "".join(words[2::3])
    # What `parse_finite_number` refuses, without a call for each line.
    if not np.isfinite(score).all() or "_" in scores or not scores.isascii():
        return None
    # Names of earlier lines are good; a new one gets its number only if it is.
    if not all(name.isprintable() and name and name[0] != "<" for name in set(names) - pictures.keys()):
        return None
    if not all(name.isprintable() and " ".join(name.split()) == name != "" for name in set(kinds) - species.keys()):
        return None
    return (
        np.array([pictures[name] for name in names], np.int32),
        np.array([species[name] for name in kinds], np.int32),
        rank,
        score,
        np.arange(first, first + n_lines, dtype=np.int32),
    )


def _parse_each(
    lines: list[str], first: int, pictures: dict[str, int], species: dict[str, int], problems: list[tuple[int, str]]
) -> tuple[NDArray, ...]:
    rows: list[tuple[int, int, int, float, int]] = []
    for number, line in enumerate(lines, first):
        parsed = _parse_line(line)
        if isinstance(parsed, str):
            problems.append((number, parsed))
        else:
            rows.append((pictures[parsed.picture], species[parsed.species], parsed.rank, parsed.score, number))
    return tuple(np.array([row[column] for row in rows], kind) for column, kind in enumerate(_COLUMN_TYPES))


def _parse_line(line: str) -> Prediction | str:
    """Parse one line, or say what is wrong with it."""
    quoted = _quote(line)
    words = line.split()
    if not words:
        return f"expected {LINE}, found a blank line; remove it"
    plain = line.strip().replace("\t", " ")
    if not plain.isprintable():
        unprintable = [letter for letter in plain if not letter.isprintable()]
        # Surrogates stand for bytes that are no UTF-8, see `parse_run`; U+0000 comes from UTF-16.
        if any(letter == "\0" or "\udc80" <= letter <= "\udcff" for letter in unprintable):
            return f"expected UTF-8 text, found {quoted}; save the file as UTF-8"
        remedy = "write a plain blank" if unprintable[0].isspace() else "remove it"
        return f"expected plain text, found the character {_name_letter(unprintable[0])} in {quoted}; {remedy}"
    if words[0].startswith("<") or words[-1].endswith(">"):
        return f"expected {LINE} without angle brackets, found {quoted}"
    if len(words) < 4:
        return f"expected {LINE}, found {quoted}"
    rank, score = _parse_whole(words[-2]), parse_finite_number(words[-1])
    if rank is None:
        if _parse_whole(words[-1]) is not None or score is not None:
            return f"expected a rank before the score, found {words[-2]!r} in {quoted}; is the rank or score missing?"
        return f"expected a rank (1, 2, …), found {words[-2]!r} in {quoted}"
    if score is None:
        hint = "; write a decimal point" if "," in words[-1] else ""
        return f"expected a score as a finite number, found {words[-1]!r}{hint}"
    if not 1 <= rank <= np.iinfo(np.int32).max:
        return f"expected a rank from 1 up, found {words[-2]!r}"
    return Prediction(words[0], " ".join(words[1:-2]), rank, score)


def _quote(line: str) -> str:
    text = repr(line.rstrip("\r\n"))
    return text if len(text) <= 100 else f"{text[:96]}…'"


def _name_letter(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return f"U+{ord(letter):04X} ({name})" if name else f"U+{ord(letter):04X}"


def _parse_whole(word: str) -> int | None:
    number = parse_whole_number(word.removeprefix("-"), max_digits=12)
    return number if number is None or not word.startswith("-") else -number
