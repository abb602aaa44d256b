"""Writes the tables of recipe keys into a page: ``python docs/recipe_keys.py docs/formats.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import NODEFAULT, Struct, inspect

from leafid.features.recipe import ClassifierSettings, Expert, Recipe


def insert_tables(page: str) -> str:
    """Replace the tables between ``<!-- keys: NAME -->`` and ``<!-- end -->``, where NAME is recipe or expert."""
    for name, kind in (("recipe", Recipe), ("expert", Expert)):
        before, rest = page.split(f"<!-- keys: {name} -->\n")
        page = f"{before}<!-- keys: {name} -->\n{format_table(kind)}<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    return page


def format_table(kind: type[Struct]) -> str:
    """Format the documentation of a struct's keys as a Markdown table, its own before those of its base."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    fields = sorted(info.fields, key=lambda field: field.name in ClassifierSettings.__struct_fields__)
    rows = [_format_row(field) for field in fields if isinstance(field.type, inspect.Metadata)]
    return "| key | value | default |\n|---|---|---|\n" + "".join(rows)


def _format_row(field: inspect.Field) -> str:
    assert isinstance(field.type, inspect.Metadata)
    assert field.type.extra_json_schema
    return f"| `{field.encode_name}` | {field.type.extra_json_schema['description']} | {_format_default(field)} |\n"


def _format_default(field: inspect.Field) -> str:
    if field.default is NODEFAULT:
        return "required"
    if isinstance(field.default, str):
        return f"`{field.default}`" if field.default else "empty"
    if isinstance(field.default, tuple):
        return "none"
    return str(field.default).lower() if isinstance(field.default, bool) else f"{field.default:g}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(insert_tables(file.read_text(encoding="utf-8")), encoding="utf-8")
