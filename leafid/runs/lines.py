"""Splits the lines of a 2011 run file: good ones many at a time, any other by itself to say what is wrong."""

from __future__ import annotations

import unicodedata
from itertools import chain, islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from leafid.runs.run import Prediction, Run, make_run
from leafid.textfiles import parse_finite_number

#: What a line looks like, for messages.
LINE = "'<picture> <Genus species> <rank> <score>'"

# Small enough that a broken line sends few others the slow way and that the split tokens stay in the cache.
_CHUNK = 2048
_RANKS = {str(rank): rank for rank in range(1, 10_000)}
_COLUMN_TYPES = (np.int32, np.int32, np.int32, np.float64, np.int32)


class _Codes(dict[str, int]):
    """Numbers names in the order in which they are first asked for."""

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self)
        return code


def parse_run(stream: IO[str], name: str) -> tuple[Run, list[tuple[int, str]]]:
    """Read the lines of a run file of the 2011 format.

    Parameters
    ----------
    stream : text stream
        Wrong bytes as lone surrogates.
    name : str
        What the run is called.

    Returns
    -------
    run : Run
        All lines that could be read.
    problems : list of (int, str)
        Line and complaint of all others.
    """
    pictures, species = _Codes(), _Codes()
    blocks: list[tuple[NDArray, ...]] = []
    problems: list[tuple[int, str]] = []
    first = 1
    while lines := list(islice(stream, _CHUNK)):
        block = _parse_plain(lines, first, pictures, species)
        if block is None:
            block = _parse_each(lines, first, pictures, species, problems)
        blocks.append(block)
        first += len(lines)
    columns = [
        np.concatenate([block[column] for block in blocks]) if blocks else np.empty(0, kind)
        for column, kind in enumerate(_COLUMN_TYPES)
    ]
    run = make_run(name, pictures, species, (columns[0], columns[1], columns[2], columns[3], columns[4]))
    return run, problems


def _parse_plain(lines: list[str], first: int, pictures: _Codes, species: _Codes) -> tuple[NDArray, ...] | None:
    """Split good lines, a whole chunk a step; None where any line is not plainly good."""
    count = len(lines)
    # One flat list and not a list of rows: with millions of small lists the garbage collector has the most to do.
    words = [word for line in lines for word in line.rsplit(None, 2)]
    names = [word for head in words[::3] for word in head.split(" ", 1)]
    if len(words) != 3 * count or len(names) != 2 * count:
        return None
    names, kinds = names[::2], names[1::2]
    try:
        rank = np.array([_RANKS[word] for word in words[1::3]], np.int32)
        score = np.array([float(word) for word in words[2::3]])
    except (ValueError, KeyError):
        return None
    scores = "".join(words[2::3])
    # What `parse_finite_number` refuses, without a call a line.
    if not np.isfinite(score).all() or "_" in scores or not scores.isascii():
        return None
    # Only new names can be new trouble: those that aren't plain are left to the slow way before they get a code.
    if not all(map(_is_plain_picture, set(names) - pictures.keys())):
        return None
    if not all(map(_is_plain_species, set(kinds) - species.keys())):
        return None
    return (
        np.array([pictures[name] for name in names], np.int32),
        np.array([species[name] for name in kinds], np.int32),
        rank,
        score,
        np.arange(first, first + count, dtype=np.int32),
    )


def _is_plain_picture(name: str) -> bool:
    return name.isprintable() and bool(name) and name[0] != "<"


def _is_plain_species(name: str) -> bool:
    return name.isprintable() and " ".join(name.split()) == name != ""


def _parse_each(
    lines: list[str], first: int, pictures: _Codes, species: _Codes, problems: list[tuple[int, str]]
) -> tuple[NDArray, ...]:
    rows: list[tuple[int, int, int, float, int]] = []
    for number, line in enumerate(lines, first):
        parsed = _parse_line(line)
        if isinstance(parsed, str):
            problems.append((number, parsed))
        else:
            rows.append((pictures[parsed.picture], species[parsed.species], parsed.rank, parsed.score, number))
    columns = zip(*rows, strict=True) if rows else chain([()] * 5)
    return tuple(np.array(column, kind) for column, kind in zip(columns, _COLUMN_TYPES, strict=True))


def _parse_line(line: str) -> Prediction | str:
    """Read one line, or say what is wrong with it."""
    shown = _shown(line)
    words = line.split()
    if not words:
        return f"expected {LINE}, found a blank line; remove it"
    plain = line.strip().replace("\t", " ")
    if not plain.isprintable():
        strange = [letter for letter in plain if not letter.isprintable()]
        # The stream marks bytes that are no UTF-8 as surrogates, see `parse_run`; U+0000 comes from UTF-16.
        if any(letter == "\0" or "\udc80" <= letter <= "\udcff" for letter in strange):
            return f"expected UTF-8 text, found {shown}; save the file as UTF-8"
        remedy = "write a plain blank" if strange[0].isspace() else "remove it"
        return f"expected plain text, found the character {_named(strange[0])} in {shown}; {remedy}"
    if words[0].startswith("<") or words[-1].endswith(">"):
        return f"expected {LINE} without angle brackets, found {shown}"
    if len(words) < 4:
        return f"expected {LINE}, found {shown}"
    rank, score = words[-2], parse_finite_number(words[-1])
    if _whole(rank) is None:
        if _whole(words[-1]) is not None or score is not None:
            return f"expected a rank before the score, found {rank!r} in {shown}; is the rank or the score missing?"
        return f"expected a rank (1, 2, …), found {rank!r} in {shown}"
    if score is None:
        hint = "; write a decimal point" if "," in words[-1] else ""
        return f"expected a score as a finite number, found {words[-1]!r}{hint}"
    if not 1 <= int(rank) <= np.iinfo(np.int32).max:
        return f"expected a rank from 1 up, found {rank!r}"
    return Prediction(words[0], " ".join(words[1:-2]), int(rank), score)


def _shown(line: str) -> str:
    text = repr(line.rstrip("\r\n"))
    return text if len(text) <= 100 else f"{text[:96]}…'"


def _named(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return f"U+{ord(letter):04X} ({name})" if name else f"U+{ord(letter):04X}"


def _whole(word: str) -> int | None:
    digits = word.removeprefix("-")
    # 12 digits are more than any rank has; a longer one would only cost time to convert.
    return int(word) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None
