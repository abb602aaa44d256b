"""The archive that a model file is: a JSON manifest and plain NumPy arrays; damage of any kind is one clear error."""

import hashlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.lib import format as npy

from leafid.errors import LeafidError
from leafid.files import open_input, open_output
from leafid.schema import convert

Arrays = dict[str, np.ndarray]
MANIFEST = "manifest.json"
# Maximum bytes of a model, of its manifest and of an array's header: far above what any classical model needs.
_MAX_SIZE = 2 * 2**30
_MAX_MANIFEST_SIZE = 256 * 2**20
_MAX_HEADER_SIZE = 2**16
# Bytes from which equal arrays are written once.
_MIN_SHARED_SIZE = 4096
# What the readers of archives, JSON and arrays raise on damaged content.
_DAMAGE_ERRORS = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RuntimeError,
    SyntaxError,
    EOFError,
    MemoryError,
    struct.error,
    tokenize.TokenError,
    zlib.error,
)


class ModelArchive:
    """An archive that is open for reading; every member is checked when it is read."""

    def __init__(self, archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
        self._archive = archive
        self._path = path
        #: Names of arrays that are stored under another name.
        self.same_as: dict[str, str] = {}

    def read_manifest(self) -> Any:
        """Read the manifest: plain data that is still to be checked."""
        try:
            manifest = json.loads(self._read_member(MANIFEST))
        except KeyError:
            raise LeafidError(f"{self._path}: expected a leafid model, found another kind of ZIP archive") from None
        if isinstance(manifest, dict):
            self.same_as = convert(manifest.get("same_as", {}), dict[str, str], f"{self._path}: manifest.json: same_as")
        return manifest

    def read_array(self, name: str, *shape: int, kind: str = "f") -> np.ndarray:
        """Read an array of finite floating-point numbers, or integers ("i"), by its name without the ending ``.npy``.

        A `LeafidError` is raised when it is missing, damaged, of another shape, or holds anything else.
        """
        try:
            # The size is checked first: a few compressed bytes may claim to be gigabytes.
            member = f"{self.same_as.get(name, name)}.npy"
            claimed = self._archive.getinfo(member).file_size
            if claimed > 8 * math.prod(shape) + _MAX_HEADER_SIZE:
                raise self._damage(f"array {name}: expected shape {shape}, found {claimed} bytes")
            # The whole member is read before it is parsed, which verifies its checksum.
            content = self._read_member(member)
            array = npy.read_array(io.BytesIO(content), allow_pickle=False)
        except KeyError:
            raise self._damage(f"array {name} is missing") from None
        except (*_DAMAGE_ERRORS, zipfile.BadZipFile) as error:
            raise self._damage(f"array {name}: {error!s:.300}") from error
        if array.dtype.kind != kind or not np.isfinite(array).all():
            found = "NaN or infinity" if array.dtype.kind == "f" else array.dtype
            raise self._damage(f"array {name}: expected finite numbers, found {found}")
        if array.shape != shape:
            raise self._damage(f"array {name}: expected shape {shape}, found {array.shape}")
        return array

    def read_bytes(self, name: str, size: int) -> bytes:
        """Read a member of `size` bytes.

        A `LeafidError` is raised when it is missing, damaged, or of another size.
        """
        try:
            if (found := self._archive.getinfo(name).file_size) == size:
                return self._read_member(name)
        except KeyError:
            raise self._damage(f"{name} is missing") from None
        except (*_DAMAGE_ERRORS, zipfile.BadZipFile) as error:
            raise self._damage(f"{name}: {error!s:.300}") from error
        raise self._damage(f"{name}: expected {size} bytes, found {found}")

    def _read_member(self, name: str) -> bytes:
        """Read a member, decompressing no more than it claims to hold: by default the whole of it is decompressed."""
        entry = self._archive.getinfo(name)
        with self._archive.open(entry) as member:
            return member.read(entry.file_size + 1)

    def _damage(self, problem: str) -> LeafidError:
        return LeafidError(f"{self._path}: the model is damaged: {problem}")


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Check whether a path leads to a ZIP archive, such as a model file."""
    try:
        with open_input(path) as stream:
            return stream.read(4) == b"PK\x03\x04"
    except LeafidError:
        return False


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[ModelArchive]:
    """Open a model file for reading; whatever a damaged or hostile file raises in the block becomes one `LeafidError`.

    So do a file that is missing, can't be read, or is no model, and one that claims to be larger than 2 GiB.
    """
    try:
        with open_input(path) as stream, zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
            manifests = [entry.file_size for entry in entries if entry.filename == MANIFEST]
            if sum(entry.file_size for entry in entries) > _MAX_SIZE or sum(manifests) > _MAX_MANIFEST_SIZE:
                raise LeafidError(
                    f"{path}: expected a model of at most {_MAX_SIZE >> 30} GiB, found one that claims to be larger; "
                    "the file is damaged"
                )
            yield ModelArchive(archive, path)
    except LeafidError:
        raise
    except zipfile.BadZipFile:
        raise LeafidError(
            f"{path}: expected a leafid model, found something else or a damaged file; "
            "train the model again or get a new copy"
        ) from None
    except ValueError as error:  # An own check, with a complete message.
        raise LeafidError(f"{path}: the model is damaged: {error!s:.300}") from error
    except _DAMAGE_ERRORS as error:
        raise LeafidError(f"{path}: the model is damaged: {type(error).__name__}: {error!s:.300}") from error


def write_archive(
    path: str | os.PathLike[str],
    manifest: dict[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a model file; equal content gives equal bytes. Equal arrays, as codebooks of several types, come once."""
    first: dict[tuple[object, ...], str] = {}
    same_as: dict[str, str] = {}
    for name, array in arrays.items():
        key = (array.shape, array.dtype.str, hashlib.sha256(array.tobytes()).digest())
        if array.nbytes >= _MIN_SHARED_SIZE and (other := first.setdefault(key, name)) != name:
            same_as[name] = other
    manifest = manifest | {"same_as": same_as}
    with open_output(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_make_member(MANIFEST), json.dumps(manifest, indent=1, ensure_ascii=False).encode())
        for name, array in arrays.items():
            if name in same_as:
                continue
            with archive.open(_make_member(f"{name}.npy"), "w") as target:
                npy.write_array(target, np.asarray(array, order="C"), allow_pickle=False)


def _make_member(name: str) -> zipfile.ZipInfo:
    # With a fixed date the same model gives the same bytes on every day.
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def prefix_names(prefix: str, arrays: Arrays) -> Arrays:
    """Put a prefix before the names of arrays."""
    return {f"{prefix}/{name}": array for name, array in arrays.items()}
