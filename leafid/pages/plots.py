"""The plots of pages, as SVG elements whose colours are those of the pages' style, light or dark.

They are drawn without pyplot, whose global state and window system nothing here needs.
"""

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from numpy.typing import NDArray

from leafid.pages.rendering import clean_text
from leafid.scoring.tables import Cell

# Distinguishable with any kind of colour vision (Okabe and Ito, 2008), green first.
COLOURS = ("#00785a", "#c24e00", "#0072b2", "#a85a86", "#a87000")
# Of another number than the colours, so that the two together distinguish many curves.
_MARKERS = "osD^vPX"
_INK, _SOFT, _LINE = "#1b231d", "#505c53", "#d5dcd1"
#: What stands for each colour in the style of all pages.
_VARIABLES = {colour: f"series-{number}" for number, colour in enumerate(COLOURS, 1)}
_VARIABLES |= {_INK: "ink", _SOFT: "soft", _LINE: "line"}
_STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "grid.color": _LINE,
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    # Names aren't formulas.
    "text.parse_math": False,
}
# A text that is rotated or has an anchor keeps them; the typeface is the page's.
_FONT = re.compile(r"font: ([\d.]+)px [^;\"]*|font-family: [^;\"]*;? ?")

#: A score with the ends of its interval, which are NaN where there is none.
Interval = Sequence[Cell]


def draw_points(names: Sequence[str], scores: Mapping[str, Sequence[Interval]], x: str) -> str:
    """Draw scores with their intervals, one below the other; `scores` has one for each name, by what is compared."""
    figure, axes = _make_figure(6.2, 1.2 + (0.16 + 0.12 * len(scores)) * len(names))
    for index, values in enumerate(scores.values()):
        score, low, high = np.array(values, np.float64).T
        rows = np.arange(len(names)) + 0.7 * ((index + 0.5) / len(scores) - 0.5)
        # A percentile interval need not contain the score, and a whisker can't be negative.
        whiskers = np.nan_to_num(np.maximum([score - low, high - score], 0))
        axes.errorbar(score, rows, xerr=whiskers, **_get_style(index), ls="", ms=4.5, elinewidth=1)
    axes.set_yticks(range(len(names)), map(clean_text, names))
    axes.set(ylim=(len(names) - 0.5, -0.5), xlabel=x)
    axes.grid(axis="x")
    _add_legend(figure, [*scores])
    return _to_svg(figure, f"{x} of {', '.join(names)}")


def draw_confusion_matrix(species: Sequence[str], counts: NDArray[np.intp], run: str) -> str:
    """Draw how often each species got which first answer of a run, (n, n + 1); the last column is of all others."""
    n_rows, n_columns = counts.shape
    figure, axes = _make_figure(2.5 + 0.21 * n_columns, 2.2 + 0.21 * n_rows)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for row, column in zip(*np.nonzero(counts), strict=True):
        colour, opacity = COLOURS[0 if row == column else 1], 0.12 + 0.45 * shares[row, column]
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, color=colour, alpha=opacity, lw=0))
        axes.text(column, row, str(counts[row, column]), ha="center", va="center", fontsize=7.5)
    names = [clean_text(name) for name in species]
    axes.set_xticks(range(n_columns), [*names, "other"], rotation=90, style="italic", fontsize=8.5)
    axes.set_yticks(range(n_rows), names, style="italic", fontsize=8.5)
    axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(n_rows - 0.5, -0.5), xlabel="first answer", ylabel="correct species")
    axes.set_aspect("equal")
    return _to_svg(figure, f"Confusion matrix of {run}: correct species in rows, first answers in columns")


def _get_style(index: int) -> dict[str, Any]:
    return {"color": COLOURS[index % len(COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]}


def _make_figure(width: float, height: float) -> tuple[Figure, Any]:
    with rc_context(_STYLE):
        figure = Figure((width, height), layout="constrained")
        return figure, figure.subplots()


def _add_legend(figure: Figure, names: Sequence[str]) -> None:
    """Add a legend above the plot, where it covers nothing, with these names for the colours in their order."""
    if len(names) < 2:
        return
    handles = [Line2D([], [], lw=3, **_get_style(index)) for index in range(len(names))]
    # The names are set afterwards: a label that begins with an underscore is left out.
    legend = figure.legend(handles, ["x"] * len(names), frameon=False, fontsize=9, loc="outside upper left")
    for label, text in zip(legend.get_texts(), names, strict=True):
        label.set_text(text)


def _to_svg(figure: Figure, description: str) -> str:
    """Make an SVG element whose ids differ from those of other plots; equal figures give equal text."""
    stream = io.StringIO()
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with rc_context({**_STYLE, "svg.hashsalt": repr(description)}), warnings.catch_warnings():
        # The reader's browser has the letters that are missing here.
        warnings.simplefilter("ignore")
        for text in figure.findobj(Text):
            text.set(text=clean_text(text.get_text()), parse_math=False)
        figure.savefig(stream, format="svg", transparent=True, metadata=metadata)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].replace("xlink:href", "href")
    svg = re.sub(r"<defs>\s*<style.*?</defs>", "", svg, count=1, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", svg)
    svg = _FONT.sub(lambda found: f"font-size: {found[1]}px" if found[1] else "", svg)
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    view_box = re.search(r'viewBox="[^"]+"', svg)
    assert view_box is not None
    width, height = (round(96 * side) for side in figure.get_size_inches())
    label = escape(clean_text(description))
    body = svg[svg.index(">") + 1 :]
    return f'<svg class="plot" role="img" aria-label="{label}" width="{width}" height="{height}" {view_box[0]}>{body}'
