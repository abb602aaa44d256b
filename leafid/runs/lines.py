"""Parses the lines of a 2011 run file, and says what is wrong with those that can't be parsed."""

import math
import unicodedata
from array import array
from collections.abc import Iterable

import numpy as np

from leafid.runs.run import Prediction, Run, make_run
from leafid.textfiles import LineProblems, parse_finite_number, parse_whole_number

#: What a line looks like, for messages.
LINE = "'<picture> <Genus species> <rank> <score>'"

_RANKS = {str(rank): rank for rank in range(1, 10_000)}


def parse_run(lines: Iterable[str], name: str, problems: LineProblems) -> Run:
    """Parse the lines of a run file of 2011: return those that can be parsed, and add the others to `problems`.

    The lines have bytes that are no UTF-8 as lone surrogates.
    """
    pictures: dict[str, int] = {}
    species: dict[str, int] = {}
    # Five numbers a line; a list of objects would take several times as much memory.
    values = array("d")
    for number, line in enumerate(lines, 1):
        try:
            # All of a line of known names that is as `LINE` says; any other takes a closer look.
            head, rank_word, score_word = line.rsplit(None, 2)
            picture, _, kind = head.partition(" ")
            row = pictures[picture], species[kind], _RANKS[rank_word], float(score_word), number
            is_plain = score_word.isascii() and "_" not in score_word and math.isfinite(row[3])
        except (ValueError, KeyError):
            is_plain = False
        if not is_plain:
            parsed = _parse_line(line)
            if isinstance(parsed, str):
                problems.add(number, parsed)
                continue
            picture_code = pictures.setdefault(parsed.picture, len(pictures))
            row = picture_code, species.setdefault(parsed.species, len(species)), parsed.rank, parsed.score, number
        values.extend(row)
    table = np.array(values).reshape(-1, 5)
    codes, rank, score, line_numbers = table[:, :2].astype(np.int32), table[:, 2], table[:, 3], table[:, 4]
    return make_run(name, pictures, species, (codes[:, 0], codes[:, 1], rank, score, line_numbers))


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
