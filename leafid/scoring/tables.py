"""Tables, written as text, CSV, JSON or LaTeX; and the list of all metrics."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace
from typing import Any

from leafid.errors import UsageError, escape_unprintable
from leafid.textfiles import escape_formula


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score with what is known of its spread, and how it compares with those of other runs."""

    #: NaN where nothing is scored.
    value: float
    #: The ends of its interval, or its standard error, if these were computed; NaN where there are none.
    low: float | None = None
    high: float | None = None
    error: float | None = None
    #: Whether it is the best of several runs.
    is_best: bool = False
    #: The letters of the runs that it is significantly better than.
    better_than: str = ""

    def list_numbers(self, name: str) -> dict[str, float]:
        """List all its numbers, by the name of the score: ``S``, ``S low``, ``S high`` or ``S error``."""
        numbers = {
            f"{name} {word}": getattr(self, word) for word in ("low", "high", "error")
        }
        return {name: self.value} | {
            word: number for word, number in numbers.items() if number is not None
        }

    def format(self, digits: int) -> str:
        """Format it as ``.812 [.78, .84]`` or ``.812 ± .02``; the spread has one decimal less, but two at least."""
        fewer = max(digits - 1, 2)
        text = _format_short(self.value, digits)
        if self.low is not None and self.high is not None and not math.isnan(self.low):
            return f"{text} [{_format_short(self.low, fewer)}, {_format_short(self.high, fewer)}]"
        if self.error is not None and not math.isnan(self.error):
            return f"{text} ± {_format_short(self.error, fewer)}"
        return text


def _format_short(number: float, digits: int) -> str:
    """Format a number without the 0 before the point, as scores in papers are."""
    if math.isnan(number):
        return "–"
    text = f"{number:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


Cell = str | int | float | Estimate | None

