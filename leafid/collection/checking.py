"""Opens the files of a collection to see whether they can be used."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from leafid.collection.hashing import hash_file
from leafid.errors import LeafidError
from leafid.images import read_image, read_image_size
from leafid.parallel import Log, LogRecorder


@dataclass(frozen=True)
class FileCheck:
    """What was found in one picture file.

    Attributes
    ----------
    file : Path
    digest : str or None
        The SHA-256 of the content; None where the file can't even be opened.
    error : str or None
        Why the picture can't be read, or None.
    warnings : tuple of str
        What is wrong with a picture that can be read.
    """

    file: Path
    digest: str | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()


def check_file(file: Path, decode: bool = True) -> FileCheck:
    """Read a picture and say how that went, without raising.

    Parameters
    ----------
    file : Path
    decode : bool, default True
        Decode the whole picture; otherwise look at its header only, which is faster and misses truncation.

    Returns
    -------
    FileCheck
    """
    digest: str | None = None
    with _warnings_kept() as warnings:
        try:
            digest = hash_file(file)
            if decode:
                read_image(file)
            else:
                read_image_size(file)
        except LeafidError as error:
            return FileCheck(file, digest, str(error))
    return FileCheck(file, digest, None, tuple(message for _, _, message in warnings))


@contextmanager
def _warnings_kept() -> Iterator[Log]:
    """Keep the warnings of reading images, and log none: they are part of what is found in a file."""
    keeper = LogRecorder()
    keeper.setLevel(logging.WARNING)
    logger = logging.getLogger("leafid.images")
    propagate = logger.propagate
    logger.addHandler(keeper)
    logger.propagate = False
    try:
        yield keeper.log
    finally:
        logger.removeHandler(keeper)
        logger.propagate = propagate
