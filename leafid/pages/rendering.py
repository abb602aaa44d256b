"""Renders the templates of all pages, which share one style, and of long texts."""

import re
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

from tabulate import tabulate

import leafid
from leafid.errors import escape_unprintable
from leafid.model.answer import format_probability
from leafid.notebook import make_environment
from leafid.scoring.tables import WIDTH, format_cell
from leafid.translation import (
    format_number,
    get_language,
    join_clauses,
    look_up,
    translate,
)

_FOLDER = Path(__file__).parent
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def render_page(template: str, **values: Any) -> str:
    """Render a template of `leafid/pages/templates` with these values."""
    return make_page_environment().get_template(template).render(**values)


@cache
def make_page_environment(*folders: Path) -> Any:
    """Make the environment of the templates, with the filters of all pages.

    Templates in `folders` take the place of templates here of the same name.
    """
    environment = make_environment(
        *folders, _FOLDER / "templates", _FOLDER / "static", finalize=clean_text
    )
    environment.globals |= {
        "version": leafid.__version__,
        "language": get_language,
        "translate": translate,
        "look_up": look_up,
        "format_range": format_range,
        "join_clauses": join_clauses,
    }
    environment.filters |= {
        "percent": format_share,
        "probability": format_probability,
        "trait": format_trait,
        "cell": format_cell,
        "printable": escape_unprintable,
        "wrap": wrap,
        "align": align,
    }
    return environment


def wrap(sentence: str) -> str:
    """Wrap a sentence, which gets its full stop, to the width of text tables."""
    return fill(sentence.rstrip(".") + ".", WIDTH - 2)


def align(text: str) -> str:
    """Align lines whose cells are separated by bars; the first one is the heading."""
    rows = [line.split(" | ") for line in text.splitlines()]
    lines = tabulate(rows, "firstrow", "plain").splitlines()
    return "\n".join(map(str.rstrip, lines))


def clean_text(text: str) -> str:
    """Replace what no page can hold: lone surrogates and control characters.

    File names and metadata have them.
    """
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def format_share(share: float) -> str:
    """Format a share as a percentage, which is never rounded to 0% or 100%."""
    if share in {0, 1}:
        return format_number(share, ".0%")
    return format_probability(share)


def format_range(low: float, high: float, unit: str) -> str:
    """Format a range of a trait's values, which may be one value."""
    first = format_trait(low, unit)
    last = format_trait(high, unit)
    if first == last:
        return first
    return translate(
        "{low} to {high}", low=first.removesuffix(unit).rstrip(), high=last
    )


def format_trait(value: float, unit: str) -> str:
    """Format a trait's value with its unit, in two digits or whole degrees."""
    is_whole = unit == "°" or abs(value) >= 10 or not value
    if unit == "%":
        return format_number(value / 100, (".1%", ".0%")[is_whole])
    return format_number(value, (".2g", ".0f")[is_whole]) + unit
