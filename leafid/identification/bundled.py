"""Finds the bundled model."""

from __future__ import annotations

from pathlib import Path

from leafid.errors import LeafidError

DEFAULT_NAME = "imageclef2011.leafid"


def find_bundled_model() -> Path:
    """Return the path of the model that is used where none is named."""
    package = Path(__file__).resolve().parents[1]
    # Installed, models/ lies inside the package; in a checkout, beside it.
    for folder in (package / "models", package.parent / "models"):
        if (folder / DEFAULT_NAME).is_file():
            return folder / DEFAULT_NAME
    raise LeafidError(
        f"the bundled model ({DEFAULT_NAME}) is missing from this installation; "
        "name one with --model, or train one with 'leafid train'"
    )
