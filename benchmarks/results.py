"""Results of benchmarks: written to a file, and compared with a baseline."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np

import leafid
from benchmarks.measure import Cost
from benchmarks.pictures import REPOSITORY
from leafid.errors import LeafidError
from leafid.files import open_output

#: Minimum relative change of a ratio that counts, however significant.
MIN_CHANGE = 0.05
#: Minimum relative change of peak memory that counts.
MIN_MEMORY_CHANGE = 0.10
_MIN_MB = 1.0


@dataclass
class Results:
    """Costs by case, and where they were measured.

    Attributes
    ----------
    costs : dict of str to Cost
        By the case's name, whose first word is the group: ``real``, ``sample``, ``command``, ``evaluate``.
    machines : dict of str to dict
        By group, what it was measured with.
    pictures : dict of str to str
        By group and type (``real/scan``), what was measured on.
    """

    costs: dict[str, Cost] = field(default_factory=dict)
    machines: dict[str, dict[str, str]] = field(default_factory=dict)
    pictures: dict[str, str] = field(default_factory=dict)

    def update(self, other: Results) -> Results:
        """Return these results updated by newer ones, without results on other pictures than theirs."""
        kept = self.select_comparable(other.pictures).costs
        return Results(
            {**kept, **other.costs}, {**self.machines, **other.machines}, {**self.pictures, **other.pictures}
        )

    def select_comparable(self, pictures: Mapping[str, str]) -> Results:
        """Select the results on the same pictures."""
        other = {start for start, text in self.pictures.items() if pictures.get(start, text) != text}
        costs = {name: cost for name, cost in self.costs.items() if "/".join(name.split("/")[:2]) not in other}
        return Results(costs, self.machines, self.pictures)


def describe_machine() -> dict[str, str]:
    """Describe the machine and the versions of what counts."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "opencv": cv2.__version__,
        "leafid": leafid.__version__ + _commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def write_results(results: Results, path: Path) -> None:
    """Write results as JSON; the same results give the same bytes."""
    plain = {
        "machines": results.machines,
        "pictures": results.pictures,
        "costs": {name: _rounded(cost) for name, cost in results.costs.items()},
    }
    with open_output(path) as stream:
        stream.write(json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def read_results(path: Path) -> Results:
    """Read what `write_results` wrote; empty where there is no file.

    Raises
    ------
    LeafidError
        If it is not such a file.
    """
    if not path.exists():
        return Results()
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        costs = {name: Cost(**values) for name, values in plain["costs"].items()}
        return Results(costs, plain["machines"], plain["pictures"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise LeafidError(
            f"{path}: expected results of scripts/benchmark, found something else ({error}); "
            "delete it, and measure anew"
        ) from error


def compare_time(now: Cost, before: Cost | None, *, least: float = MIN_CHANGE) -> str:
    """Say whether a case became slower, beyond noise.

    Parameters
    ----------
    now, before : Cost
    least : float, default 0.05
        Smaller changes of the ratio count as none.

    Returns
    -------
    {"slower", "faster", "same", "new"}
        "same" as well where the intervals of the ratios meet.
    """
    if before is None:
        return "new"
    change = now.ratio / before.ratio - 1
    apart = now.low > before.high or now.high < before.low
    if not apart or abs(change) < least:
        return "same"
    return "slower" if change > 0 else "faster"


def compare_memory(now: Cost, before: Cost | None) -> str:
    """Say whether a case needs more memory: "more", "less", "same", or "new" where it isn't known."""
    if before is None or now.peak_mb is None or before.peak_mb is None:
        return "new"
    change = now.peak_mb - before.peak_mb
    if abs(change) < max(_MIN_MB, MIN_MEMORY_CHANGE * before.peak_mb):
        return "same"
    return "more" if change > 0 else "less"


def list_regressions(now: Mapping[str, Cost], before: Mapping[str, Cost]) -> list[str]:
    """List the cases that became slower or need more memory."""
    return [
        name
        for name, cost in now.items()
        if compare_time(cost, before.get(name)) == "slower" or compare_memory(cost, before.get(name)) == "more"
    ]


def _rounded(cost: Cost) -> dict[str, float | int | None]:
    # More than four digits would be noise.
    return {name: float(f"{v:.4g}") if isinstance(v, float) else v for name, v in asdict(cost).items()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _commit() -> str:
    words = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]
    try:
        return " (" + subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() + ")"
    except (OSError, subprocess.CalledProcessError):
        return ""
