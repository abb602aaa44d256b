"""The one place that reads text files, among them CSV tables, JSON and XML, and that parses numbers in text."""

from __future__ import annotations

import bisect
import csv
import io
import json
import math
import os
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from xml.etree.ElementTree import Element, ParseError

import defusedxml
import defusedxml.ElementTree

from leafid.errors import MAX_PROBLEMS, LeafidError, ProblemsError
from leafid.files import open_input

#: Maximum size of a text file.
MAX_BYTES = 1 << 28

#: Maximum size of an XML file.
MAX_XML_BYTES = 1 << 20

_FORMULA_STARTS = ("=", "+", "@", "\t", "\r")


def read_text(file: str | os.PathLike[str]) -> str:
    """Read an untrusted UTF-8 file, without its byte order mark and with its line ends as they are.

    A `LeafidError` that names the line and the first invalid byte is raised if it isn't UTF-8.
    """
    with open_input(file) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise LeafidError(f"{file}: expected a text file of at most {MAX_BYTES >> 20} MiB, found more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from the end of the byte order mark.
        start = error.start + len(data) - len(error.object)
        line = data.count(b"\n", 0, start) + 1
        raise LeafidError(
            f"{file}:{line}: expected UTF-8 text, found the invalid byte {data[start]:#04x}; convert the file"
        ) from None


def read_lines(file: str | os.PathLike[str], encoding: str, max_length: int = 1 << 16) -> Iterator[str]:
    """Yield the lines of a file of any size, with their ends; bytes of other encodings become lone surrogates.

    A `LeafidError` is raised if the file can't be read, or a line has more than `max_length` characters: a file that is
    no text may be a single line of gigabytes.
    """
    with open_input(file) as stream:
        text = io.TextIOWrapper(stream, encoding, "surrogateescape")
        for number, line in enumerate(iter(partial(text.readline, max_length + 1), ""), start=1):
            if len(line) > max_length:
                raise LeafidError(f"{file}:{number}: expected lines of at most {max_length} characters, found more")
            yield line


def read_table(file: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Read a CSV file: yield the number of each row's last line, from 1, and its cells; blank lines are left out."""
    reader = csv.reader(io.StringIO(read_text(file), newline=""))
    try:
        yield from ((reader.line_num, cells) for cells in reader if cells)
    except csv.Error as error:
        raise LeafidError(f"{file}:{reader.line_num}: expected a table as CSV, found an error: {error}") from None


def escape_formula(cell: object) -> object:
    """Prefix text that a spreadsheet would take for a formula with an apostrophe, for CSV cells."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


def read_json(file: str | os.PathLike[str], decode: Callable[[str], object] | None = None) -> object:
    """Read a JSON file; `decode` converts the text, and raises errors as ``json.loads`` does.

    By default a key that an object has twice is an error. A `LeafidError` names the line where it is known.
    """
    text = read_text(file)
    try:
        return decode(text) if decode else json.loads(text, object_pairs_hook=build_object)
    except json.JSONDecodeError as error:
        raise LeafidError(
            f"{file}:{error.lineno}: expected JSON, found an error at column {error.colno}: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; lists nested without end
        raise LeafidError(f"{file}: expected JSON, found an error: {error}") from None


def read_xml(file: str | os.PathLike[str]) -> Element:
    """Parse an untrusted XML file of at most 1 MiB and return its root element.

    A `LeafidError` is raised if the file can't be read, is empty or too large, is not well-formed, is not in the
    encoding that it declares (UTF-8 by default), or has a DOCTYPE or entities of its own, which could grow endlessly or
    read other files.
    """
    with open_input(file) as stream:
        data = stream.read(MAX_XML_BYTES + 1)
    if not data.strip():
        raise LeafidError(f"{file}: expected XML, found an empty file")
    if len(data) > MAX_XML_BYTES:
        raise LeafidError(f"{file}: expected XML of at most {MAX_XML_BYTES >> 10} KiB, found more")
    try:
        return defusedxml.ElementTree.fromstring(data, forbid_dtd=True)
    except defusedxml.DefusedXmlException:
        line = data.count(b"\n", 0, max(data.find(b"<!DOCTYPE"), 0)) + 1
        raise LeafidError(f"{file}:{line}: expected XML without a DOCTYPE, found one; remove it") from None
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(": line")[0]
        if reason == "not well-formed (invalid token)":
            reason += ", perhaps a letter in another encoding than the declared one (UTF-8 by default)"
        raise LeafidError(
            f"{file}:{line}: expected well-formed XML, found an error at column {column + 1}: {reason}"
        ) from None
    except (LookupError, ValueError) as error:
        raise LeafidError(f"{file}:1: expected XML in a known encoding, found another: {error}") from None


def build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object of JSON, each of whose keys has to be there once, or raise a `ValueError`."""
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for position, (key, _) in enumerate(pairs) if key in dict(pairs[:position]))
        raise ValueError(f"the key {repeated!r} is twice in an object")
    return found


def parse_finite_number(word: str) -> float | None:
    """Parse a decimal number as people write it, with blanks around it allowed; None if it isn't one.

    ``float`` also accepts infinity, NaN, non-ASCII digits and underscores, which are refused.

    Examples
    --------
    >>> parse_finite_number("2.5e-1"), parse_finite_number("1_0"), parse_finite_number("inf"), parse_finite_number("٣")
    (0.25, None, None, None)
    """
    if "_" in word or not word.isascii():
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def parse_whole_number(word: str, max_digits: int = 9) -> int | None:
    """Parse ASCII digits; None if there is anything else, or more digits than any such number has."""
    # Converting a huge number takes long.
    return int(word) if word.isascii() and word.isdigit() and len(word) <= max_digits else None


class LineProblems:
    r"""Collect what is wrong with the lines of one file: the first `MAX_PROBLEMS`, and the number of the others.

    As a context manager it raises a `ProblemsError` at the end of the block if there is any problem.

    Examples
    --------
    >>> problems = LineProblems("run.txt")
    >>> [problems.check_unique(line, "every id", name) for line, name in enumerate("aba", start=1)]
    [True, True, False]
    >>> problems.list_messages()
    ["run.txt:3: expected every id once, found 'a', as in line 1"]
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = file
        self._found: list[tuple[float, int, str]] = []
        self._count = 0
        self._first_lines: dict[tuple[str, Hashable], int] = {}

    def __len__(self) -> int:
        """Count all problems."""
        return self._count

    def __enter__(self) -> LineProblems:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self:
            raise ProblemsError(self.list_messages())

    def add(self, line: int | None, problem: str) -> None:
        """Add a problem ("expected …, found …") of a line, or of the file as a whole."""
        order = math.inf if line is None else line
        self._count += 1
        if len(self._found) == MAX_PROBLEMS:
            if order >= self._found[-1][0]:
                return
            self._found.pop()
        place = str(self.file) if line is None else f"{self.file}:{line}"
        bisect.insort(self._found, (order, self._count, f"{place}: {problem}"))

    def check_unique(self, line: int, kind: str, key: Hashable, shown: str | None = None) -> bool:
        """Check that `key` is new among the keys of its kind ("every id"); otherwise add a problem."""
        if (kind, key) not in self._first_lines:
            self._first_lines[kind, key] = line
            return True
        first = self._first_lines[kind, key]
        self.add(line, f"expected {kind} once, found {shown or repr(key)}, as in line {first}")
        return False

    def list_messages(self) -> list[str]:
        """List the first problems in the order of lines, those of the whole file last, and count the others."""
        more = self._count - len(self._found)
        count = [f"{self.file}: and {more} problem{'s' if more > 1 else ''} more"] if more else []
        return [*(message for _, _, message in self._found), *count]
