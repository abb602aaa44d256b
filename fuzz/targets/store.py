"""The feature cache's database file."""

from __future__ import annotations

import tempfile
import zlib
from functools import cache
from pathlib import Path

from fuzz.target import Target
from leafid.features.feature_cache import FeatureCache

_KEY = b"key" * 8
_VALUE = bytes(range(256))


@cache
def _database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        store = FeatureCache(folder)
        store.put([(_KEY, _VALUE), (b"other", b"")])
        store.close()
        return store.file.read_bytes()


def target() -> Target:
    """Open the file as a store, look a value up, keep another.

    What a store returns must stand in it with its checksum. libFuzzer reads a checksum
    out of the comparison with it and writes it beside a changed value: that is no
    damage.
    """

    def call(data: bytes, folder: Path) -> None:
        place = folder / "store"
        place.mkdir(exist_ok=True)
        for file in place.iterdir():
            file.unlink()
        (place / "features.sqlite").write_bytes(data)
        store = FeatureCache(place)
        value = store.get([_KEY]).get(_KEY)
        if (
            value is not None
            and zlib.crc32(value).to_bytes(4, "big") + value not in data
        ):
            raise AssertionError("a damaged value was served")
        store.put([(b"new", b"value")])
        store.close()

    return Target(
        "store",
        "the feature cache (SQLite)",
        lambda: [_database(), b""],
        call,
        (b"vectors", b"SQLite"),
    )
