"""What every metric says of itself, so that all of them can be listed in one table."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from textwrap import fill
from typing import Any

from leafid.grouping import group_by
from leafid.scoring.tables import Table


@dataclass(frozen=True)
class Metric:
    """One way to judge a run. A module that implements metrics lists them as ``METRICS``."""

    #: Unique among all metrics; options take it.
    name: str
    #: What it measures, in one line.
    summary: str
    #: The function that computes it.
    compute: Callable[..., Any]
    _: KW_ONLY
    #: Where it is defined.
    citation: str
    #: The command, with its options, that prints it; empty where none does.
    command: str
    #: Its heading in that command's table, by default its name. K stands for a number.
    column: str = ""
    #: True for a score, False for an error.
    higher_is_better: bool = True
    #: The least and the greatest value that it can take; an end may be infinite.
    range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", self.column or self.name)


def make_metrics_table(metrics: Iterable[Metric]) -> Table:
    """Tabulate metrics with everything that the registry holds of them."""
    columns = ["metric", "column", "better", "range", "command", "what it is", "citation"]
    rows = [[m.name, m.column, _name_direction(m), _format_range(m), m.command, m.summary, m.citation] for m in metrics]
    return Table("", columns, rows)


def make_metrics_tables(metrics: Iterable[Metric], width: int = 100) -> list[Table]:
    """Tabulate metrics for reading: a table for each command that prints some, and the numbered sources at the end."""
    listed = list(metrics)
    citations = dict.fromkeys(metric.citation for metric in listed)
    sources = {citation: number for number, citation in enumerate(citations, start=1)}
    headings = ["metric", "column", "better", "range", "source"]
    tables = []
    for command, members in group_by(listed, lambda metric: metric.command).items():
        rows = [
            [m.name, fill(m.column, 22), _name_direction(m), _format_range(m), f"[{sources[m.citation]}]"]
            for m in members
        ]
        # The table leaves two blanks between columns, and two more after a heading.
        rest = width
        for heading, *cells in zip(headings, *rows, strict=True):
            rest -= 2 + max(len(heading) + 2, *(len(line) for cell in cells for line in cell.split("\n")))
        described = [[*row, fill(metric.summary, rest)] for row, metric in zip(rows, members, strict=True)]
        tables.append(Table(f"leafid {command}" if command else "Python only", [*headings, "what it is"], described))
    notes = [f"[{number}] {citation}" for citation, number in sources.items()]
    return [*tables[:-1], replace(tables[-1], notes=["", *notes])]


def _name_direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def _format_range(metric: Metric) -> str:
    return f"{metric.range[0]:g} to {metric.range[1]:g}"
