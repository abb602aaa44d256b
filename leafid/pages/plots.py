"""The plots of pages, as images of SVG.

Drawn without pyplot, whose global state and windows nothing here needs.
"""

import base64
import io
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from leafid.pages.rendering import clean_text
from leafid.scoring.tables import Cell

# Distinguishable with any kind of colour vision (Okabe and Ito, 2008), green first.
COLOURS = ("#00785a", "#c24e00", "#0072b2", "#a85a86", "#a87000")
# Of another number than the colours, so that the two together distinguish many runs.
_MARKERS = "osD^vPX"
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
            colour, marker = (
                COLOURS[index % len(COLOURS)],
                _MARKERS[index % len(_MARKERS)],
            )
            # A label that begins with an underscore would be left out of the legend.
            label = f" {clean_text(name)}"
            axes.errorbar(
                score,
                rows,
                xerr=whiskers,
                label=label,
                color=colour,
                marker=marker,
                ls="",
                ms=4.5,
                elinewidth=1,
            )
        axes.set_yticks(range(len(names)), map(clean_text, names))
        axes.set(ylim=(len(names) - 0.5, -0.5), xlabel=x)
        axes.grid(axis="x", color="#d5dcd1")
        if len(scores) > 1:
            figure.legend(frameon=False, fontsize=9, loc="outside upper left")
        return _to_image(figure, f"{x} of {', '.join(names)}")


def draw_confusion_matrix(
    species: Sequence[str], counts: NDArray[np.intp], run: str
) -> tuple[str, str]:
    """Draw how often each species got which first answer of a run, (n, n + 1).

    The last column is of all others.

    Returns an image of HTML, and its source, SVG.
    """
    n_rows, n_columns = counts.shape
    with rc_context(fname=_STYLE):
        figure = Figure((2.5 + 0.21 * n_columns, 2.2 + 0.21 * n_rows))
        axes = figure.subplots()
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        for row, column in zip(*np.nonzero(counts), strict=True):
            colour, opacity = (
                COLOURS[int(row != column)],
                0.12 + 0.45 * shares[row, column],
            )
            axes.add_patch(
                Rectangle(
                    (column - 0.5, row - 0.5), 1, 1, color=colour, alpha=opacity, lw=0
                )
            )
            axes.text(
                column,
                row,
                str(counts[row, column]),
                ha="center",
                va="center",
                fontsize=7.5,
            )
        names = [clean_text(name) for name in species]
        axes.set_xticks(
            range(n_columns),
            [*names, "other"],
            rotation=90,
            style="italic",
            fontsize=8.5,
        )
        axes.set_yticks(range(n_rows), names, style="italic", fontsize=8.5)
        axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(n_rows - 0.5, -0.5))
        axes.set(xlabel="first answer", ylabel="correct species", aspect="equal")
        axis_words = "correct species in rows, first answers in columns"
        description = f"Confusion matrix of {run}: {axis_words}"
        return _to_image(figure, description), _to_svg(figure)


def _to_image(figure: Figure, description: str) -> str:
    """Make an image of HTML, whose source is the plot itself."""
    data = base64.b64encode(_to_svg(figure).encode()).decode()
    width, height = (round(96 * side) for side in figure.get_size_inches())
    label = escape(clean_text(description))
    size = f'width="{width}" height="{height}"'
    source = f"data:image/svg+xml;base64,{data}"
    return f'<img class="plot" alt="{label}" {size} src="{source}">'


def _to_svg(figure: Figure) -> str:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        # The reader's browser has the letters that are missing here.
        warnings.simplefilter("ignore")
        figure.savefig(
            stream,
            format="svg",
            metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
        )
    return stream.getvalue().decode()
