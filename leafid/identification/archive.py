"""Reads the archive that a model file is: whatever is wrong with it becomes one clear error."""

from __future__ import annotations

import io
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.lib import format as npy

from leafid.errors import LeafidError

MANIFEST = "manifest.json"
# No classical model comes near this; a file that claims more is damaged or hostile.
_LARGEST = 2 * 2**30
_LARGEST_MANIFEST = 64 * 2**20
_LONGEST_HEADER = 2**16
# What readers of archives, JSON and arrays raise on bytes that make no sense.
DAMAGE = (
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


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever a damaged or hostile file makes its readers raise becomes one clear error.

    Parameters
    ----------
    path : str or path-like

    Yields
    ------
    zipfile.ZipFile
        Open for reading; whatever is raised on damage while it is read becomes that error too.

    Raises
    ------
    LeafidError
        When there is no such file, it can't be read, is no model, is damaged, or claims to be larger than 2 GiB.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            manifests = [entry.file_size for entry in entries if entry.filename == MANIFEST]
            if sum(entry.file_size for entry in entries) > _LARGEST or sum(manifests) > _LARGEST_MANIFEST:
                raise LeafidError(
                    f"{path}: expected a model of at most {_LARGEST >> 30} GiB, found one that claims to be larger; "
                    "the file is damaged"
                )
            yield archive
    except LeafidError:
        raise
    except FileNotFoundError:
        raise LeafidError(f"{path}: there is no such model file") from None
    except IsADirectoryError:
        raise LeafidError(f"{path}: expected a model file, found a folder") from None
    except OSError as error:
        raise LeafidError(f"{path}: the model can't be read: {error.strerror or error}") from error
    except zipfile.BadZipFile:
        raise LeafidError(
            f"{path}: expected a leafid model, found something else or a damaged file; train it again or copy it anew"
        ) from None
    except DAMAGE as error:
        raise LeafidError(f"{path}: the model is damaged: {type(error).__name__}: {error}") from error


class Arrays:
    """The arrays of an archive, each read and checked when asked for."""

    def __init__(self, archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
        self.archive = archive
        self.path = path

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            # The whole member first: its checksum is compared before anything in it is believed.
            content = self.archive.read(f"{name}.npy")
        except KeyError:
            raise LeafidError(f"{self.path}: the model is damaged: array {name} is missing") from None
        except (*DAMAGE, zipfile.BadZipFile) as error:
            raise LeafidError(f"{self.path}: the model is damaged: array {name}: {error}") from error
        try:
            array = npy.read_array(io.BytesIO(content), allow_pickle=False)
        except DAMAGE as error:
            raise LeafidError(f"{self.path}: the model is damaged: array {name}: {error}") from error
        finite = array.dtype.kind == "f" and bool(np.isfinite(array).all())
        if not finite:
            found = "NaN or infinity" if array.dtype.kind == "f" else array.dtype
            raise LeafidError(
                f"{self.path}: the model is damaged: array {name}: expected finite numbers, found {found}"
            )
        return array

    def shaped(self, name: str, *shape: int) -> np.ndarray:
        """Give an array of an expected shape.

        Parameters
        ----------
        name : str
            Without the ending ``.npy``.
        *shape : int
            Its length along each axis.

        Returns
        -------
        ndarray of a floating-point dtype
            All of it finite.

        Raises
        ------
        LeafidError
            When it is missing, damaged, of another shape, or holds anything but finite floating-point numbers.
        """
        # Before it is unpacked: a few bytes may claim to be gigabytes.
        claimed = self._claimed(name)
        if claimed > 8 * math.prod(shape) + _LONGEST_HEADER:
            raise LeafidError(
                f"{self.path}: the model is damaged: array {name}: expected shape {shape}, found {claimed} bytes"
            )
        array = self[name]
        if array.shape != shape:
            raise LeafidError(
                f"{self.path}: the model is damaged: array {name}: expected shape {shape}, found {array.shape}"
            )
        return array

    def _claimed(self, name: str) -> int:
        try:
            return self.archive.getinfo(f"{name}.npy").file_size
        except KeyError:
            return 0
