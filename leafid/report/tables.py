"""Writes tables as text, CSV, JSON, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | None

#: The formats that `render` writes.
FORMATS = ("text", "csv", "json", "markdown", "latex")

_TABULATE = {"text": "simple", "markdown": "github", "latex": "latex_booktabs"}


@dataclass(frozen=True)
class Table:
    """A titled table.

    Attributes
    ----------
    title : str
    columns : sequence of str
        Headings, each once.
    rows : sequence of sequences
        Cells: text, numbers, or None where there is nothing to say; as many as columns.
    notes : sequence of str
        What a reader must know besides: seeds, what was left out.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise ValueError(f"expected headings that differ, found {list(self.columns)}")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"expected {len(self.columns)} cells a row, found {len(row)}: {row!r}")


def render(tables: Sequence[Table], form: str = "text", digits: int = 4) -> str:
    r"""Write tables in one of the `FORMATS`.

    Parameters
    ----------
    tables : sequence of Table
    form : {"text", "csv", "json", "markdown", "latex"}, default "text"
        CSV has an empty line between tables and no titles or notes; JSON is a list of objects with `title`, `rows`
        (an object each) and `notes`. Both have all digits of a number, and no value for NaN.
    digits : int, default 4
        Decimals in text, Markdown and LaTeX.

    Returns
    -------
    str
        With a line feed at its end.

    Raises
    ------
    ValueError
        When the format isn't known.

    Examples
    --------
    >>> print(render([Table("", ["run", "S"], [["a.txt", 0.5]])]), end="")
    run         S
    -----  ------
    a.txt  0.5000
    """
    if form == "csv":
        return "\n".join(_csv(table) for table in tables)
    if form == "json":
        return json.dumps([_object(table) for table in tables], ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if form not in _TABULATE:
        raise ValueError(f"expected a table format ({', '.join(FORMATS)}), found {form!r}")
    return "\n".join(_drawn(table, form, digits) for table in tables)


def _csv(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_plain(cell) for cell in row] for row in table.rows])
    return stream.getvalue()


def _object(table: Table) -> dict[str, object]:
    rows = [dict(zip(table.columns, map(_plain, row), strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows, "notes": list(table.notes)}


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _drawn(table: Table, form: str, digits: int) -> str:
    from tabulate import tabulate

    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    # Numbers are written before they get there: tabulate would also take a run named 1e5 for a number.
    aligned = ["left" if any(isinstance(cell, str) for cell in column) else "right" for column in columns]
    text = tabulate(
        [[_written(cell, digits) for cell in row] for row in table.rows],
        headers=list(table.columns),
        tablefmt=_TABULATE[form],
        disable_numparse=True,
        colalign=aligned if table.rows else None,
    )
    title, notes = table.title, list(table.notes)
    if form == "latex":
        return "".join([f"% {line}\n" for line in [title, *notes] if line]) + text + "\n"
    if form == "markdown":
        title = f"**{title}**\n" if title else ""
        text = f"{text}\n" if notes else text
    return "\n".join([part for part in (title, text) if part] + notes) + "\n"


def _written(cell: Cell, digits: int) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return str(cell)
