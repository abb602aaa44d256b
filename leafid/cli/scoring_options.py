"""The options of all commands that compute scores.

They are apart from other options, as the metrics take long to import.
"""

from typing import Any

from leafid.cli.arguments import SEED, list_type, nonempty_word, number_type, option
from leafid.scoring.resampling import Bootstrap


class ScoringOptions:
    """Options that say which scores are computed, and how they are shown."""

    metrics: list[str] | None = option(
        "the scores to show; 'leafid evaluate --list' lists all (default: "
        "S,top-1,top-5)",
        metavar="NAME,…",
        type=list_type(nonempty_word),
    )
    digits: int = option(
        "decimals in text and LaTeX (default: 3)",
        type=number_type(1, 15, int),
        default=3,
    )
    intervals: Any = option(
        "what follows a score: the bounds of its interval, its standard error, or "
        "nothing (default: bounds)",
        choices=("bounds", "error", "none"),
        default="bounds",
    )
    confidence: float = option(
        "confidence level of the intervals (default: 0.95)",
        metavar="SHARE",
        type=number_type(0, 0.999999, has_zero=False),
        default=0.95,
    )
    resamples: int = option(
        "resamples for intervals and tests (default: 10000)",
        type=number_type(1, 1_000_000, int),
        default=10_000,
    )
    seed: int = SEED

    def as_arguments(self) -> dict[str, Any]:
        """Return the arguments of `leafid.evaluate`."""
        return {
            "metrics": self.metrics,
            "intervals": self.intervals,
            "bootstrap": Bootstrap(self.resamples, self.confidence, self.seed),
        }
