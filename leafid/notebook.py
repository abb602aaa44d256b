"""Objects in notebooks: HTML by a macro of `notebook.html`, outlines by Matplotlib."""

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from leafid.errors import escape_unprintable


class NotebookMixin:
    """An object that a notebook shows by the macro that is called as its class."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        environment = make_environment(
            Path(__file__).parent, finalize=escape_unprintable
        )
        return str(
            getattr(
                environment.get_template("notebook.html").module, type(self).__name__
            )(self)
        )


@cache
def make_environment(*folders: Path, finalize: Callable[[str], str]) -> Any:
    """Make the environment of templates, which escapes the results of `finalize`."""
    from jinja2 import (
        Environment,
        FileSystemLoader,
        StrictUndefined,
    )  # the terminal needs none of it

    environment = Environment(
        finalize=lambda value: finalize(value) if type(value) is str else value,
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["jpeg"] = lambda data: (
        f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
    )
    return environment


def plot_outlines(
    image: Any, parts: Mapping[str, Sequence[Any]], ax: Any = None
) -> Any:
    """Draw polygons of columns and rows, by their colour, over an array, RGB or a mask.

    Return the axes of Matplotlib.

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
