"""The plots of an experiment's result, and its page."""

from collections.abc import Sequence

from leafid.grouping import group_by
from leafid.pages import plots
from leafid.pages.rendering import render_page
from leafid.scoring.crossvalidation import Result
from leafid.scoring.tables import Table


def make_experiment_page(title: str, summary: str, results: Sequence[Result], table: Table) -> str:
    """Make a page with the table, and with plots of each collection and type; it needs no other file."""
    sections = []
    for (collection, type_), own in group_by(results, lambda row: (row.collection, row.type)).items():
        plain = [row for row in own if not row.setting]
        curves = group_by([row for row in own if row.setting], lambda row: row.protocol)
        drawn = [*([_draw_points(plain)] if plain else ()), *(_draw_curves(*item) for item in curves.items())]
        sections.append((f"{collection}, {type_}", drawn))
    return render_page("experiment.html", name=title, summary=summary, sections=sections, table=table)


def _draw_points(results: Sequence[Result]) -> tuple[str, str]:
    """Draw accuracies; returns the plot with its caption."""
    differing = [key for key in ("recipe", "protocol") if len({getattr(row, key) for row in results}) > 1]
    names = [", ".join(getattr(row, key) for key in differing or ["recipe"]) for row in results]
    about = f"{results[0].collection}, {results[0].type}"
    points = [(row.top1, *row.interval) for row in results]
    return plots.draw_points(names, {"": points}, "top-1", about), "Accuracy, with intervals."


def _draw_curves(protocol: str, results: Sequence[Result]) -> tuple[str, str]:
    curves = {
        name: ([int(row.setting.split()[0]) for row in own], [row.top1 for row in own])
        for name, own in group_by(results, lambda row: row.recipe).items()
    }
    noun = results[-1].setting.split()[-1]
    plot = plots.draw_curves(
        curves,
        f"training {noun} of each species",
        "top-1",
        about=f"{results[0].collection}, {results[0].type}, {protocol}",
        steps=sorted({number for numbers, _ in curves.values() for number in numbers}),
        has_points=True,
    )
    return plot, f"{protocol}: learning curves."
