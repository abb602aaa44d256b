"""Tables, written as text, CSV, JSON, LaTeX or Markdown; and the list of metrics."""

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, compress
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace
from typing import Any

from leafid.errors import UsageError, escape_unprintable
from leafid.textfiles import escape_formula, read_records


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score with its interval, and its comparison with the scores of other runs."""

    #: NaN where nothing is scored.
    value: float
    #: "low" and "high", the ends of its interval, or "error", its standard error, if
    #: these were computed; NaN where there are none.
    spread: Mapping[str, float] = field(default_factory=dict)
    #: Whether it is the best of several runs; None where there are no others.
    is_best: bool | None = None
    #: The letters of the runs that it is significantly better than.
    better_than: str = ""
    #: By the letters of all runs, the probability of so large a difference if the runs
    #: were equally good, corrected for the number of pairs; empty where none is tested,
    #: NaN for the run itself.
    p_values: Mapping[str, float] = field(default_factory=dict)
    #: The smallest difference between such runs that the plants can show, or NaN.
    smallest_difference: float = math.nan

    def list_values(self, name: str) -> dict[str, Any]:
        """List its values by names such as ``S``, ``S low``, ``S best``, ``S p a``."""
        values: dict[str, Any] = {name: self.value}
        for word, number in self.spread.items():
            values[f"{name} {word}"] = number
        if self.is_best is not None:
            values[f"{name} best"] = self.is_best
        if self.p_values:
            values[f"{name} better than"] = self.better_than
            values[f"{name} smallest difference"] = self.smallest_difference
        for letter, p in self.p_values.items():
            values[f"{name} p {letter}"] = p
        return values

    def format(self, digits: int) -> str:
        """Format it as ``.812 [.78, .84]`` or ``.812 ± .02``.

        The spread has one decimal less, but two at least.
        """
        text = _format_short(self.value, digits)
        spread = [
            _format_short(number, max(digits - 1, 2)) for number in self.spread.values()
        ]
        if not spread or "–" in spread:
            return text
        if "error" in self.spread:
            return f"{text} ± {spread[0]}"
        return f"{text} [{', '.join(spread)}]"


def _format_short(number: float, digits: int) -> str:
    """Format a number without the 0 before the point, as scores in papers are."""
    if math.isnan(number):
        return "–"
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:.{digits}f}")


Cell = str | int | float | Estimate | None
#: The rows of a table that grows.
Rows = list[list[Cell]]

#: The formats that `render` writes.
FORMATS = ("text", "csv", "json", "latex", "markdown")
#: Width that text tables keep to.
WIDTH = 100
#: The letters of runs, and as they stand in text.
LETTERS = "abcdefghijklmnoprstuvwxyz"
RAISED = str.maketrans(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
# What would be markup in the cells of Markdown.
_MARKUP = re.compile(r"[\\|*_`<]")


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
    #: How many columns say what a row is about. A text that is too wide is set in parts
    #: that each begin with them; of several, LaTeX has the first one as headings of
    #: groups of rows.
    n_keys: int = 0
    #: The letters of runs, by their names in the second column.
    letters: Mapping[str, str] = field(default_factory=dict)

    def to_records(self) -> list[dict[str, Any]]:
        """List the rows as dictionaries by column, with all that an `Estimate` has."""
        records = []
        for row in self.rows:
            record: dict[str, Any] = {}
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, Estimate):
                    record |= cell.list_values(column)
                else:
                    record[column] = cell
                if self.letters and column == "run":
                    record["letter"] = self.letters[str(cell)]
            records.append(record)
        return records

    def without_details(self) -> "Table":
        """Leave out what only CSV and JSON have."""
        is_shown = [column not in self.details for column in self.columns]
        columns = [*compress(self.columns, is_shown)]
        rows = [[*compress(row, is_shown)] for row in self.rows]
        return replace(self, columns=columns, rows=rows)


def render(tables: Sequence[Table], form: str = "text", digits: int = 4) -> str:
    """Write tables in one of the `FORMATS`, with `digits` decimals for readers.

    A text table that is wider than `WIDTH` is set in several parts. CSV has an empty
    line between tables and no titles or notes; JSON is a list of objects with `title`,
    `rows` (an object each) and `notes`. Both have 15 digits of a number, all that are
    sure after some arithmetic, and no value for NaN.

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
        objects = [*map(_make_object, tables)]
        return json.dumps(objects, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write = {
        "text": _format_text,
        "latex": _format_latex,
        "markdown": _format_markdown,
    }[form]
    shown = [_add_letters(table.without_details()) for table in tables]
    return "\n".join(write(table, digits) for table in shown)


def choose_tables(
    tables: Sequence[Table], form: str, number: int | None
) -> Sequence[Table]:
    """Choose the table with a number from 1 up, or all.

    Raise `UsageError` where CSV would hold several.
    """
    if number is None and (form != "csv" or len(tables) == 1):
        return tables
    if number is None or number > len(tables):
        titles = [f"{place} {table.title}" for place, table in enumerate(tables, 1)]
        request = f"--table {number}" if number else "several tables for a CSV"
        raise UsageError(
            f"expected one table, found {request}; choose one with --table N: "
            f"{', '.join(titles)}"
        )
    return [tables[number - 1]]


def _make_object(table: Table) -> dict[str, Any]:
    rows = []
    for record in table.to_records():
        rows.append({key: _clean_number(cell) for key, cell in record.items()})
    return {"title": table.title, "rows": rows, "notes": list(table.notes)}


def _format_csv_table(table: Table) -> str:
    records = table.to_records()
    columns = dict.fromkeys(chain(*records)) or table.columns
    rows = [[*map(record.get, columns)] for record in records]
    return format_csv([[*columns], *rows])


def format_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Write rows as CSV.

    Cells that a spreadsheet would take for a formula are escaped, NaN is empty.
    """
    lines: list[str] = []
    # With the line end \r\n, which is replaced, both characters are quoted in cells.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    for row in rows:
        writer.writerow(map(escape_formula, map(_clean_number, row)))
    return "".join(f"{line[:-2]}\n" for line in lines)


def _clean_number(cell: Cell) -> Cell:
    """Drop NaN, and the digits of a float that are rounding errors."""
    if not isinstance(cell, float):
        return cell
    if not math.isfinite(cell):
        return None
    return float(f"{cell:.15g}")


def _add_letters(table: Table) -> Table:
    """Write the letter of each run behind its name."""
    if not table.letters:
        return table
    rows = []
    for group, run, *cells in table.rows:
        rows.append([group, f"{run} ({table.letters[str(run)]})", *cells])
    return replace(table, rows=rows)


def _format_text(table: Table, digits: int) -> str:
    columns = [
        _format_column(heading, values, digits)
        for heading, *values in zip(table.columns, *table.rows, strict=True)
    ]
    keys = columns[: table.n_keys]
    parts = [[*keys]]
    for column in columns[len(keys) :]:
        width = sum(len(lines[0]) + 2 for lines in [*parts[-1], column])
        # A table that is too wide is set in parts, one below the other.
        if keys and parts[-1] != keys and width > WIDTH + 2:
            parts.append([*keys])
        parts[-1].append(column)
    text = "\n\n".join(map(_join_columns, parts))
    notes = [fill(note, WIDTH) for note in table.notes]
    return "\n".join([*filter(None, [table.title]), text, *notes]) + "\n"


def _format_column(heading: str, values: Sequence[Cell], digits: int) -> list[str]:
    cells = [heading]
    for value in values:
        cells.append(_format_marked(value, digits))
    width = max(map(len, cells))
    cells.insert(1, "-" * width)
    align = str.ljust
    if values and all(isinstance(value, int | float | None) for value in values):
        align = str.rjust
    return [align(cell, width) for cell in cells]


def _format_marked(cell: Cell, digits: int) -> str:
    """Format a cell with the raised letters of runs that it is better than."""
    text = format_cell(cell, digits)
    if isinstance(cell, Estimate):
        text += cell.better_than.translate(RAISED)
    return text


def _format_markdown(table: Table, digits: int) -> str:
    # It takes longer to import than a picture to be identified.
    from tabulate import tabulate

    rows = []
    for row in table.rows:
        rows.append([_format_markdown_cell(cell, digits) for cell in row])
    text = tabulate(rows, table.columns, "pipe", disable_numparse=True)
    return "\n\n".join([*filter(None, [table.title]), text, *table.notes]) + "\n"


def _format_markdown_cell(cell: Cell, digits: int) -> str:
    text = _MARKUP.sub(r"\\\g<0>", _format_marked(cell, digits))
    if isinstance(cell, Estimate) and cell.is_best:
        text = re.sub(r"^[-.\d]+", r"**\g<0>**", text)
    return text


def _join_columns(columns: Sequence[Sequence[str]]) -> str:
    rows = zip(*columns, strict=True)
    return "\n".join("  ".join(cells).rstrip() for cells in rows)


def _format_latex(table: Table, digits: int) -> str:
    """Write a table for the package booktabs, with its notes below it.

    Where rows have several keys, the first one is a heading above each group.
    """
    first = int(table.n_keys > 1)
    alignment = ""
    for values in [*zip(*table.rows, strict=True)][first:]:
        is_text = any(isinstance(value, str) for value in values)
        alignment += "rl"[is_text]
    lines = [f"% {line}" for line in (table.title,) if line]
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    rows = [[_format_latex_cell(cell, digits) for cell in row] for row in table.rows]
    lines += [_join_latex(map(_escape_latex, table.columns[first:])), r"\midrule"]
    heading = None
    for row in rows:
        if first and row[0] != heading:
            lines += [r"\addlinespace"] * bool(heading)
            heading = row[0]
            span = rf"\multicolumn{{{len(alignment)}}}{{l}}{{\textit{{{heading}}}}}"
            lines.append(_join_latex([span]))
        lines.append(_join_latex(row[first:]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    for note in table.notes:
        lines.append(rf"\par{{\footnotesize {_escape_latex(note)}\par}}")
    return "\n".join(lines) + "\n"


def _join_latex(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _format_latex_cell(cell: Cell, digits: int) -> str:
    if not isinstance(cell, Estimate):
        return _escape_latex(format_cell(cell, digits))
    score, _, spread = cell.format(digits).partition(" ")
    text = score
    if cell.is_best:
        text = rf"\textbf{{{score}}}"
    if spread:
        text += " " + spread.replace("±", r"$\pm$")
    if cell.better_than:
        text += f"$^{{{cell.better_than}}}$"
    return text


def _escape_latex(text: str) -> str:
    from tabulate import LATEX_ESCAPE_RULES  # takes long to import, too

    return text.translate(str.maketrans(LATEX_ESCAPE_RULES))


def format_cell(cell: Cell, digits: int = 3) -> str:
    """Format a cell with `digits` decimals; a dash where it is empty."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, Estimate):
        return cell.format(digits)
    if isinstance(cell, float):
        text = f"{cell:.{digits}f}"
        # A small p value isn't 0.
        if cell and not float(text):
            text = f"{cell:.1g}"
        return text
    return escape_unprintable(str(cell))


@cache
def read_metrics() -> list[dict[str, str]]:
    """Read the list of the metrics of all tasks: a dictionary by column for each.

    They are in the order of their commands.
    """
    return read_records(Path(__file__).with_name("metrics.csv"))
