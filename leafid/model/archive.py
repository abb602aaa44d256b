"""The file that a model is: arrays and a manifest, in the format of safetensors. Reading it never executes code."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from leafid.errors import LeafidError
from leafid.files import open_input, open_output

Arrays = dict[str, np.ndarray]
# Maximum bytes of a model: far above what any classical model needs.
_MAX_SIZE = 2 * 2**30
# Bytes from which equal arrays are written once.
_MIN_SHARED_SIZE = 4096
_SIZE_BYTES = 8


class ModelArchive(NamedTuple):
    """The content of a model file; every array is checked when it is read."""

    #: Plain data that is still to be checked.
    manifest: dict[str, Any]
    arrays: Mapping[str, np.ndarray]

    def read_array(self, name: str, *shape: int, kind: str = "f") -> np.ndarray:
        """Read an array of finite floating-point numbers, or integers ("i"); a `ValueError` says what else it is."""
        array = self.arrays.get(self.manifest.get("same_as", {}).get(name, name))
        if array is None:
            raise ValueError(f"array {name} is missing")
        if array.shape != shape or array.dtype.kind != kind or not np.isfinite(array).all():
            raise ValueError(
                f"array {name}: expected finite numbers of shape {shape}, found {array.dtype} {array.shape}"
            )
        return array


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[ModelArchive]:
    """Read a model file; a `LeafidError` says if it is missing, no model, damaged, or larger than 2 GiB.

    So does one for an error of a check in the block.
    """
    with open_input(path) as stream:
        content = stream.read(_MAX_SIZE + 1)
    if len(content) > _MAX_SIZE:
        raise LeafidError(f"{path}: expected a model of at most {_MAX_SIZE >> 30} GiB, found a larger file")
    try:
        yield ModelArchive(*_parse(content))
    except (SafetensorError, ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        raise LeafidError(
            f"{path}: expected a leafid model, found something else, or the model is damaged: {error!s:.300}; "
            "train it again or get a new copy"
        ) from error


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Check whether a file begins like a model."""
    try:
        with open_input(path) as stream:
            beginning = stream.read(_SIZE_BYTES + 1)
    except LeafidError:
        return False
    return beginning[_SIZE_BYTES:] == b"{"


def _parse(content: bytes) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    start = _SIZE_BYTES + int.from_bytes(content[:_SIZE_BYTES], "little")
    checksum, _, manifest = json.loads(content[_SIZE_BYTES:start])["__metadata__"]["manifest"].partition("\n")
    if checksum != _compute_checksum(manifest, content[start:]):
        raise ValueError("its checksum is wrong")
    return json.loads(manifest), load(content)


def _compute_checksum(manifest: str, data: bytes) -> str:
    # safetensors checks sizes, not content.
    return hashlib.sha256(manifest.encode() + data).hexdigest()


def write_archive(path: str | os.PathLike[str], manifest: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a model file; equal content gives equal bytes. Equal arrays, as codebooks of several types, come once."""
    first: dict[tuple[object, ...], str] = {}
    same_as: dict[str, str] = {}
    for name, array in arrays.items():
        key = (array.shape, array.dtype.str, hashlib.sha256(array.tobytes()).digest())
        if array.nbytes >= _MIN_SHARED_SIZE and (other := first.setdefault(key, name)) != name:
            same_as[name] = other
    text = json.dumps(manifest | {"same_as": same_as}, ensure_ascii=False)
    kept = {name: np.asarray(array, order="C") for name, array in arrays.items() if name not in same_as}
    bare = save(kept)
    data = bare[_SIZE_BYTES + int.from_bytes(bare[:_SIZE_BYTES], "little") :]
    # In one entry: safetensors writes several in any order.
    with open_output(path, "wb") as stream:
        stream.write(save(kept, {"manifest": f"{_compute_checksum(text, data)}\n{text}"}))
