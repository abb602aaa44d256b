"""What every metric says of itself, so that all of them can be listed in one table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass


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
    """Pass over the metrics that the modules of this package offer as ``METRICS``.

    Yields
    ------
    Metric
        Module by module, in the modules' alphabetical order.
    """
    import leafid.evaluation

    for module in sorted(module.name for module in pkgutil.iter_modules(leafid.evaluation.__path__)):
        yield from getattr(importlib.import_module(f"leafid.evaluation.{module}"), "METRICS", ())
