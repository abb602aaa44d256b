"""Opens picture files to find out whether they can be used."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.decoding import read_image, read_image_size
from leafid.pictures.hashing import hash_picture_file
from leafid.workers import Log, LogRecorder


@dataclass(frozen=True)
class FileCheck:
    """What was found in a picture file."""

    file: Path
    #: SHA-256 of the content; None if the file can't be opened.
    digest: str | None = None
    #: Why the picture can't be read.
    error: str | None = None
    #: Damage of a picture that can be read.
    warnings: tuple[str, ...] = ()


def check_file(file: Path, decode: bool = True) -> FileCheck:
    """Read a picture and report what was found, without raising.

    Without `decode` only the header is read, which is faster but misses truncation.
    """
    digest: str | None = None
    read = read_image if decode else read_image_size
    with _recording_image_warnings() as warnings:
        try:
            digest = hash_picture_file(file)
            read(file)
        except LeafidError as error:
            return FileCheck(file, digest, str(error))
    return FileCheck(file, digest, None, tuple(message for _, _, message in warnings))


@contextmanager
def _recording_image_warnings() -> Iterator[Log]:
    """Collect the warnings of reading images instead of logging them: they are part of the result."""
    recorder = LogRecorder()
    recorder.setLevel(logging.WARNING)
    logger = logging.getLogger("leafid.pictures")
    propagate = logger.propagate
    logger.addHandler(recorder)
    logger.propagate = False
    try:
        yield recorder.log
    finally:
        logger.removeHandler(recorder)
        logger.propagate = propagate
