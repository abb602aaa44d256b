"""The report's plots, as SVG in data URLs, so that the page needs no other file; equal figures give equal bytes."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leafid.collection.statistics import gini_index, lorenz_curve
from leafid.report.facts import ReliabilityCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable with any kind of colour vision (Okabe and Ito, 2008), green first.
COLOURS = ("#00785a", "#d55e00", "#0072b2", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9aa39c",
    "axes.labelcolor": "#3c443e",
    "xtick.color": "#3c443e",
    "ytick.color": "#3c443e",
    "grid.color": "#e3e7e1",
    "axes.axisbelow": True,
    "svg.hashsalt": "leafid",
}


def draw_score_bars(
    types: Sequence[str], scores: Mapping[str, Sequence[tuple[float, float, float]]], title: str = "S"
) -> str:
    """Draw the score of each run on each type, with its interval: (score, low, high), low and high NaN without one."""
    figure, axes = _make_figure(1.6 + 1.5 * len(types), 3.1)
    width = 0.72 / len(scores)
    for index, values in enumerate(scores.values()):
        height, low, high = np.array(values, np.float64).T
        centres = np.arange(len(types)) + (index - (len(scores) - 1) / 2) * width
        axes.bar(centres, height, width * 0.92, color=COLOURS[index % len(COLOURS)], label=str(index))
        known = ~np.isnan(low)
        if known.any():
            # A percentile interval need not contain the score, and a whisker can't be negative.
            whiskers = np.maximum(np.array([height - low, high - height])[:, known], 0)
            axes.errorbar(centres[known], height[known], whiskers, fmt="none", ecolor="#222", capsize=3, lw=1)
        for x, value, top in zip(centres, height, np.where(known, np.maximum(high, height), height), strict=True):
            if not np.isnan(value):
                axes.text(x, top + 0.02, f"{value:.2f}", ha="center", va="bottom", fontsize=9 if len(scores) < 4 else 7)
    axes.set_xticks(range(len(types)), types)
    axes.set(ylim=(0, 1.12), ylabel=title, yticks=np.linspace(0, 1, 6))
    axes.grid(axis="y")
    if len(scores) > 1:
        _add_legend(axes, scores)
    return _to_data_url(figure)


def draw_rank_curves(curves: Mapping[str, NDArray[np.float64]]) -> str:
    """Draw curves of `leafid.report.facts.compute_rank_curve`."""
    figure, axes = _make_figure(5.2, 3.1)
    for index, curve in enumerate(curves.values()):
        k = np.arange(1, len(curve) + 1)
        axes.plot(k, curve, "o-", ms=3.5, lw=1.6, color=COLOURS[index % len(COLOURS)], label=str(index))
    deepest = max(map(len, curves.values()))
    axes.set(ylim=(0, 1.03), xlim=(0.6, deepest + 0.4), xlabel="first k answers", ylabel="correct species among them")
    axes.set_xticks(sorted({1, *range(5, deepest + 1, 5)}) if deepest > 10 else range(1, deepest + 1))
    axes.grid()
    _add_legend(axes, curves, "lower right", columns=1)
    return _to_data_url(figure)


def draw_lorenz_curves(counts: Mapping[str, Sequence[int]]) -> str:
    """Draw the share of pictures that the species with the fewest hold, from their numbers of pictures."""
    figure, axes = _make_figure(4.2, 3.6)
    axes.plot([0, 1], [0, 1], "--", color="#9aa39c", lw=1)
    for index, (name, numbers) in enumerate(counts.items()):
        species_share, picture_share = lorenz_curve(numbers)
        title = f"{name}, Gini {gini_index(numbers):.2f}"
        axes.plot(species_share, picture_share, "-", color=COLOURS[index % len(COLOURS)], lw=1.6, label=title)
    axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="share of species, fewest pictures first", ylabel="share of pictures")
    axes.grid()
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return _to_data_url(figure)


def draw_reliability(curves: Mapping[str, ReliabilityCurve]) -> str:
    """Draw how often predictions of about the same probability are correct, and how many there are."""
    figure, axes = _make_figure(4.2, 3.6)
    axes.plot([0, 1], [0, 1], "--", color="#9aa39c", lw=1)
    for index, curve in enumerate(curves.values()):
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(curve.probability, curve.accuracy, "-", color=colour, lw=1.4, label=str(index))
        area = 12 + 160 * curve.count / curve.count.sum()
        axes.scatter(
            curve.probability, curve.accuracy, area, color=colour, alpha=0.85, edgecolor="white", lw=0.6, zorder=3
        )
    axes.set(xlim=(-0.02, 1.03), ylim=(-0.02, 1.03), xlabel="probability of the first answer", ylabel="share correct")
    axes.grid()
    if len(curves) > 1:
        _add_legend(axes, curves, "upper left")
    return _to_data_url(figure)


def _make_figure(width: float, height: float) -> tuple[Figure, Axes]:
    # Without pyplot, whose global state and window system nothing here needs.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure((width, height), layout="constrained")
        return figure, figure.subplots()


def _add_legend(axes: Axes, names: Iterable[str], location: str = "upper right", columns: int | None = None) -> None:
    """Add a legend with these names, in the order in which the series were drawn.

    The series themselves are labelled by numbers: matplotlib leaves series out of the legend whose label begins with an
    underscore, and would read dollar signs as formulas.
    """
    texts = [*names]
    legend = axes.legend(frameon=False, fontsize=9, loc=location, ncols=columns or (2 if len(texts) > 3 else 1))
    for label, text in zip(legend.get_texts(), texts, strict=True):
        label.set_parse_math(False)
        label.set_text(text)


def _to_data_url(figure: Figure) -> str:
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(stream.getvalue()).decode()}"
