"""The readers that are fuzzed, a module for each format."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from fuzz.target import Target

# Loaded on demand: modules that are imported earlier are not instrumented for coverage.
_MODULES = {
    "imageclef-xml": "imageclef_xml",
    "run-2011": "run_2011",
    "ground-truth": "ground_truth",
    "irma": "irma",
    "annotation-2016": "annotation_2016",
    "recipe": "recipe",
    "model": "model",
    "plantnet300k": "plantnet300k",
    "boxes": "boxes",
    "tables": "tables",
    "label-mask": "label_mask",
    "picture": "picture",
    "store": "store",
    "content": "content",
}

NAMES: tuple[str, ...] = tuple(_MODULES)


def load(name: str) -> Target:
    """Import a target."""
    module = importlib.import_module(f"fuzz.targets.{_MODULES[name]}")
    make: Callable[[], Target] = module.target
    return make()
