"""Writes a file in chunks that survive an interruption, so that the same work can resume after the last chunk.

While ``run.txt`` is incomplete, ``run.txt.part`` holds its chunks, and ``run.txt.part.journal`` has a line for each:
its size, its checksum and what the caller recorded about it. A chunk counts once its journal line is on the disk.
"""

import contextlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from leafid.errors import LeafidError
from leafid.files import (
    check_writable,
    is_stream_or_device,
    lock,
    open_output,
    open_own_file,
    reporting_write_errors,
    resolve_symlink,
)

# The keys of the journal's lines are those of its first version, so that runs begun by it can be resumed.
_FORMAT = "leafid journal 1"
_HEADER_START = json.dumps({"format": _FORMAT, "fingerprint": ""}).encode()[:-2]


class ResumableFile:
    """A file to which chunks are appended, see `open_resumable`.

    `records` are those of all chunks, including those that earlier processes wrote. `part` is the incomplete file, None
    for a pipe or device, which can't be resumed. `is_restarted` tells whether chunks with another fingerprint were
    discarded.
    """

    def __init__(self, stream: IO[bytes], journal: IO[bytes] | None = None, part: Path | None = None) -> None:
        self.records: list[dict[str, Any]] = []
        self.part = part
        self.is_restarted = False
        self._stream = stream
        self._journal = journal

    def append(self, text: str, record: dict[str, Any]) -> None:
        """Append a chunk and a record of it as JSON holds it; both are on the disk afterwards."""
        # A file name may hold bytes that are no text.
        content = text.encode(errors="backslashreplace")
        if self._journal is None:
            self._stream.write(content)
            self._stream.flush()
        else:
            _write_synced(self._stream, content)
            line = {"bytes": len(content), "crc": zlib.crc32(content), "facts": record}
            _write_synced(self._journal, _encode_line(line))
        self.records.append(record)


@contextmanager
def open_resumable(
    path: str | os.PathLike[str], fingerprint: str, is_record: Callable[[dict[str, Any]], bool] = lambda _record: True
) -> Iterator[ResumableFile]:
    """Write a file in chunks, resuming after the chunks of an interrupted process with the same fingerprint.

    The fingerprint identifies everything that decides the content: chunks with another fingerprint are discarded, and
    so are those whose records `is_record` refuses. When the ``with`` block
    succeeds, the file is complete and takes its name. When it raises, or the process is killed, the chunks stay for the
    next call, and an existing file of that name stays as it was.

    Missing folders are created. A symbolic link is followed. Into a pipe or device each chunk is written immediately. A
    `LeafidError` is raised if another process is writing the file, a file that leafid didn't write has the name of the
    part or the journal, or the file can't be written.
    """
    check_writable(path)
    if is_stream_or_device(path):
        with open_output(path, "wb") as stream:
            yield ResumableFile(stream)
        return
    target = resolve_symlink(path)
    part, journal_file = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.journal")
    with reporting_write_errors(target, beside=(part, journal_file)):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _open_journal(journal_file, target) as journal:
            file: ResumableFile | None = None
            try:
                file = _open_part(part, journal_file, journal, fingerprint, is_record)
                with contextlib.closing(file._stream):
                    yield file
                part.replace(target)
                journal_file.unlink()
            except BaseException:
                # Leave nothing behind that is not worth resuming.
                if file is not None and not file.records:
                    part.unlink(missing_ok=True)
                    journal_file.unlink(missing_ok=True)
                elif file is None and not journal_file.stat().st_size:
                    journal_file.unlink()
                raise


@contextmanager
def _open_journal(journal_file: Path, target: Path) -> Iterator[IO[bytes]]:
    """Open the journal for this process alone; the lock ends with the process, however that ends."""
    while True:
        stream = os.fdopen(open_own_file(journal_file, os.O_RDWR | os.O_CREAT), "r+b")
        try:
            # Where the system has no locks, the user has to run one process at a time.
            if lock(stream.fileno()) == "taken":
                raise LeafidError(f"{target}: another process is writing it; wait for it, or name another file")
            # The process that held the lock may have finished and removed this journal.
            if _is_same_file(stream, journal_file):
                yield stream
                return
        finally:
            stream.close()


def _is_same_file(stream: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _open_part(
    part: Path, journal_file: Path, journal: IO[bytes], fingerprint: str, is_record: Callable[[dict[str, Any]], bool]
) -> ResumableFile:
    """Open the part file after its last complete chunk, or a new one if the chunks are not of this run."""
    header = {"format": _FORMAT, "fingerprint": fingerprint}
    start = journal.read(len(_HEADER_START))
    # A power cut may tear the header.
    if not _HEADER_START.startswith(start):
        raise _make_foreign_file_error(journal_file)
    journal.seek(0)
    lines = list(_read_complete_lines(journal))
    # The journal is created before the part file, so that a part file without a journal is not ours.
    if not lines and os.path.lexists(part):
        raise _make_foreign_file_error(part)
    if lines and lines[0][0] == header and os.path.lexists(part):
        file = ResumableFile(os.fdopen(open_own_file(part, os.O_RDWR), "r+b"), journal, part)
        _restore_chunks(file, journal, lines, is_record)
        return file
    is_restarted = os.path.lexists(part)
    if is_restarted:
        os.close(open_own_file(part, os.O_RDONLY))
        part.unlink()
    _truncate(journal, 0)
    _write_synced(journal, _encode_line(header))
    file = ResumableFile(os.fdopen(open_own_file(part, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b"), journal, part)
    file.is_restarted = is_restarted
    return file


def _restore_chunks(
    file: ResumableFile,
    journal: IO[bytes],
    lines: list[tuple[dict[str, Any], int]],
    is_record: Callable[[dict[str, Any]], bool],
) -> None:
    """Take up the chunks that are complete, and cut off what follows them."""
    end, journal_end = 0, lines[0][1]
    size = os.fstat(file._stream.fileno()).st_size
    for line, line_end in lines[1:]:
        if not is_record(line["facts"]) or line["bytes"] > size:
            break
        content = file._stream.read(line["bytes"])
        if len(content) != line["bytes"] or zlib.crc32(content) != line["crc"]:
            break
        file.records.append(line["facts"])
        end, journal_end = end + len(content), line_end
    _truncate(file._stream, end)
    _truncate(journal, journal_end)


def _make_foreign_file_error(file: Path) -> LeafidError:
    return LeafidError(f"{file}: is in the way, and belongs to no run; move it away")


def _encode_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _read_complete_lines(journal: IO[bytes]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the journal's lines, each with the offset of its end, up to the first that is torn."""
    end = 0
    for raw in journal:
        try:
            line = json.loads(raw) if raw.endswith(b"\n") else None
        except ValueError:
            return
        if not isinstance(line, dict) or (end and not _is_chunk_line(line)):
            return
        end += len(raw)
        yield line, end


def _is_chunk_line(line: dict[str, Any]) -> bool:
    size, checksum, record = (line.get(key) for key in ("bytes", "crc", "facts"))
    return isinstance(size, int) and size >= 0 and isinstance(checksum, int) and isinstance(record, dict)


def _write_synced(stream: IO[bytes], content: bytes) -> None:
    stream.write(content)
    stream.flush()
    os.fsync(stream.fileno())


def _truncate(stream: IO[bytes], end: int) -> None:
    stream.seek(end)
    stream.truncate()
