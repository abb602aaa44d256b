"""What every metric says of itself, so that all of them can be listed in one table."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

# Named rather than imported: the tasks stand above this room.
_MODULES = (
    "leafid.tasks.annotation2016.metrics",
    "leafid.metrics.hierarchy",
    "leafid.tasks.interpretation.metric",
    "leafid.tasks.irma.metrics",
    "leafid.tasks.interpretation.localisation",
    "leafid.tasks.annotation2016.meteor",
    "leafid.metrics.plant_task",
    "leafid.metrics.set_scores",
)


@dataclass(frozen=True, slots=True)
class Metric:
    """One way to judge a run.

    Attributes
    ----------
    name : str
        As tables and options write it.
    higher_is_better : bool
        True for a score, False for an error.
    range : tuple of float
        The least and the greatest value that it can take; an end may be infinite.
    citation : str
        Where it is defined.
    summary : str
        What it measures, in one line.
    """

    name: str
    higher_is_better: bool
    range: tuple[float, float]
    citation: str
    summary: str


def every_metric() -> Iterator[Metric]:
    """Pass over the metrics of all tasks, module by module."""
    for module in _MODULES:
        yield from importlib.import_module(module).METRICS
