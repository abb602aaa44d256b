"""Writes a file piece by piece, so that the same work goes on after an interruption where it stopped.

Beside ``run.txt``, ``run.txt.part`` grows, and ``run.txt.part.journal`` says of every piece how far it reaches,
its checksum, and what the writer has to know of it. A piece counts from the moment that its line in the journal is on
the disk. The file takes its name only when it is whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from leafid.errors import LeafidError
from leafid.files import check_writable, is_stream_or_device, lock, open_output, reporting_write_errors, resolve_symlink

_FORMAT = "leafid journal 1"


class ResumableFile:
    """The pieces of a file that is being written.

    Attributes
    ----------
    part, journal : Path
        The files that there are until the file is whole.
    records : list of dict
        What `append` was told of each piece, those that earlier processes wrote included.
    is_restarted : bool
        Whether pieces of other work were there, and were thrown away.
    is_resumable : bool
        Whether the next call finds those that are there when this one is interrupted.
    """

    is_resumable = True

    def __init__(self, target: Path, journal: IO[bytes], fingerprint: str) -> None:
        self.part, self.journal = _names(target)
        self.records: list[dict[str, Any]] = []
        self.is_restarted = False
        self._journal = journal
        self._stream: IO[bytes]
        header = {"format": _FORMAT, "question": fingerprint}
        lines = list(_whole_lines(journal))
        known = lines[0][0] if lines else {}
        # The journal is there before the part is: one that stands alone is not ours to write over.
        if known.get("format") != _FORMAT and self.part.exists():
            raise LeafidError(f"{self.part}: is in the way, and belongs to no run; move it away")
        if known == header and self.part.exists():
            self._go_on(lines)
            return
        self.is_restarted = self.part.exists()
        self.part.unlink(missing_ok=True)
        _cut(journal, 0)
        _written(journal, _line(header))
        self._stream = self.part.open("w+b")

    def _go_on(self, lines: list[tuple[dict[str, Any], int]]) -> None:
        """Take the pieces up that are whole, and cut off what follows them."""
        self._stream = self.part.open("r+b")
        end, journal_end = 0, lines[0][1]
        for line, line_end in lines[1:]:
            content = self._stream.read(line["bytes"])
            if len(content) != line["bytes"] or zlib.crc32(content) != line["crc"]:
                break
            self.records.append(line["facts"])
            end, journal_end = end + len(content), line_end
        _cut(self._stream, end)
        _cut(self._journal, journal_end)

    def append(self, text: str, record: dict[str, Any]) -> None:
        """Add a piece, with what the writer wants to know of it when it goes on; it is on the disk afterwards.

        Parameters
        ----------
        text : str
        record : dict
            As JSON holds it.
        """
        content = text.encode()
        _written(self._stream, content)
        line = {"bytes": len(content), "crc": zlib.crc32(content), "facts": record}
        _written(self._journal, _line(line))
        self.records.append(record)

    def close(self) -> None:
        """Close the part file."""
        self._stream.close()


class StreamedFile(ResumableFile):
    """Pieces that go into a pipe or a device, in which nothing can be found again."""

    is_resumable = False

    def __init__(self, stream: IO[bytes]) -> None:
        self.records = []
        self.is_restarted = False
        self._stream = stream

    def append(self, text: str, record: dict[str, Any]) -> None:  # noqa: D102
        self._stream.write(text.encode())
        self._stream.flush()
        self.records.append(record)


@contextmanager
def open_resumable(path: str | os.PathLike[str], fingerprint: str) -> Iterator[ResumableFile]:
    """Write a file piece by piece; go on with the pieces of an earlier process that was at the same work.

    When the ``with`` block ends well, the file is whole and takes its name. When it raises, or the process is killed,
    the pieces stay for the next call; an older file of that name is untouched.

    A symbolic link is followed. Into a pipe or device each piece goes at once, and none is kept.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is made where it is missing.
    fingerprint : str
        Identifies all that decides about the content: pieces with another fingerprint are discarded.

    Yields
    ------
    ResumableFile

    Raises
    ------
    LeafidError
        When another process is at this file, when a file of another origin is in the way, or it can't be written.
    """
    check_writable(path)
    if is_stream_or_device(path):
        with open_output(path, "wb") as passed_on:
            yield StreamedFile(passed_on)
        return
    target = resolve_symlink(path)
    part, journal = _names(target)
    with reporting_write_errors(target, beside=(part, journal)):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(journal, target) as stream:
            pieces = None
            try:
                pieces = ResumableFile(target, stream, fingerprint)
                with contextlib.closing(pieces):
                    yield pieces
                part.replace(target)
                journal.unlink()
            except BaseException:
                # Nothing worth going on with: nothing is left lying about.
                if pieces is not None and not pieces.records:
                    part.unlink(missing_ok=True)
                    journal.unlink(missing_ok=True)
                elif pieces is None and not journal.stat().st_size:
                    journal.unlink()
                raise


@contextmanager
def _locked(journal: Path, target: Path) -> Iterator[IO[bytes]]:
    """Open the journal for this process alone; the lock ends with the process, however it ends."""
    while True:
        stream = os.fdopen(os.open(journal, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            # Where there are no locks, one has to take care oneself.
            if lock(stream.fileno()) == "taken":
                raise LeafidError(f"{target}: another process is writing it; wait for it, or name another file")
            # Whoever had the lock before may have finished, and the journal be gone: then this is none any more.
            if _same(stream, journal):
                yield stream
                return
        finally:
            stream.close()


def _same(stream: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _names(target: Path) -> tuple[Path, Path]:
    return target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.journal")


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _whole_lines(journal: IO[bytes]) -> Iterator[tuple[dict[str, Any], int]]:
    """Read the journal as far as it is whole, each line with where it ends: the last may be torn."""
    end = 0
    for raw in journal:
        try:
            line = json.loads(raw) if raw.endswith(b"\n") else None
        except ValueError:
            return
        if not isinstance(line, dict) or (end and not _is_piece(line)):
            return
        end += len(raw)
        yield line, end


def _is_piece(line: dict[str, Any]) -> bool:
    return (
        isinstance(line.get("bytes"), int)
        and line["bytes"] >= 0
        and isinstance(line.get("crc"), int)
        and isinstance(line.get("facts"), dict)
    )


def _written(stream: IO[bytes], content: bytes) -> None:
    stream.write(content)
    stream.flush()
    os.fsync(stream.fileno())


def _cut(stream: IO[bytes], end: int) -> None:
    stream.seek(end)
    stream.truncate()
