"""The model file: objects as JSON and their arrays, in the format of safetensors.

Reading it executes no code, and makes no estimator of scikit-learn except what the
user allows (`leafid.permissions`). Objects are dataclasses and structs, whose
annotations say what every value has to be.
"""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

import msgspec
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

import leafid
from leafid.errors import LeafidError, is_out_of_memory
from leafid.files import StrPath, open_input, open_output
from leafid.permissions import ESTIMATORS, check_allowed

T = TypeVar("T")
FORMAT = "leafid-model"
FORMAT_VERSION = 10
_SIZE_BYTES = 8
# Far more than any number that is learned. Products of larger ones overflow.
_LARGEST_NUMBER = 1e12
_FORGERY = (
    "the model holds a classifier of scikit-learn, whose compiled code trusts the "
    "numbers in the file, so that a "
    "forged file could take control of the program"
)


def write_object(
    path: StrPath, content: object, halved: Iterable[np.ndarray] = ()
) -> None:
    """Write an object to a model file; equal ones give equal bytes.

    Each array of the object becomes a dictionary with the name of its values, which are
    written once where they are equal.

    Parameters
    ----------
    path : path
    content : object
        A dataclass or struct whose annotations `read_object` checks.
    halved : iterable of array
        Arrays of the object that are written in half precision, with a scale for each
        column.
    """
    arrays: dict[str, np.ndarray] = {}
    large = {id(array) for array in halved}

    def store(array: np.ndarray) -> str:
        words = f"{array.shape} {array.dtype}".encode()
        name = hashlib.sha256(words + array.tobytes()).hexdigest()[:16]
        arrays[name] = np.asarray(array, order="C")
        return name

    def encode(value: Any) -> dict[str, str]:
        if id(value) not in large:
            return {"values": store(value)}
        # This moves a score by less than a thousandth of what two species differ by.
        # With a scale for each column, small coefficients don't fall below what half
        # precision can hold.
        scale = np.maximum(np.abs(value).max(axis=0), 1e-20).astype(np.float32)
        return {
            "values": store((value / scale).astype(np.float16)),
            "scale": store(scale),
        }

    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "program_version": leafid.__version__,
    }
    manifest["model"] = msgspec.to_builtins(content, enc_hook=encode, str_keys=True)
    text = json.dumps(manifest, ensure_ascii=False)
    bare = save(arrays)
    # safetensors checks sizes, not content.
    data = bare[_SIZE_BYTES + int.from_bytes(bare[:_SIZE_BYTES], "little") :]
    checksum = hashlib.sha256(text.encode() + data).hexdigest()
    # In one entry: safetensors writes several in any order.
    with open_output(path, "wb") as stream:
        stream.write(save(arrays, {"manifest": f"{checksum}\n{text}"}))


def read_object(path: StrPath, type_: type[T]) -> T:
    """Read an object of a type from a model file.

    Parameters
    ----------
    path : path
    type_ : type
        A dataclass or struct, as was written.

    Returns
    -------
    object of that type

    Raises
    ------
    LeafidError
        When the file is missing, damaged, something else, or of another format version,
        when it needs what the user doesn't allow, or when memory is short.
    """
    try:
        with open_input(path) as stream, safe_open(os.fspath(path), "np") as arrays:
            manifest = _read_manifest(stream, arrays.metadata())
            if (version := manifest.get("format_version")) != FORMAT_VERSION:
                remedy = "train the model again"
                if isinstance(version, int) and version > FORMAT_VERSION:
                    remedy = "update leafid"
                raise LeafidError(
                    f"{path}: expected model format {FORMAT_VERSION}, found {version} "
                    f"(written by leafid {manifest.get('program_version')}); {remedy}"
                )
            if _holds_estimators(manifest["model"]):
                check_allowed(ESTIMATORS, f"{path}: {_FORGERY}")
            return msgspec.convert(
                manifest["model"],
                type_,
                dec_hook=_make_decoder(arrays),
                str_keys=True,
            )
    except (
        SafetensorError,
        ValueError,
        OverflowError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        MemoryError,
    ) as error:
        if is_out_of_memory(error):
            raise LeafidError(
                f"{path}: out of memory; end other programs, or raise the limit"
            ) from error
        raise LeafidError(
            f"{path}: expected a leafid model, found something else, or the model is "
            f"damaged: {error!s:.300}; "
            "train it again or get a new copy"
        ) from error


def _read_manifest(
    stream: io.BufferedReader, metadata: dict[str, str] | None
) -> dict[str, Any]:
    """Read the manifest from the metadata of a file, whose checksum is checked."""
    if not metadata or "manifest" not in metadata:
        raise ValueError("another file of safetensors")
    checksum, _, text = metadata["manifest"].partition("\n")
    stream.seek(_SIZE_BYTES + int.from_bytes(stream.read(_SIZE_BYTES), "little"))
    # The data are read in small pieces: arrays are converted one by one, so that no
    # copy of the file is in memory.
    if (
        hashlib.file_digest(stream, lambda: hashlib.sha256(text.encode())).hexdigest()
        != checksum
    ):
        raise ValueError("its checksum is wrong")
    # This parser gives finite numbers and valid characters, or a ValueError.
    manifest = msgspec.json.decode(text, type=dict[str, Any])
    if manifest["format"] != FORMAT:
        raise ValueError("another file of safetensors")
    return manifest


def _holds_estimators(node: Any) -> bool:
    """Check whether a part of a manifest holds classifiers of scikit-learn anywhere."""
    if isinstance(node, dict):
        return bool(node.get("estimators")) or _holds_estimators([*node.values()])
    return isinstance(node, list) and any(map(_holds_estimators, node))


def _make_decoder(arrays: Any) -> Callable[[type, Any], np.ndarray]:
    """Make the function that reads the array of a dictionary in the manifest."""

    def decode(expected: type, place: Any) -> np.ndarray:
        if expected is not np.ndarray or not isinstance(place, dict):
            raise ValueError(f"expected an array, found {place!s:.100}")
        return read_array(
            str(place.get("values")), place.get("scale") and str(place["scale"])
        )

    # Types share arrays.
    @cache
    def read_array(name: str, scale: str | None = None) -> np.ndarray:
        array = arrays.get_tensor(name)
        if scale is not None:
            if read_array(scale).shape != array.shape[1:]:
                raise ValueError(
                    f"expected as many scales {scale:.100} as the array {name:.100} "
                    "has columns"
                )
            array = array * read_array(scale)
        # The maximum with NaN is NaN, for which no comparison holds.
        if array.dtype.kind not in "fu" or not (
            float(np.abs(array).max(initial=0)) < _LARGEST_NUMBER
        ):
            raise ValueError(
                f"expected numbers below {_LARGEST_NUMBER:g} in the array "
                f"{name:.100}, found others"
            )
        return array

    return decode


def is_model(path: StrPath) -> bool:
    """Check whether a file begins like a model."""
    try:
        with open_input(path) as stream:
            return stream.read(_SIZE_BYTES + 1)[_SIZE_BYTES:] == b"{"
    except LeafidError:
        return False
