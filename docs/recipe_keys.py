"""Writes the tables of recipe keys into a page: ``python docs/recipe_keys.py docs/formats.md``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field
from pathlib import Path

from leafid.features.recipe_reader import EXPERT_KEYS, RECIPE_KEYS


def insert_tables(page: str) -> str:
    """Replace the tables between ``<!-- keys: NAME -->`` and ``<!-- end -->``, where NAME is recipe or expert."""
    for name, keys in (("recipe", RECIPE_KEYS), ("expert", EXPERT_KEYS)):
        before, rest = page.split(f"<!-- keys: {name} -->\n")
        page = f"{before}<!-- keys: {name} -->\n{format_table(keys)}<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    return page


def format_table(keys: Mapping[str, Field]) -> str:
    """Format the documentation of keys as a Markdown table."""
    rows = [f"| `{name}` | {entry.metadata['key'].help} | {_format_default(entry)} |\n" for name, entry in keys.items()]
    return "| key | value | default |\n|---|---|---|\n" + "".join(rows)


def _format_default(entry: Field) -> str:
    key = entry.metadata["key"]
    if key.default or entry.default is MISSING:
        return key.default or "required"
    if isinstance(entry.default, str):
        return f"`{entry.default}`"
    return str(entry.default).lower() if isinstance(entry.default, bool) else f"{entry.default:g}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(insert_tables(file.read_text(encoding="utf-8")), encoding="utf-8")
