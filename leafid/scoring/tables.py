"""Tables, written as text, CSV, JSON, Markdown or LaTeX; and what every metric says of itself, for a table of all."""

import csv
import html
import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import Any

from tabulate import tabulate

from leafid.errors import UsageError, escape_unprintable
from leafid.grouping import group_by
from leafid.textfiles import escape_formula

Cell = str | int | float | None

#: The formats that `render` writes.
FORMATS = ("text", "csv", "json", "markdown", "latex")
#: Maximum length of a line of a text table; a single column may be longer.
WIDTH = 120

_TABULATE = {"text": "simple", "markdown": "github", "latex": "latex_booktabs"}


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

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise ValueError(f"expected headings that differ, found {list(self.columns)}")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"expected {len(self.columns)} cells a row, found {len(row)}: {row!r}")


def render(tables: Sequence[Table], form: str = "text", digits: int = 4) -> str:
    """Write tables in one of the `FORMATS`, with `digits` decimals in text, Markdown and LaTeX.

    Text has lines of at most `WIDTH` characters: a wider table is set closer, or continued below. CSV has an empty line
    between tables and no titles or notes; JSON is a list of objects with `title`, `rows` (an object each) and `notes`.
    Both have 15 digits of a number, all that are sure after some arithmetic, and no value for NaN.

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
        return json.dumps([_to_object(table) for table in tables], ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if form not in _TABULATE:
        raise ValueError(f"expected a table format ({', '.join(FORMATS)}), found {form!r}")
    return "\n".join(_format_table(table, form, digits) for table in tables)


def choose_tables(tables: Sequence[Table], form: str, number: int | None) -> Sequence[Table]:
    """Choose the table with a number from 1 up, or all; raise `UsageError` where CSV would hold several."""
    if number is None and (form != "csv" or len(tables) == 1):
        return tables
    if number is None or number > len(tables):
        titles = ", ".join(f"{position} {table.title or 'summary'}" for position, table in enumerate(tables, 1))
        found = f"--table {number}" if number else "several tables for a CSV"
        raise UsageError(f"expected one table, found {found}; choose one with --table N: {titles}")
    return [tables[number - 1]]


def format_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Write rows as CSV; cells that a spreadsheet would take for a formula are escaped, NaN is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([escape_formula(_clean_number(cell)) for cell in row] for row in rows)
    return stream.getvalue()


def _to_object(table: Table) -> dict[str, object]:
    rows = [dict(zip(table.columns, map(_clean_number, row), strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows, "notes": list(table.notes)}


def _clean_number(cell: Cell) -> Cell:
    """Drop NaN, and the digits of a float that are rounding errors."""
    if not isinstance(cell, float):
        return cell
    return float(f"{cell:.15g}") if math.isfinite(cell) else None


def _format_table(table: Table, form: str, digits: int) -> str:
    if form == "markdown":
        table = _escape_markdown(table)
    title, notes = table.title, list(table.notes)
    text = _format_cells(table, form, digits)
    if form == "text" and _measure_width(text) > WIDTH:
        text = _format_narrow(table, digits)
    if form == "latex":
        return "".join([f"% {line}\n" for line in [title, *notes] if line]) + text + "\n"
    if form == "markdown":
        title = f"**{title}**\n" if title else ""
        text = f"{text}\n" if notes else text
    return "\n".join([part for part in (title, text) if part] + notes) + "\n"


def _escape_markdown(table: Table) -> Table:
    """Escape what Markdown would take for HTML or for the end of a cell."""

    def escape(text: str) -> str:
        return html.escape(text, quote=False).replace("|", r"\|")

    rows = [[escape(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows]
    return Table(escape(table.title), [*map(escape, table.columns)], rows, [*map(escape, table.notes)])


def _format_cells(table: Table, form: str, digits: int, *, close: bool = False) -> str:
    """Format headings and rows; `close` leaves no blanks after a heading that is longer than its cells."""
    is_text = [any(isinstance(row[column], str) for row in table.rows) for column in range(len(table.columns))]
    rows = [[format_cell(cell, digits) for cell in row] for row in table.rows]
    headings = list(table.columns)
    if close:
        # tabulate pads headings, but not cells.
        widths = [max(map(_measure_width, column)) for column in zip(headings, *rows, strict=True)]
        rows = [headings, ["-" * width for width in widths], *rows]
    return tabulate(
        rows,
        headers=() if close else headings,
        tablefmt="plain" if close else _TABULATE[form],
        # Cells are formatted before: tabulate would also take a run named 1e5 for a number.
        disable_numparse=True,
        colalign=["left" if text else "right" for text in is_text] if rows else None,
    )


def _format_narrow(table: Table, digits: int) -> str:
    """Format a table that is too wide as text: with closer columns, continued below where that isn't enough."""
    n_columns, n_keys = len(table.columns), 1
    while n_keys < n_columns - 1 and all(isinstance(row[n_keys], str) for row in table.rows):
        n_keys += 1

    def format_part(start: int, end: int) -> str:
        kept = [*range(n_keys), *range(start, end)]
        rows = [[row[column] for column in kept] for row in table.rows]
        return _format_cells(Table("", [table.columns[column] for column in kept], rows), "text", digits, close=True)

    # A score and its interval stay together.
    starts = [c for c in range(n_keys, n_columns) if not table.columns[c].endswith((" low", " high"))] + [n_columns]
    blocks = []
    while len(starts) > 1:
        fitting = [n for n, end in enumerate(starts) if n and _measure_width(format_part(starts[0], end)) <= WIDTH]
        n_taken = max(fitting, default=1)
        blocks.append(format_part(starts[0], starts[n_taken]))
        starts = starts[n_taken:]
    return "\n\n".join(blocks)