#: The formats that `render` writes.
FORMATS = ("text", "csv", "json", "latex")
#: Width that text tables keep to.
WIDTH = 100
#: The letters of runs, and as they stand in text.
LETTERS = "abcdefghijklmnoprstuvwxyz"
RAISED = str.maketrans(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


@dataclass(frozen=True)
class Table:
    """A titled table."""

    title: str
    #: Headings, each once.
    columns: Sequence[str]
    #: Cells, as many as columns: text, numbers, or None for an empty one.
    rows: Sequence[Sequence[Cell]]
    #: What a reader has to know as well: seeds, what was left out.
    notes: Sequence[str] = ()
    #: Columns that only CSV and JSON have.
    details: frozenset[str] = frozenset()
    #: How many columns say what a row is about. A table that is too wide is set in parts that each begin with them.
    n_keys: int = 0
    #: Whether LaTeX has the first column as headings of groups of rows.
    is_grouped: bool = False
    #: The letters of runs, by their names.
    letters: Mapping[str, str] = field(default_factory=dict)

    def to_records(self) -> list[dict[str, Any]]:
        """List the rows as dictionaries by column, with all numbers of each `Estimate`."""
        return [self._to_record(row) for row in self.rows]

    def _to_record(self, row: Sequence[Cell]) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for column, cell in zip(self.columns, row, strict=True):
            record |= (
                cell.list_numbers(column)
                if isinstance(cell, Estimate)
                else {column: cell}
            )
        return record

    def without_details(self) -> "Table":
        """Leave out what only CSV and JSON have."""
        kept = [
            index
            for index, column in enumerate(self.columns)
            if column not in self.details
        ]
        rows = [[row[index] for index in kept] for row in self.rows]
        return replace(self, columns=[self.columns[index] for index in kept], rows=rows)


def render(tables: Sequence[Table], form: str = "text", digits: int = 4) -> str:
    """Write tables in one of the `FORMATS`, with `digits` decimals in text and LaTeX.

    A text table that is wider than `WIDTH` is set in several parts. CSV has an empty line between tables and
    no titles or notes; JSON is a list of objects with `title`, `rows` (an object each) and `notes`. Both have 15 digits
    of a number, all that are sure after some arithmetic, and no value for NaN.

    Examples
    --------
    >>> print(render([Table("", ["run", "S"], [["a.txt", 0.5]])]), end="")
    run         S
    -----  ------
    a.txt  0.5000
    """
    if form == "csv":
        return "\n".join(map(_format_csv_table, tables))
    if form == "json":
        objects = [
            {
                "title": table.title,
                "rows": [
                    {column: _clean_number(cell) for column, cell in record.items()}
                    for record in table.to_records()
                ],
                "notes": list(table.notes),
            }
            for table in tables
        ]
        return json.dumps(objects, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write = _format_latex if form == "latex" else _format_text
    return "\n".join(write(table.without_details(), digits) for table in tables)


def choose_tables(
    tables: Sequence[Table], form: str, number: int | None
) -> Sequence[Table]:
    """Choose the table with a number from 1 up, or all; raise `UsageError` where CSV would hold several."""
    if number is None and (form != "csv" or len(tables) == 1):
        return tables
    if number is None or number > len(tables):
        titles = ", ".join(
            f"{position} {table.title}" for position, table in enumerate(tables, 1)
        )
        chosen = f"--table {number}" if number else "several tables for a CSV"
        raise UsageError(
            f"expected one table, found {chosen}; choose one with --table N: {titles}"
        )
    return [tables[number - 1]]


def _format_csv_table(table: Table) -> str:
    records = table.to_records()
    columns = (
        dict.fromkeys(column for record in records for column in record)
        if records
        else table.columns
    )
    return format_csv(
        [
            [*columns],
            *([record.get(column) for column in columns] for record in records),
        ]
    )


def format_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Write rows as CSV; cells that a spreadsheet would take for a formula are escaped, NaN is empty."""
    lines: list[str] = []
    # With the line end \r\n, which is replaced, both characters are quoted in cells.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerows(
        [escape_formula(_clean_number(cell)) for cell in row] for row in rows
    )
    return "".join(f"{line[:-2]}\n" for line in lines)


def _clean_number(cell: Cell) -> Cell:
    """Drop NaN, and the digits of a float that are rounding errors."""
    if not isinstance(cell, float):
        return cell
    return float(f"{cell:.15g}") if math.isfinite(cell) else None


def _format_text(table: Table, digits: int) -> str:
    cells = [_format_row(table, row, digits, _format_named) for row in table.rows]
    columns = [
        [heading, *column]
        for heading, *column in zip(table.columns, *cells, strict=True)
    ]
    blocks = []
    for index, column in enumerate(columns):
        width = max(map(len, column))
        is_number = all(
            isinstance(row[index], int | float | None) for row in table.rows
        )
        column[1:1] = ["-" * width]
        blocks.append(
            [
                cell.rjust(width) if is_number and table.rows else cell.ljust(width)
                for cell in column
            ]
        )
    keys = blocks[: table.n_keys]
    parts = [keys]
    for block in blocks[table.n_keys :]:
        # A table that is too wide is set in parts, one below the other.
        if (
            keys
            and len(parts[-1]) > len(keys)
            and sum(len(part[0]) + 2 for part in [*parts[-1], block]) > WIDTH + 2
        ):
            parts.append(keys)
        parts[-1] = [*parts[-1], block]
    text = "\n\n".join(
        "\n".join("  ".join(cells).rstrip() for cells in zip(*part, strict=True))
        for part in parts
    )
    return (
        "\n".join(
            [
                *filter(None, [table.title]),
                text,
                *(fill(note, WIDTH) for note in table.notes),
            ]
        )
        + "\n"
    )


def _format_row(
    table: Table,
    row: Sequence[Cell],
    digits: int,
    form: Callable[[Cell, int, Mapping[str, str]], str],
) -> list[str]:
    # A type may have the name of a run.
    pairs = zip(table.columns, row, strict=True)
    return [
        form(cell, digits, table.letters if column == "run" else {})
        for column, cell in pairs
    ]


def _format_named(cell: Cell, digits: int, letters: Mapping[str, str]) -> str:
    """Format a cell for text, with the letter of a run, or those of the runs that a score is better than."""
    if isinstance(cell, Estimate):
        return cell.format(digits) + cell.better_than.translate(RAISED)
    return format_cell(cell, digits) + (
        f" ({letters[cell]})" if isinstance(cell, str) and cell in letters else ""
    )


def _format_latex(table: Table, digits: int) -> str:
    """Write a table for the package booktabs; the first column of a grouped one is a heading above each group."""
    first = int(table.is_grouped)
    rows = [_format_row(table, row, digits, _format_latex_cell) for row in table.rows]
    is_text = [
        any(isinstance(row[column], str) for row in table.rows)
        for column in range(len(table.columns))
    ][first:]
    lines = [f"% {line}" for line in (table.title, *table.notes) if line]
    lines += [
        rf"\begin{{tabular}}{{{''.join('l' if text else 'r' for text in is_text)}}}",
        r"\toprule",
    ]
    lines += [
        _join_latex(_escape_latex(column) for column in table.columns[first:]),
        r"\midrule",
    ]
    for index, row in enumerate(rows):
        if first and (index == 0 or row[0] != rows[index - 1][0]):
            lines += [r"\addlinespace"] if index else []
            lines += [rf"\multicolumn{{{len(is_text)}}}{{l}}{{\textit{{{row[0]}}}}} \\"]
        lines.append(_join_latex(row[first:]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _join_latex(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _format_latex_cell(cell: Cell, digits: int, letters: Mapping[str, str]) -> str:
    if not isinstance(cell, Estimate):
        return _escape_latex(_format_named(cell, digits, letters))
    score, _, spread = cell.format(digits).partition(" ")
    text = rf"\textbf{{{score}}}" if cell.is_best else score
    spread = " " + spread.replace("±", r"$\pm$") if spread else ""
    return text + spread + (f"$^{{{cell.better_than}}}$" if cell.better_than else "")


def _escape_latex(text: str) -> str:
    return text.translate(_LATEX)


def format_cell(cell: Cell, digits: int = 3) -> str:
    """Format a cell with `digits` decimals; a dash where it is empty."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, Estimate):
        return cell.format(digits)
    if isinstance(cell, float):
        text = f"{cell:.{digits}f}"
        # A small p value isn't 0.
        return text if float(text) or not cell else f"{cell:.1g}"
    return escape_unprintable(str(cell))


@cache
def read_metrics() -> list[dict[str, str]]:
    """Read the list of all metrics of all tasks, a dictionary by column for each, in the order of their commands."""
    text = Path(__file__).with_name("metrics.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
