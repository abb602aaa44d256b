"""Objects in notebooks: HTML by templates beside them, outlines by Matplotlib."""

import base64
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from leafid.errors import escape_unprintable


class NotebookMixin:
    """An object that a notebook shows.

    The template beside the module of its class, of the same name, has a macro that is
    called as the class.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        module = Path(inspect.getfile(type(self)))
        environment = make_environment(
            module.parent, Path(__file__).parent, finalize=escape_unprintable
        )
        macros = environment.get_template(f"{module.stem}.html").module
        return str(getattr(macros, type(self).__name__)(self))


@cache
def make_environment(*folders: Path, finalize: Callable[[str], str]) -> Any:
    """Make the environment of templates.

    All but `.txt` files escape the results of `finalize`.
    """
    # Most commands need none of it.
    import jinja2

    environment = jinja2.Environment(
        finalize=lambda value: finalize(value) if type(value) is str else value,
        loader=jinja2.FileSystemLoader(folders),
        autoescape=jinja2.select_autoescape([], ["txt"], default=True),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["jpeg"] = lambda data: (
        f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
    )
    return environment


def get_axes(ax: Any = None) -> Any:
    """Give the axes of Matplotlib to draw in, by default the current ones."""
    from matplotlib import pyplot  # takes a second to import

    return ax or pyplot.gca()


def plot_outlines(
    image: Any, parts: Mapping[str, Sequence[Any]], ax: Any = None
) -> Any:
    """Draw polygons of columns and rows, by their colour, over an array, RGB or a mask.

    Return the axes of Matplotlib. The axes are the current ones by default.
    """
    axes = get_axes(ax)
    axes.imshow(image, cmap="gray", extent=(0, image.shape[1], image.shape[0], 0))
    for colour, polygons in parts.items():
        for polygon in polygons:
            axes.plot(*zip(*polygon, polygon[0], strict=True), color=colour)
    axes.set_axis_off()
    return axes
