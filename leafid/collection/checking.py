"""Opens the files of a collection to see whether they can be used."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from leafid.collection.hashing import content_hash
from leafid.errors import LeafidError
from leafid.images import image_size, read_image


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
    with _Warnings() as warnings:
        try:
            digest = content_hash(file)
            if decode:
                read_image(file)
            else:
                image_size(file)
        except LeafidError as error:
            return FileCheck(file, digest, str(error))
    return FileCheck(file, digest, None, tuple(warnings.lines))


@dataclass
class _Warnings:
    """Keeps the warnings of reading images, which a worker process could not hand to the command line otherwise."""

    lines: list[str] = field(default_factory=list)

    def __enter__(self) -> _Warnings:
        self._handler = _ListHandler(self.lines)
        self._logger = logging.getLogger("leafid.images")
        self._propagate = self._logger.propagate
        self._logger.addHandler(self._handler)
        self._logger.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self._handler)
        self._logger.propagate = self._propagate


class _ListHandler(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
