"""Writes the commands as functions: ``python docs/python_functions.py docs/api.md``.

An option that is neither an argument of the function nor in `ELSEWHERE` is an error.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import leafid
from leafid.cli.arguments import Parser
from leafid.cli.main import COMMANDS, GROUPS

MARKS = ("<!-- functions -->\n", "<!-- end -->\n")
#: What takes the place of options that are no arguments, by the command or for all.
ELSEWHERE = {
    "check": {"to": "`leafid.convert`"},
    "evaluate": {"list": "(names of metrics)"},
    "experiment": {
        "experiment": "`plan`",
        "output": "`Records.render`",
        "seed": "`bootstrap`, and `seeds` of the plan",
    },
    "train": {
        "output": "`Model.save`",
        "extend": "`leafid.extend`",
        "no_thumbnails": "`thumbnails`",
        "thumbnails_of": "`thumbnails`",
        "licence": "`Picture.licence`",
    },
    "": {
        "collections": "`collection`",
        "layout": "`leafid.read_collection`",
        "metadata": "`leafid.read_collection`",
        "label_from": "`leafid.read_collection`",
        "plants_from": "`leafid.read_collection`",
        "confidence": "`bootstrap`",
        "resamples": "`bootstrap`",
        "seed": "`bootstrap`",
        "format": "`Records.render`",
        "digits": "`Records.render`",
        "table": "`Records.tables`",
        "no_cache": "`cache`",
        "cache_limit": "(`leafid.features.feature_cache.FeatureCache`)",
        "cluster": "(`leafid.parallel.cluster.on_cluster`)",
    },
}


def insert_table(page: str) -> str:
    """Replace the table between the marks of a page."""
    before, following = page.split(MARKS[0])
    _, after = following.split(MARKS[1])
    return f"{before}{MARKS[0]}{format_table()}{MARKS[1]}{after}"


def format_table() -> str:
    """Format a row for each command that trains or scores."""
    lines = [
        "| command | function | options that are arguments | other options | "
        "arguments without an option |\n",
        "|---|---|---|---|---|\n",
    ]
    for command in (*GROUPS["train"], *GROUPS["score"]):
        function = getattr(leafid, command.replace("-", "_"))
        arguments = [*inspect.signature(function).parameters]
        options = list_options(command)
        same = [f"`{name}`" for name in options if name in arguments]
        others: dict[str, list[str]] = {}
        for name in options:
            if name not in arguments:
                place = ELSEWHERE.get(command, {}).get(name) or ELSEWHERE[""][name]
                others.setdefault(place, []).append(f"`{name}`")
        cells = [f"{', '.join(names)}: {place}" for place, names in others.items()]
        taken = " ".join(others)
        alone = [
            f"`{name}`"
            for name in arguments
            if name not in options and f"`{name}`" not in taken
        ]
        row = (f"`{command}`", f"`leafid.{function.__name__}`", ", ".join(same))
        lines.append(f"| {' | '.join((*row, '; '.join(cells), ', '.join(alone)))} |\n")
    return "".join(lines)


def list_options(command: str) -> list[str]:
    """List the arguments and options of a command, called as in Python."""
    module = importlib.import_module(f"leafid.cli.{COMMANDS[command]}")
    parser = Parser(module.Options, prog=command)
    names = [action.dest for action in parser._actions]
    return [name for name in names if name not in ("help", "debug")]


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(insert_table(file.read_text(encoding="utf-8")), encoding="utf-8")
