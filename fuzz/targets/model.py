"""Model files: the whole file, and its manifest and data with a correct checksum."""

from __future__ import annotations

import hashlib
import io
import json
from functools import cache
from pathlib import Path

from fuzz.target import Target, write_input
from leafid.model.model import Model

_RECIPES = {
    "scan": """
types = ["scan"]
[experts.local]
descriptor = "dense-sift"
size = 64
scales = 1
modes = 2
components = 3
[experts.shape]
descriptor = "measures"
families = ["hu"]
""",
    "photo": """
types = ["photo", "scan-like"]
[experts.shape]
descriptor = "measures"
families = ["hu"]
map = "chi2"
""",
}


@cache
def make_parts() -> dict[str, bytes]:
    """Train a small model on drawn leaves, and take it apart."""
    import tempfile
    from contextlib import redirect_stderr, redirect_stdout

    from leafid.cli.main import main
    from tests.drawing.collection import copy_sample

    with (
        tempfile.TemporaryDirectory() as folder,
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()) as err,
    ):
        place = Path(folder)
        copy_sample(place / "drawn", n_plants=3, max_side=160)
        (place / "recipe").mkdir()
        for type_, text in _RECIPES.items():
            (place / "recipe" / f"{type_}.toml").write_text(text)
        words = [
            "train",
            "drawn",
            "--recipe",
            "recipe",
            "--output",
            "model",
            "--no-cache",
            "--jobs",
            "1",
        ]
        if main(
            [
                str(place / word) if word in ("drawn", "recipe", "model") else word
                for word in words
            ]
        ):
            raise RuntimeError(err.getvalue())
        content = (place / "model").read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    manifest = json.loads(content[8:start])["__metadata__"]["manifest"].partition("\n")[
        2
    ]
    return {
        "manifest": manifest.encode(),
        "data": content[start:],
        "header": content[8:start],
        "file": content,
    }


def pack_parts(parts: dict[str, bytes]) -> bytes:
    """Make a model file of its parts, under a correct checksum."""
    header = json.loads(parts["header"])
    checksum = hashlib.sha256(parts["manifest"] + parts["data"]).hexdigest()
    header["__metadata__"] = {
        "manifest": f"{checksum}\n{parts['manifest'].decode(errors='replace')}"
    }
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + parts["data"]


def target() -> Target:
    """Take the first byte as the number of a part, whose content follows.

    Other numbers stand for a whole file.
    """

    def call(data: bytes, folder: Path) -> None:
        parts = make_parts()
        number, content = (data[0], data[1:]) if data else (255, b"")
        if number < 2:
            content = pack_parts({**parts, list(parts)[number]: content})
        Model.read(write_input(folder, "model.leafid", content))

    def seeds() -> list[bytes]:
        parts = make_parts()
        return [
            b"\x00" + parts["manifest"],
            b"\x01" + parts["data"],
            b"\xff" + parts["file"],
        ]

    keys = (
        b'"species"',
        b'"recipe"',
        b'"thresholds"',
        b'"types"',
        b'"dtype"',
        b'"shape"',
        b'"data_offsets"',
    )
    values = (
        b'"F16"',
        b'"BF16"',
        b"[99999999]",
        b"1e999",
        b"NaN",
        b"Infinity",
        b"null",
        b"-1",
        b"99999999999",
    )
    return Target(
        "model",
        "model files (safetensors with a manifest)",
        seeds,
        call,
        (*keys, *values),
    )
