"""Model files: the archive as a whole, and each member under a checksum that is right."""

from __future__ import annotations

import io
import zipfile
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
def make_members() -> dict[str, bytes]:
    """Train a small model on drawn leaves, and take it apart."""
    import tempfile
    from contextlib import redirect_stderr, redirect_stdout

    from leafid.cli.main import main
    from tests.drawing.collection import copy_sample

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        place = Path(folder)
        copy_sample(place / "drawn", n_plants=3, max_side=160)
        (place / "recipe").mkdir()
        for type_, text in _RECIPES.items():
            (place / "recipe" / f"{type_}.toml").write_text(text)
        words = ["train", "drawn", "--recipe", "recipe", "--output", "model", "--no-cache", "--jobs", "1"]
        if main([str(place / word) if word in ("drawn", "recipe", "model") else word for word in words]):
            raise RuntimeError(err.getvalue())
        with zipfile.ZipFile(place / "model") as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def pack_members(members: dict[str, bytes]) -> bytes:
    """Make a model file of its members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def _bomb() -> bytes:
    """Make an archive of few bytes that claims, and would unpack, many: a member of zeros."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", make_members()["manifest.json"])
        for name in make_members():
            if name != "manifest.json":
                archive.writestr(name, bytes(1 << 20))
    return stream.getvalue()


def target() -> Target:
    """Take the first byte as a member's number and the rest as its content; 255 for a whole file."""

    def call(data: bytes, folder: Path) -> None:
        members = make_members()
        number, content = (data[0], data[1:]) if data else (255, b"")
        if number < len(members):
            name = list(members)[number]
            content = pack_members({**members, name: content})
        file = write_input(folder, "model.leafid", content)
        Model.read(file)

    def seeds() -> list[bytes]:
        members = make_members()
        each = [bytes([number]) + content for number, content in enumerate(members.values())]
        return [*each, b"\xff" + pack_members(members), b"\xff" + _bomb()]

    keys = (b'"species"', b'"recipe"', b'"thresholds"', b'"types"', b"'descr'", b"'fortran_order'", b"'shape'")
    values = (b"'<f2'", b"'|O'", b"(99999999,)", b"1e999", b"NaN", b"Infinity", b"null", b"-1", b"99999999999")
    words = (*keys, *values, b"\x93NUMPY", b"PK\x03\x04")
    return Target("model", "model files (ZIP of JSON and arrays)", seeds, call, words)
