"""The small ground truth with its runs, and what the official scorer makes of them."""

from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"
TRUTH, GOOD, PARTIAL = (
    GOLDEN / "truth",
    GOLDEN / "runs" / "good.txt",
    GOLDEN / "runs" / "partial.txt",
)