def _measure_width(text: str) -> int:
    return max(map(len, text.split("\n")))


def format_cell(cell: Cell, digits: int = 3) -> str:
    """Format a cell with `digits` decimals; a dash where it is empty."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    # A cell may have several lines.
    return escape_unprintable(str(cell), keep="\n")


@dataclass(frozen=True)
class Metric:
    """One way to judge a run. A module that implements metrics lists them as ``METRICS``."""

    #: Unique among all metrics; options take it.
    name: str
    #: What it measures, in one line.
    summary: str
    #: The function that computes it, where there is one.
    compute: Callable[..., Any] | None = None
    _: KW_ONLY
    #: Where it is defined.
    citation: str
    #: The command, with its options, that prints it.
    command: str
    #: Its heading in that command's table, where it isn't the name. K stands for a number.
    column: str = ""
    #: True for a score, False for an error.
    higher_is_better: bool = True
    #: The least and the greatest value that it can take; an end may be infinite.
    range: tuple[float, float] = (0.0, 1.0)


def make_metrics_table(metrics: Iterable[Metric]) -> Table:
    """Tabulate metrics with everything that they say of themselves."""
    columns = ["metric", "column", "better", "range", "command", "what it is", "citation"]
    rows = [
        [
            *(m.name, m.column or m.name, "higher" if m.higher_is_better else "lower"),
            *(f"{m.range[0]:g} to {m.range[1]:g}", m.command, m.summary, m.citation),
        ]
        for m in metrics
    ]
    return Table("", columns, rows)


def make_metrics_tables(metrics: Iterable[Metric]) -> list[Table]:
    """Tabulate metrics for reading: a table for each command that prints some, with their sources below it."""
    tables = []
    for command, members in group_by(metrics, lambda metric: metric.command).items():
        whole = make_metrics_table(members)
        kept = ("metric", "column", "better", "range", "what it is")
        widths = {"column": 22, "what it is": 30}
        cells = [dict(zip(whole.columns, row, strict=True)) for row in whole.rows]
        rows = [[fill(str(row[name]), widths.get(name, 100)) for name in kept] for row in cells]
        sources = group_by(members, lambda metric: metric.citation)
        notes = [fill(f"{', '.join(own.name for own in found)}: {source}", 100) for source, found in sources.items()]
        tables.append(Table(f"leafid {command}", kept, rows, notes))
    return tables
