"""Renders the pages of ``leafid serve``: templates of its own, and those that it shares with files that are written."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from leafid.report.rendering import get_environment

if TYPE_CHECKING:
    from jinja2 import Environment

#: Media types by the names of files below /static/.
STATIC_FILES = {"site.css": "text/css", "site.js": "text/javascript"}


def render(template: str, path: str = "", **values: Any) -> str:
    """Render a page of the site; `path` is its own."""
    page = _get_environment().get_template(template)
    return page.render(stylesheet="/static/site.css", navigation="navigation.html", path=path, **values)


@cache
def read_static_file(name: str) -> str:
    """Read one of `STATIC_FILES`; the style is that of all pages, and what the site has beside it."""
    text = (resources.files("leafid.web") / "static" / name).read_text(encoding="utf-8")
    if name == "site.css":
        text = (resources.files("leafid.report") / "templates" / "style.css").read_text(encoding="utf-8") + text
    return text


@cache
def _get_environment() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader

    shared = get_environment()
    assert shared.loader is not None
    return shared.overlay(loader=ChoiceLoader([shared.loader, PackageLoader("leafid.web")]))
