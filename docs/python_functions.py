"""Writes the commands as functions: ``python docs/python_functions.py docs/api.md``.

An option that is neither an argument of the function nor in `ELSEWHERE` is an error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

from leafid.cli.arguments import Parser
from leafid.cli.main import COMMANDS

MARKS = ("<!-- functions -->\n", "<!-- end -->\n")
#: The functions of commands that are called otherwise.
FUNCTIONS = {
    "predict": "leafid.Model.identify",
    "evaluate-irma": "leafid.tasks.irma.year_errors",
    "evaluate-interpretation": "leafid.tasks.interpretation.metric.score_objects",
    "evaluate-annotation": "leafid.tasks.annotation2016.scoring.score_annotation",
    "check-annotation": "leafid.tasks.annotation2016.files.read_annotations",
}
#: Why commands have no function.
REASONS = {
    "serve": "none: it answers browsers, with the answers of `leafid.Model.identify`",
    "info": "none: it shows what `leafid.read_collection` or `leafid.load_model` reads",
    "cache": "none: the cache is a folder, which any program can remove",
}
_ONE_PICTURE = "(one picture in a call)"
_ONLY_COMMAND = "(only in the command)"
_MASK = "`leaf`"
_ALLOWED_NAMES = "`allowed`"
#: What takes the place of options that are no arguments, by the command or for all.
ELSEWHERE = {
    "predict": {
        "output": "`Answer.to_dict`",
        "format": "`Answer.to_dict`",
        "together": "`Model.identify_plant`",
        "group_by": "`sessions`, and `Model.identify_plant`",
        "each_leaf": _ONLY_COMMAND,
        "top": "`Answer.ranking`",
        "set": "`leafid.model.thresholds.select_set`",
        "open_world": "`Answer.calibrate`",
        "model": "`leafid.load_model`",
        "cache": "(no cache is used)",
        "no_cache": "(no cache is used)",
        "cache_limit": "(no cache is used)",
    },
    "explain": {
        "output": "the `Explanation`, which a notebook shows",
        "format": "`Explanation.to_dict`",
        "pictures": "`picture`",
    },
    "measure": {
        "format": "(a list of dictionaries)",
        "output": "(a list of dictionaries)",
        "masks": _MASK,
        "overlay": "`Segmentation.plot`",
        "list": "(the keys of the dictionaries)",
        "dpi": "`mm_per_pixel`",
        "scale_from": _ONLY_COMMAND,
        "scale": "`mm_per_pixel`",
        "cluster": _ONE_PICTURE,
    },
    "segment": {
        "output": "`Segmentation.mask`",
        "crop": "`leafid.segmentation.crop.crop_leaf`",
        "each_leaf": _ONLY_COMMAND,
        "model": "(the bundled model)",
        "cluster": _ONE_PICTURE,
    },
    "describe": {
        "masks": _MASK,
        "list": "(the keys of the dictionary)",
        "output": "(a dictionary)",
        "model": "`leafid.segment`",
        "assume_type": "`leafid.segment`",
        "cluster": _ONE_PICTURE,
    },
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
    "evaluate-irma": {
        "runs": "`run`",
        "codes": "`table`",
        "by_picture": "(the errors of each picture)",
        "format": "(a dictionary)",
        "table": "(a dictionary)",
    },
    "evaluate-interpretation": {
        "truth": "`pair`",
        "result": "`pair`",
        "matching": "`parameters`",
        "threshold": "`parameters`",
        "alpha": "`parameters`",
        "distances": "`parameters`",
        "by_picture": _ONE_PICTURE,
        "format": "(a dictionary)",
        "table": "(a dictionary)",
    },
    "evaluate-annotation": {
        "runs": "`run`",
        "by_picture": "(the second dictionary)",
        "by_concept": "(the second dictionary)",
        "pictures": "`leafid.tasks.annotation2016.files.read_annotations`",
        "concepts": "`leafid.tasks.annotation2016.files.read_annotations`",
        "illustrations": "`leafid.tasks.annotation2016.files.read_annotations`",
        "format": "(dictionaries)",
        "table": "(dictionaries)",
    },
    "check-annotation": {
        "runs": "`path`",
        "pictures": _ALLOWED_NAMES,
        "concepts": _ALLOWED_NAMES,
        "illustrations": _ALLOWED_NAMES,
    },
    "": {
        "collections": "`collection`",
        "pictures": "`image`",
        "assume_type": "`acquisition_type`",
        "language": "`leafid.using_language`",
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
        "jobs": _ONE_PICTURE,
        "cluster": "(`leafid.parallel.cluster.on_cluster`)",
    },
}


def insert_table(page: str) -> str:
    """Replace the table between the marks of a page."""
    before, following = page.split(MARKS[0])
    _, after = following.split(MARKS[1])
    return f"{before}{MARKS[0]}{format_table()}{MARKS[1]}{after}"


def format_table() -> str:
    """Format a row for each command."""
    lines = [
        "| command | function | options that are arguments | other options | "
        "arguments without an option |\n",
        "|---|---|---|---|---|\n",
    ]
    for command in COMMANDS:
        if command in REASONS:
            lines.append(f"| `{command}` | {REASONS[command]} | | | |\n")
            continue
        path = FUNCTIONS.get(command, f"leafid.{command.replace('-', '_')}")
        arguments = [*inspect.signature(pkgutil.resolve_name(path)).parameters]
        options = list_options(command)
        elsewhere = ELSEWHERE.get(command, {})
        same = [name for name in options if name in {*arguments} - {*elsewhere}]
        others: dict[str, list[str]] = {}
        for name in options:
            if name not in same:
                place = elsewhere.get(name) or ELSEWHERE[""][name]
                others.setdefault(place, []).append(f"`{name}`")
        cells = [f"{', '.join(names)}: {place}" for place, names in others.items()]
        taken = " ".join(others)
        alone = [
            f"`{name}`"
            for name in arguments
            if name not in (*same, "self") and f"`{name}`" not in taken
        ]
        row = (f"`{command}`", f"`{path}`", ", ".join(f"`{name}`" for name in same))
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
