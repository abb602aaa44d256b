"""The plots of pages, as SVG.

Drawn without pyplot, whose global state and windows nothing here needs.
"""

import io
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

from leafid.pages.rendering import clean_text
from leafid.scoring.curves import draw_curves
from leafid.scoring.tables import Cell, Table

_STYLE = Path(__file__).with_name("plots.mplstyle")

#: A score with the ends of its interval, which are NaN where there is none.
Interval = Sequence[Cell]


def draw_points(
    names: Sequence[str], scores: Mapping[str, Sequence[Interval]], x: str
) -> str:
    """Draw scores with their intervals, one below the other.

    `scores` has one for each name, by what is compared.
    """
    with rc_context(fname=_STYLE):
        figure = Figure((6.2, 1.2 + (0.16 + 0.12 * len(scores)) * len(names)))
        axes = figure.subplots()
        for index, (name, values) in enumerate(scores.items()):
            score, low, high = np.array(values, np.float64).T
            rows = np.arange(len(names)) + 0.7 * ((index + 0.5) / len(scores) - 0.5)
            # A percentile interval need not contain the score, and a whisker can't be
            # negative.
            whiskers = np.nan_to_num(np.maximum([score - low, high - score], 0))
            # A label that begins with an underscore would be left out of the legend.
            axes.errorbar(score, rows, xerr=whiskers, label=f" {clean_text(name)}")
        axes.set_yticks(range(len(names)), map(clean_text, names))
        axes.set(ylim=(len(names) - 0.5, -0.5), xlabel=x)
        axes.grid(axis="x")
        if len(scores) > 1:
            figure.legend(loc="outside upper left")
        return _to_svg(figure)


def draw_curve_plot(table: Table) -> str:
    """Draw the curves of a table of `make_curve_table`."""
    with rc_context(fname=_STYLE):
        figure = Figure((4.6, 4.2))
        draw_curves(table, figure.subplots())
        return _to_svg(figure)


def draw_confusion_matrix(species: Sequence[str], counts: NDArray[np.intp]) -> str:
    """Draw how often each species got which first answer of a run, (n, n + 1).

    The last column is of all others.
    """
    n_rows, n_columns = counts.shape
    with rc_context(fname=_STYLE):
        figure = Figure((2.5 + 0.21 * n_columns, 2.2 + 0.21 * n_rows))
        axes = figure.subplots()
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        # Correct answers, on the diagonal, have colours of one end of the map, wrong
        # answers of the other. Text stays readable on half of the range.
        shares[~np.eye(n_rows, n_columns, dtype=bool)] *= -1
        axes.imshow(shares, cmap="BrBG", vmin=-2, vmax=2)
        for row, column in np.argwhere(counts):
            count = str(counts[row, column])
            axes.text(column, row, count, ha="center", va="center", fontsize=7.5)
        names = [clean_text(name) for name in [*species, "other"]]
        axes.set_xticks(range(n_columns), names, rotation=90, style="italic")
        axes.set_yticks(range(n_rows), names[:-1], style="italic")
        axes.tick_params(labelsize=8.5)
        axes.set(xlabel="first answer", ylabel="correct species")
        return _to_svg(figure)


def draw_ranks(mean_ranks: Any, p_values: Any, critical_difference: float) -> str:
    """Draw the critical difference diagram of mean ranks, with scikit-posthocs.

    Crossbars join runs that don't differ. The ranks are a series by run, the p values
    a frame of these.
    """
    lines = {"linestyle": "-", "marker": ""}
    with rc_context({"axes.spines.top": True}, fname=_STYLE):
        figure = Figure((6.2, 1.5 + 0.2 * len(mean_ranks)))
        axes = figure.subplots()
        # The bar above the axis leaves little room for its numbers.
        axes.tick_params(labelsize=7, length=2, pad=1)
        import_module("scikit_posthocs").critical_difference_diagram(
            mean_ranks.rename(clean_text),
            p_values.rename(clean_text).rename(columns=clean_text),
            cd=critical_difference,
            ax=axes,
            label_fmt_left="{label} ({rank:.2f})",
            label_fmt_right="({rank:.2f}) {label}",
            elbow_props=lines,
            crossbar_props=lines,
        )
        return _to_svg(figure)


def _to_svg(figure: Figure) -> str:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        # The reader's browser has the letters that are missing here.
        warnings.simplefilter("ignore")
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue().decode()
