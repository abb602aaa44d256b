"""Recipes."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from msgspec import to_builtins

from fuzz.target import Target, write_input
from leafid.features.recipe import Expert, load_recipe, parse_recipe
from leafid.pictures.picture import AcquisitionType

_SMALL = b"""summary = "small"
types = ["scan", "scan-like"]
training_types = ["scan", "scan-like"]
longest_side = 400
[defaults]
regularisation = 0.2
[experts.local]
descriptor = "dense-sift"
view = "upright"
symmetry = "turns"
position = 1.0
codebook_types = ["scan"]
[experts.shape]
descriptor = "measures"
families = ["geometry", "hu"]
classifier = "lda"
trust = "segmentation"
"""


def _seeds() -> list[bytes]:
    folder = resources.files("leafid.features") / "recipes"
    shipped = [
        (folder / name / "sheets.toml").read_bytes()
        for name in ("default", "fast", "baseline-bow")
    ]
    return [
        _SMALL,
        *shipped,
        b"experts.a.b.c = {d = [1, 2.5, 1979-05-27T07:32:00Z, '''x''']}\n",
    ]


def target() -> Target:
    """Load a recipe; its dictionary must read back equal."""

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "scan.toml", data)
        recipe = load_recipe(str(file), AcquisitionType.SCAN)
        if parse_recipe(to_builtins(recipe), "again") != recipe:
            raise AssertionError("a recipe doesn't read back as it was")
        for expert in recipe.experts.values():
            expert.make_feature_key()

    keys = [key.encode() for key in Expert.__struct_encode_fields__]
    tables = (b"[experts.a]", b"[defaults]")
    words = (
        *keys,
        *tables,
        b"measures",
        b"inf",
        b"nan",
        b"1e400",
        b'"""',
        b"'''",
        b"{a=1}",
        b"0x",
        b"\\u0000",
    )
    return Target("recipe", "recipes (TOML)", _seeds, call, words)
