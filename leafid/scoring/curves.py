"""Curves of runs: of reliability, of withheld answers, and of unknown species."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from leafid.errors import LeafidError, UsageError
from leafid.grouping import group_by
from leafid.metrics.averages import Floats
from leafid.metrics.confidence import open_set_curve, reliability_curve
from leafid.notebook import get_axes
from leafid.scoring.evaluation import Records, RunsLike, TruthLike, read_and_judge
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import score_selectively, split_scores
from leafid.scoring.reading.inputs import to_ground_truth
from leafid.scoring.tables import Rows, Table

# Number of markers on a line, by which runs are distinguished in print.
_MARKERS = 15


def _compute_reliability(run: JudgedRun) -> Sequence[Floats]:
    run.check_probabilities("reliability")
    known = run.select(run.is_known)
    return reliability_curve(known.first_score, known.rank == 1)


def _compute_risk(run: JudgedRun) -> Sequence[Floats]:
    risks = 1 - score_selectively(run)
    return np.arange(1, len(risks) + 1) / len(risks), risks


def _compute_open_set(run: JudgedRun) -> Sequence[Floats]:
    if run.is_known.all():
        raise LeafidError("expected pictures of unknown species, found none")
    return open_set_curve(*split_scores(run), run.rank[run.is_known] == 1)


#: By the names of curves: the columns of points, the first two of them the axes, and
#: what computes the columns.
CURVES: dict[str, tuple[Sequence[str], Callable[[JudgedRun], Sequence[Floats]]]] = {
    "reliability": (("confidence", "accuracy", "pictures"), _compute_reliability),
    "risk-coverage": (("coverage", "risk"), _compute_risk),
    "open-set": (("false positive rate", "correct rate"), _compute_open_set),
}


class Curves(Records):
    """The points of curves as dictionaries, as `Records` are."""

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default the current axes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        axes = get_axes(ax)
        draw_curves(self.table, axes)
        return axes


def compute_curves(
    truth: TruthLike, runs: RunsLike, kind: str = "reliability"
) -> Curves:
    """Compute a curve of each run.

    Parameters
    ----------
    truth, runs
        As in `evaluate`.
    kind : {"reliability", "risk-coverage", "open-set"}, default "reliability"
        Which curve. "reliability" is the accuracy by confidence, in 15 bins of equal
        width. "risk-coverage" is the share of wrong answers where only the most
        confident are given, by their share of the pictures. "open-set" is the share of
        known pictures that are named correctly, by the share of pictures of unknown
        species that get a name, at all thresholds.

    Returns
    -------
    list of dict
        A record for each point of each "run", with "confidence", "accuracy" and
        "pictures", with "coverage" and "risk", or with "false positive rate" and
        "correct rate". It can be drawn with `plot`.

    Raises
    ------
    LeafidError
        When there is no such curve, or something is wrong with the ground truth or a
        run, such as scores that are no probabilities for "reliability", or no pictures
        of unknown species for "open-set".

    Examples
    --------
    >>> run = {"1.jpg": {"Acer opalus": 0.9}, "2.jpg": {"Acer opalus": 0.5}}
    >>> truth = {"1.jpg": "Acer opalus", "2.jpg": "Quercus ilex"}
    >>> compute_curves(truth, run, "risk-coverage")[-1]
    {'run': 'run', 'coverage': 1.0, 'risk': 0.5}
    """
    if kind not in CURVES:
        raise UsageError(f"expected a curve ({', '.join(CURVES)}), found {kind!r}")
    ground_truth = to_ground_truth(truth)
    _, judged = read_and_judge(runs, ground_truth)
    return Curves(make_curve_table(kind, judged))


def make_curve_table(kind: str, runs: Sequence[JudgedRun]) -> Table:
    """Tabulate the points of one of `CURVES` of each run.

    A `LeafidError` is raised where a run has no such curve.
    """
    columns, compute = CURVES[kind]
    rows: Rows = []
    for run in runs:
        points = np.column_stack(compute(run)).tolist()
        rows += [[run.title, *point] for point in points]
    return Table(f"Curves: {kind}", ["run", *columns], rows)


def draw_curves(table: Table, axes: Any) -> None:
    """Draw the curves of a table of `make_curve_table` on axes of Matplotlib."""
    _, x, y = table.columns[:3]
    if y == "accuracy":
        # Confidences that are reliable are on the diagonal.
        axes.axline((0, 0), slope=1, color="grey", marker="", linestyle=":")
    for run, points in group_by(table.rows, itemgetter(0)).items():
        _, xs, ys, *_ = zip(*points, strict=True)
        step = -(-len(xs) // _MARKERS)
        # A label that begins with an underscore would be left out of the legend.
        axes.plot(xs, ys, "-", marker="o", markevery=step, label=f" {run}")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=x, ylabel=y)
    axes.legend()
