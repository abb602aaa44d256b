"""Tables, written as text, CSV, JSON or LaTeX; and the list of all metrics."""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leafid.errors import UsageError, escape_unprintable

Cell = str | int | float | None

#: The formats that `render` writes.
FORMATS = ("text", "csv", "json", "latex")
#: Width of a terminal: text tables avoid longer lines.
WIDTH = 120

_TABULATE = {"text": "simple", "latex": "latex_booktabs"}


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


def render(tables: Sequence[Table], form: str = "text", digits: int = 4) -> str:
    """Write tables in one of the `FORMATS`, with `digits` decimals in text and LaTeX.

    A text table that is wider than `WIDTH` is set closer. CSV has an empty line between tables and no titles or notes;
    JSON is a list of objects with `title`, `rows` (an object each) and `notes`. Both have 15 digits of a number, all
    that are sure after some arithmetic, and no value for NaN.

    Examples
    --------
    >>> print(render([Table("", ["run", "S"], [["a.txt", 0.5]])]), end="")
    run         S
    -----  ------
    a.txt  0.5000
    """
    if form == "csv":
        return "\n".join(format_csv([table.columns, *table.rows]) for table in tables)
    if form == "json":
        objects = [
            {
                "title": table.title,
                "rows": [dict(zip(table.columns, map(_clean_number, row), strict=True)) for row in table.rows],
                "notes": list(table.notes),
            }
            for table in tables
        ]
        return json.dumps(objects, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return "\n".join(_format_table(table, form, digits) for table in tables)


def choose_tables(tables: Sequence[Table], form: str, number: int | None) -> Sequence[Table]:
    """Choose the table with a number from 1 up, or all; raise `UsageError` where CSV would hold several."""
    if number is None and (form != "csv" or len(tables) == 1):
        return tables
    if number is None or number > len(tables):
        titles = ", ".join(f"{position} {table.title}" for position, table in enumerate(tables, 1))
        chosen = f"--table {number}" if number else "several tables for a CSV"
        raise UsageError(f"expected one table, found {chosen}; choose one with --table N: {titles}")
    return [tables[number - 1]]


def format_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Write rows as CSV; cells that a spreadsheet would take for a formula are escaped, NaN is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_escape_formula(_clean_number(cell)) for cell in row] for row in rows)
    return stream.getvalue()


def _escape_formula(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "@", "\t", "\r")) else cell


def _clean_number(cell: Cell) -> Cell:
    """Drop NaN, and the digits of a float that are rounding errors."""
    if not isinstance(cell, float):
        return cell
    return float(f"{cell:.15g}") if math.isfinite(cell) else None


def _format_table(table: Table, form: str, digits: int) -> str:
    from tabulate import tabulate  # many commands need the list of formats, few a table

    is_text = [any(isinstance(row[column], str) for row in table.rows) for column in range(len(table.columns))]
    rows = [[format_cell(cell, digits) for cell in row] for row in table.rows]
    # Cells are formatted before: tabulate would also take a run named 1e5 for a number.
    alignment = ["left" if text else "right" for text in is_text] if rows else None
    keywords = {"disable_numparse": True, "colalign": alignment}
    text = tabulate(rows, list(table.columns), _TABULATE[form], **keywords)
    if form == "latex":
        return "".join(f"% {line}\n" for line in (table.title, *table.notes) if line) + text + "\n"
    if max(map(len, text.split("\n"))) > WIDTH:
        # tabulate pads headings, but not cells.
        widths = [max(map(len, column)) for column in zip(table.columns, *rows, strict=True)]
        text = tabulate([table.columns, ["-" * width for width in widths], *rows], (), "plain", **keywords)
    return "\n".join([*filter(None, [table.title]), text, *table.notes]) + "\n"


def format_cell(cell: Cell, digits: int = 3) -> str:
    """Format a cell with `digits` decimals; a dash where it is empty."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    # A cell may have several lines.
    return escape_unprintable(str(cell), keep="\n")


def read_metrics() -> list[dict[str, str]]:
    """Read the list of all metrics of all tasks, a dictionary by column for each, in the order of their commands."""
    text = Path(__file__).with_name("metrics.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
