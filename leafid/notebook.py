"""What a notebook shows of an object: HTML, by a macro of `notebook.html`, and outlines on axes of Matplotlib."""

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from leafid.errors import escape_unprintable


class Shown:
    """An object that a notebook shows by the macro that is called as its class."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(getattr(_load_macros(), type(self).__name__)(self))


@cache
def _load_macros() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only a notebook needs it

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.finalize = lambda value: escape_unprintable(value) if type(value) is str else value
    environment.filters["jpeg"] = lambda data: f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
    return environment.get_template("notebook.html").module


def plot_outlines(image: Any, parts: Mapping[str, Sequence[Any]], ax: Any = None) -> Any:
    """Draw polygons of columns and rows, by their colour, over an array, RGB or a mask; return the axes of Matplotlib.

    The axes are the current ones by default.
    """
    from matplotlib import pyplot  # takes a second to import

    axes = ax or pyplot.gca()
    axes.imshow(image, cmap="gray", extent=(0, image.shape[1], image.shape[0], 0))
    for colour, polygons in parts.items():
        for polygon in polygons:
            axes.plot(*zip(*polygon, polygon[0], strict=True), color=colour)
    axes.set_axis_off()
    return axes
