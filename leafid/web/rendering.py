"""Renders the pages of ``leafid serve``, which share style and parts with all pages."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from leafid.pages.rendering import make_page_environment
from leafid.translation import LANGUAGES, look_up

_FOLDER = Path(__file__).parent


def render_site_page(template: str, path: str = "", **values: Any) -> str:
    """Render a page that is served at a path.

    The template is in `leafid/web/templates` or `leafid/pages/templates`.
    """
    environment = make_page_environment(_FOLDER / "templates")
    return environment.get_template(template).render(
        path=path,
        languages=LANGUAGES,
        script_words={message: look_up(message) for message in list_script_messages()},
        **values,
    )


@cache
def list_script_messages() -> list[str]:
    """List the messages of the scripts, which a page holds in its language."""
    scripts = (_FOLDER / "static").glob("*.js")
    code = "".join(script.read_text(encoding="utf-8") for script in scripts)
    return sorted(set(re.findall(r'translate\(\s*"([^"]+)"', code)))
