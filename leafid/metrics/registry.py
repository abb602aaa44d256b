"""What every metric says of itself, so that all of them can be listed in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """One way to judge a run. A module that implements metrics lists them as ``METRICS``.

    Attributes
    ----------
    name : str
        Unique among all metrics; options take it.
    summary : str
        What it measures, in one line.
    compute : callable
        The function that computes it.
    citation : str
        Where it is defined.
    command : str
        The command, with its options, that prints it; empty where none does.
    column : str
        Its heading in that command's table, by default its name. K stands for a number.
    higher_is_better : bool
        True for a score, False for an error.
    range : tuple of float
        The least and the greatest value that it can take; an end may be infinite.
    """

    name: str
    summary: str
    compute: Callable[..., Any]
    _: KW_ONLY
    citation: str
    command: str
    column: str = ""
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", self.column or self.name)
