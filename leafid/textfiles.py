"""The one place that reads text files, CSV tables and XML, and parses numbers."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import unicodedata
from collections.abc import Hashable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import defusedxml
import defusedxml.ElementTree

from leafid.errors import MAX_PROBLEMS, LeafidError, ProblemsError
from leafid.files import StrPath, open_input
from leafid.grouping import count_noun

#: Maximum size of a text file.
MAX_BYTES = 1 << 28
#: Maximum size of an XML file.
MAX_XML_BYTES = 1 << 20
# More than any whole number in a file has.
_MAX_DIGITS = 9
# A line above a table that names the separator of its cells to Excel.
_SEPARATOR_LINE = re.compile(r'\s*"?sep=([,;\t|])"?(?=[\r\n])', re.IGNORECASE)
# Where a quote is written before a cell that a spreadsheet would take for a formula,
# and that quote.
_FORMULA_START = re.compile(r"^(?='*[=+@\t\r])")
_ESCAPING_QUOTE = re.compile(r"^'(?='*[=+@\t\r])")


def _read_bytes(file: StrPath, most: int) -> bytes:
    with open_input(file) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise LeafidError(
            f"{file}: expected a text file of at most {most >> 20} MiB, found more"
        )
    return data


def read_text(file: StrPath) -> str:
    """Read an untrusted UTF-8 file, without byte order mark, with its line ends.

    Letters with accents become single characters (Unicode form NFC): file systems and
    editors differ in that. A `LeafidError` that names the line and the first invalid
    byte is raised if it isn't UTF-8.
    """
    data = _read_bytes(file, MAX_BYTES).removeprefix(codecs.BOM_UTF8)
    try:
        return unicodedata.normalize("NFC", data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LeafidError(
            f"{file}:{line}: expected UTF-8 text, found the invalid byte "
            f"{data[error.start]:#04x}; convert the file"
        ) from None


def read_word_lists(file: StrPath) -> dict[str, list[str]]:
    """Read a file whose lines have a key, a colon, and values."""
    lines = (line.partition(":") for line in read_text(file).splitlines())
    return {word: others.split() for word, _, others in lines}


def read_first_line(file: StrPath) -> str | None:
    """Read the first line with a cell that isn't blank, or its beginning.

    Returns None where a file is no UTF-8 text. The line that names the separator of
    cells to Excel is skipped.
    """
    with open_input(file) as stream:
        head = stream.read(1 << 16).removeprefix(codecs.BOM_UTF8)
    # Invalid bytes become lone surrogates; that the last letter is cut is accepted.
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    text = _SEPARATOR_LINE.sub("", decoder.decode(head), count=1)
    line = _find_first_line(text)
    return None if re.search("[\0\udc80-\udcff]", line) else line


def _find_first_line(text: str) -> str:
    lines = io.StringIO(text, newline=None)
    return next((line for line in lines if re.search(r"[^\s,;|]", line)), "")


def read_lines(
    file: StrPath, encoding: str, max_length: int = 1 << 16
) -> Iterator[str]:
    """Yield the lines of a file of any size, with their ends.

    Bytes of other encodings become lone surrogates. A `LeafidError` is raised if a line
    has more than `max_length` characters: a file that is no text may be a single line
    of gigabytes.
    """
    with open_input(file) as stream:
        text = io.TextIOWrapper(stream, encoding, "surrogateescape")
        for number, line in enumerate(
            iter(partial(text.readline, max_length + 1), ""), start=1
        ):
            if len(line) > max_length:
                raise LeafidError(
                    f"{file}:{number}: expected lines of at most {max_length} "
                    "characters, found more"
                )
            yield line if line.isascii() else unicodedata.normalize("NFC", line)


def read_table(file: StrPath) -> Iterator[tuple[int, list[str]]]:
    """Read a CSV file: yield the number of each row's first line, and its cells.

    Numbers count from 1; empty rows are left out. Commas, semicolons, tabs or bars
    separate cells: the separator is named in a line ``sep=;`` above the table, or is
    the one that splits the heading into the most cells. Empty cells to the right of the
    heading are left out, and the quotes of `escape_formula`.
    """
    text = read_text(file)
    separators = ",;\t|"
    if match := _SEPARATOR_LINE.match(text):
        separators = match[1]
        text = text[match.end() :]
    heading = [_find_first_line(text)]
    line = 1
    width = 0
    try:
        separator = max(
            separators, key=lambda mark: len(next(csv.reader(heading, delimiter=mark)))
        )
        # Without `strict`, a quote that isn't closed joins all rows to the next quote.
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=separator,
            skipinitialspace=True,
            strict=True,
        )
        for cells in reader:
            while len(cells) > width and not cells[-1].strip():
                cells.pop()
            width = width or len(cells)
            if "".join(cells).strip():
                yield line, [_ESCAPING_QUOTE.sub("", cell) for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        reason = (
            f"found an error: {error}; is each quote closed in the row that begins "
            "here?"
        )
        raise LeafidError(f"{file}:{line}: expected a table as CSV, {reason}") from None


def escape_formula(cell: Any) -> Any:
    """Write a quote before text that a spreadsheet would take for a formula.

    `read_table` leaves it out.
    """
    return _FORMULA_START.sub("'", cell) if isinstance(cell, str) else cell


def read_records(file: StrPath) -> list[dict[str, str]]:
    """Read a CSV file whose rows have all cells of its heading."""
    (_, heading), *rows = read_table(file)
    return [dict(zip(heading, cells, strict=True)) for _, cells in rows]


def read_xml(file: StrPath) -> Element:
    """Parse an untrusted XML file of at most 1 MiB and return its root element.

    A `LeafidError` is raised if it can't be read or parsed, or has a DOCTYPE or
    defines entities, which could grow endlessly or read other files.
    """
    data = _read_bytes(file, MAX_XML_BYTES)
    try:
        return defusedxml.ElementTree.fromstring(data, forbid_dtd=True)
    except defusedxml.DefusedXmlException:
        line = data.count(b"\n", 0, max(data.find(b"<!DOCTYPE"), 0)) + 1
        raise LeafidError(
            f"{file}:{line}: expected XML without a DOCTYPE, found one; remove it"
        ) from None
    except (ParseError, LookupError, ValueError) as error:
        # An encoding that isn't known raises an error without a position.
        line, _ = getattr(error, "position", (1, 0))
        raise LeafidError(
            f"{file}:{line}: expected well-formed XML in UTF-8, or in the encoding "
            f"that it declares, found an error: {error}"
        ) from None


def parse_finite_number(word: str) -> float | None:
    """Parse a decimal number as people write it, with blanks around it allowed.

    Returns None for any other text. ``float`` also accepts infinity, NaN, non-ASCII
    digits and underscores, which are refused.

    Examples
    --------
    >>> [parse_finite_number(word) for word in ("2.5e-1", "1_0", "inf", "٣")]
    [0.25, None, None, None]
    """
    if "_" in word or not word.isascii():
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return number


def parse_whole_number(word: str) -> int | None:
    """Parse ASCII digits.

    Returns None for any other text, or more digits than any such number has.
    """
    # Converting a huge number takes long.
    if not word.isascii() or not word.isdigit() or len(word) > _MAX_DIGITS:
        return None
    return int(word)


class LineProblems:
    """Collects the problems of a file's lines.

    A `ProblemsError` is raised at the end of a ``with`` block.
    """

    def __init__(self, file: StrPath) -> None:
        self.file = file
        #: Lines, infinity for the file as a whole, and messages.
        self._messages: list[tuple[float, str]] = []
        self._count = 0
        #: What lines with problems are about, where it is known, as they have it.
        self.subjects: set[str] = set()
        self._first_lines: dict[tuple[str, Hashable], int] = {}

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> LineProblems:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self:
            # Problems of one line stay in their order.
            by_line = sorted(self._messages, key=itemgetter(0))
            messages = [message for _, message in by_line]
            if more := self._count - len(messages):
                messages.append(f"{self.file}: and {count_noun(more, 'problem')} more")
            raise ProblemsError(messages)

    def add(self, line: int | None, problem: str, subject: str | None = None) -> None:
        """Add a problem ("expected …, found …") of a line, or of the whole file."""
        self._count += 1
        if subject is not None:
            self.subjects.add(subject)
        if len(self._messages) < MAX_PROBLEMS:
            place = str(self.file)
            if line is not None:
                place += f":{line}"
            self._messages.append((line or math.inf, f"{place}: {problem}"))

    def check_unique(self, line: int, kind: str, key: Hashable) -> bool:
        """Check that `key` is new among the keys of its kind ("every id").

        Otherwise add a problem.
        """
        if (kind, key) not in self._first_lines:
            self._first_lines[kind, key] = line
            return True
        first = self._first_lines[kind, key]
        self.add(line, f"expected {kind} once, found {key!r}, as in line {first}")
        return False
