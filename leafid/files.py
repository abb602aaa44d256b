"""The one place that writes files, and the one that joins a name from metadata to a folder."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import tempfile
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from leafid.errors import LeafidError

_PART = ".part"
#: Bytes of a file's name on the usual file systems.
LONGEST_NAME = 255
#: Seconds for which a temporary file is left alone whatever it looks like.
_YOUNG = 60
#: Streams that this process was started with, by the names that they have as files.
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_NUMBERED_STREAM = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


def is_pipe_or_device(path: Path) -> bool:
    """Tell whether a path is neither a file nor a folder: reading it might be waited for without end."""
    return path.exists() and not (path.is_file() or path.is_dir())


def is_stream_or_device(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is written straight into: a pipe, a device, or a stream like ``/dev/stdout``.

    A file that took its name would be in its place.
    """
    return _stream_number(path) is not None or is_pipe_or_device(Path(path))


def resolve_symlink(path: str | os.PathLike[str]) -> Path:
    """Give the file that a symbolic link leads to: that one is to be replaced, and not the link."""
    return Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)


@contextmanager
def open_output(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO]:
    """Open a file for writing that appears under its name only when it is whole.

    The content goes to a temporary file in the same folder, which is synced and renamed at the end of the
    ``with`` block. When the block raises, the temporary file is removed and an older file of that name is untouched.
    What a process left behind that was killed meanwhile, the next one that writes the file removes.

    A symbolic link is followed. A pipe or device is written into as the block goes on.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is made where it is missing.
    mode : {"w", "wb"}
        Text is UTF-8 with line feeds as line ends.

    Yields
    ------
    file object

    Raises
    ------
    LeafidError
        When the folder or the file can't be written (read-only, disk full).
    """
    if is_stream_or_device(path):
        with _straight(Path(path), mode) as stream:
            yield stream
        return
    target = resolve_symlink(path)
    temporary: str | None = None
    try:
        with reporting_write_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            _refuse_folder(target)
            _remove_abandoned(target)
            descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=_PART, dir=target.parent)
            lock(descriptor)
            with _opened(descriptor, mode) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            # mkstemp makes files that only their owner may read; a result is as readable as any other new file.
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(target)
            temporary = None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def _straight(path: Path, mode: str) -> Iterator[IO]:
    """Open what takes no name; a pipe without a reader waits for one, as it does for any program."""
    number = _stream_number(path)
    with reporting_write_errors(path):
        # Opened anew by its name, a stream that goes to a file would be written over what is there.
        descriptor = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        with _opened(descriptor, mode) as stream:
            yield stream


@contextmanager
def reporting_write_errors(target: Path, beside: Container[Path] = ()) -> Iterator[None]:
    """Turn what keeps a file from being written into a line for a person.

    Parameters
    ----------
    target : Path
        The file that the ``with`` block writes.
    beside : container of Path, optional
        What is written for it meanwhile, besides the temporary file of `open_output`.

    Raises
    ------
    LeafidError
        In place of an error of the system about these files, or the folders that they are in; in place of an error
        about text that UTF-8 can't hold. Errors about other files are passed on.
    """
    try:
        yield
    except OSError as error:
        # The block may have failed at some other file: that is not this file's fault.
        if error.filename is not None:
            other = Path(error.filename)
            if other not in beside and not _is_own(other, target):
                raise
        raise _unwritable(target, error) from error
    except UnicodeEncodeError as error:
        if error.encoding != "utf-8":
            raise
        around = error.object[max(0, error.start - 30) : error.end + 30]
        raise LeafidError(
            f"{target}: can't be written: expected names that UTF-8 can hold, found {around!r}; rename what has it"
        ) from None


def _is_own(file: Path, target: Path) -> bool:
    """Tell whether a file is the target, its temporary file, or a folder above it."""
    if file == target or file in target.parents:
        return True
    # The paths that tempfile gives its files are absolute.
    return file.name.startswith(f".{target.name}.") and file.parent == target.parent.absolute()


def _opened(descriptor: int, mode: str) -> IO:
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    # The keywords of text and binary files differ, which no overload of fdopen can say of a mode known at run time.
    return os.fdopen(descriptor, mode, **text)  # type: ignore[call-overload]


def _stream_number(path: str | os.PathLike[str]) -> int | None:
    name = os.fspath(path)
    numbered = _NUMBERED_STREAM.fullmatch(name)
    return int(numbered[1]) if numbered else _STREAMS.get(name)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out before long work whether `open_output` will be able to write a file; leaves nothing behind.

    Raises
    ------
    LeafidError
        When there is a folder of that name, or no file can be made in the place.
    """
    if is_stream_or_device(path):
        # Not opened: its reader would take the end of that for the end of all.
        if _stream_number(path) is None and not os.access(path, os.W_OK):
            raise LeafidError(f"{path}: can't be written: Permission denied")
        return
    target = resolve_symlink(path)
    _refuse_folder(target)
    folder = target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise LeafidError(f"{target}: can't be written: {folder} is no folder")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(target, error) from error


def is_utf8(name: str) -> bool:
    """Tell whether a file's name can be written as text: its bytes may be none, which Python keeps as surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def safe_join(folder: str | os.PathLike[str], name: str) -> Path:
    """Join a file name that came from metadata to a folder, never leaving the folder.

    Parameters
    ----------
    folder : path-like
        The folder that the name belongs to.
    name : str
        A plain file name.

    Returns
    -------
    Path

    Raises
    ------
    LeafidError
        When the name is empty, absolute, has a folder in it, is not a plain name, or is longer than one can be.
    """
    if not name or name in {".", ".."} or any(c in name for c in "/\\\0"):
        raise LeafidError(f"expected a plain file name, found {name!r}")
    # The usual file systems hold no longer ones, and merely asking whether there is such a file raises.
    if len(name.encode(errors="surrogatepass")) > LONGEST_NAME:
        raise LeafidError(f"expected a file name of at most {LONGEST_NAME} bytes, found {name!r}")
    return Path(folder) / name


def _unwritable(target: Path, error: OSError) -> LeafidError:
    return LeafidError(f"{target}: can't be written: {error.strerror or error}")


def _remove_abandoned(target: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote this file."""
    for file in target.parent.glob(f".{glob.escape(target.name)}.*{_PART}"):
        # A process that is alive holds the lock on its file; one that only just made it may not yet.
        with contextlib.suppress(OSError), file.open("rb") as stream:
            if time.time() - os.fstat(stream.fileno()).st_mtime > _YOUNG and lock(stream.fileno()) == "held":
                file.unlink()


def lock(descriptor: int) -> Literal["held", "taken", "unsupported"]:
    """Lock a file for as long as this process has it open, without waiting for another process that has.

    Returns
    -------
    {"held", "taken", "unsupported"}
        By this process; by another one; by none, as the operating system or the file system knows no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return "unsupported"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "taken"
    except OSError:
        return "unsupported"
    return "held"


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise LeafidError(f"{target}: expected a file to write, found a folder; name a file in it")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
