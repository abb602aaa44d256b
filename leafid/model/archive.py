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
_SIZE_BYTES = 8


class ModelArchive(NamedTuple):
    """The content of a model file; every array is checked when it is read."""

    #: Plain data that is still to be checked.
    manifest: dict[str, Any]
    arrays: Mapping[str, np.ndarray]

    def read_array(self, name: str, *shape: int | None, kind: str = "f") -> np.ndarray:
        """Read an array of finite floating-point numbers, or integers ("i"); a `ValueError` says what else it is.

        None in a shape stands for any length above 0.
        """
        array = self.arrays.get(self.manifest.get("same_as", {}).get(name, name))
        if array is None:
            raise ValueError(f"array {name} is missing")
        expected = tuple(max(found, 1) if own is None else own for own, found in zip(shape, array.shape, strict=False))
        is_of_shape = len(shape) == array.ndim and expected == array.shape
        if not is_of_shape or array.dtype.kind != kind or not np.isfinite(array).all():
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
            return stream.read(_SIZE_BYTES + 1)[_SIZE_BYTES:] == b"{"
    except LeafidError:
        return False


def _parse(content: bytes) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    header, data = _split(content)
    checksum, _, manifest = json.loads(header)["__metadata__"]["manifest"].partition("\n")
    if checksum != _compute_checksum(manifest, data):
        raise ValueError("its checksum is wrong")
    return json.loads(manifest), load(content)


def _split(content: bytes) -> tuple[bytes, bytes]:
    """Split a file of safetensors into its header and its data."""
    start = _SIZE_BYTES + int.from_bytes(content[:_SIZE_BYTES], "little")
    return content[_SIZE_BYTES:start], content[start:]


def _compute_checksum(manifest: str, data: bytes) -> str:
    # safetensors checks sizes, not content.
    return hashlib.sha256(manifest.encode() + data).hexdigest()


def write_archive(path: str | os.PathLike[str], manifest: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a model file; equal content gives equal bytes. Equal arrays, as codebooks of several types, come once."""
    names: dict[tuple[object, ...], str] = {}
    first = {name: names.setdefault((own.shape, own.dtype.str, own.tobytes()), name) for name, own in arrays.items()}
    same_as = {name: other for name, other in first.items() if other != name}
    text = json.dumps(manifest | {"same_as": same_as}, ensure_ascii=False)
    kept = {name: np.asarray(array, order="C") for name, array in arrays.items() if name not in same_as}
    checksum = _compute_checksum(text, _split(save(kept))[1])
    # In one entry: safetensors writes several in any order.
    with open_output(path, "wb") as stream:
        stream.write(save(kept, {"manifest": f"{checksum}\n{text}"}))
