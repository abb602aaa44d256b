"""Writes tables of recipe keys: ``python docs/recipe_keys.py docs/formats.md``."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from msgspec import NODEFAULT, Struct, structs

from leafid.features.recipe import Expert, Recipe
from leafid.learning.classifiers.settings import ClassifierSettings


def insert_tables(page: str) -> str:
    """Replace the tables between ``<!-- keys: NAME -->`` and ``<!-- end -->``."""
    for name, kind in (("recipe", Recipe), ("expert", Expert)):
        before, following = page.split(f"<!-- keys: {name} -->\n")
        _, after = following.split("<!-- end -->", 1)
        page = f"{before}<!-- keys: {name} -->\n{format_table(kind)}<!-- end -->{after}"
    return page


def format_table(kind: type[Struct]) -> str:
    """Format the commented keys of a struct, then those of its base, in Markdown."""
    comments = {
        **_read_comments(kind),
        **(_read_comments(ClassifierSettings) if kind is Expert else {}),
    }
    fields = {field.name: field for field in structs.fields(kind)}
    rows = [
        f"| `{fields[n].encode_name}` | {comments[n]} | {_format_default(fields[n])} "
        "|\n"
        for n in comments
    ]
    return "| key | value | default |\n|---|---|---|\n" + "".join(rows)


def _read_comments(kind: type[Struct]) -> dict[str, str]:
    """Read the comments above the fields of a struct."""
    commented = re.findall(r"((?:    #: .*\n)+)    (\w+):", inspect.getsource(kind))
    return {
        name: " ".join(line.removeprefix("    #: ") for line in lines.splitlines())
        for lines, name in commented
    }


def _format_default(field: structs.FieldInfo) -> str:
    if field.default is NODEFAULT:
        return "required" if field.default_factory is NODEFAULT else "none"
    if isinstance(field.default, str):
        return f"`{field.default}`" if field.default else "empty"
    if isinstance(field.default, tuple):
        return "none"
    return (
        str(field.default).lower()
        if isinstance(field.default, bool)
        else f"{field.default:g}"
    )


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(insert_tables(file.read_text(encoding="utf-8")), encoding="utf-8")
