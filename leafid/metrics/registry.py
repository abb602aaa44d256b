"""What every metric says of itself, so that all of them can be listed in one table."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any


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
