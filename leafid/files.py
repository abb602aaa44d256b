"""The one place that writes files, and the one that joins a file name from metadata to a folder."""

import contextlib
import io
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from leafid.errors import LeafidError

#: Maximum length of a file name on common file systems, in bytes.
MAX_NAME_BYTES = 255
_TEMPORARY_SUFFIX = ".part"
#: Age in seconds below which a temporary file is never taken for abandoned.
MIN_ABANDONED_AGE = 60
#: Number of bytes that a temporary name adds to the name of an output, as in `.run.txt.abcdefgh.part`.
_MAX_ADDED_BYTES = 15
#: Maximum length of the name of an output file, in bytes.
MAX_OUTPUT_NAME_BYTES = MAX_NAME_BYTES - _MAX_ADDED_BYTES
_MAX_STDIN_BYTES = 1 << 28
#: Descriptors of the standard streams by their file names.
_STANDARD_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_NUMBERED_STREAM = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")
# Neither follow a link nor wait for the other end of a pipe.
_SAFE_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def is_pipe_or_device(path: Path) -> bool:
    """Tell whether a path is neither a file nor a folder, so that reading it might never end."""
    return path.exists() and not (path.is_file() or path.is_dir())


def is_stream_or_device(path: str | os.PathLike[str]) -> bool:
    """Tell whether output goes directly into a path: a pipe, a device, or a stream such as ``/dev/stdout``.

    Renaming a finished file to such a path would replace it.
    """
    return _get_stream_number(path) is not None or is_pipe_or_device(Path(path))


def resolve_symlink(path: str | os.PathLike[str]) -> Path:
    """Return the target of a symbolic link, so that the target is replaced and not the link."""
    return Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)


@contextmanager
def open_input(
    file: str | os.PathLike[str], error_class: type[LeafidError] = LeafidError
) -> Iterator[io.BufferedReader]:
    """Open a file for reading, and report errors of opening and reading it; ``-`` is standard input.

    Pipes and devices are refused, as they might never end.
    """
    if os.fspath(file) == "-":
        # Some readers seek.
        content = sys.stdin.buffer.read(_MAX_STDIN_BYTES + 1)
        if len(content) > _MAX_STDIN_BYTES:
            raise error_class(f"-: expected at most {_MAX_STDIN_BYTES >> 20} MiB on stdin, found more; name a file")
        yield io.BufferedReader(io.BytesIO(content))
        return
    path = Path(file)
    try:
        if is_pipe_or_device(path):
            raise error_class(f"{file}: expected a file, found a named pipe or a device")
        with path.open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise error_class(f"{file}: no such file") from None
    except IsADirectoryError:
        raise error_class(f"{file}: expected a file, found a folder") from None
    except OSError as error:
        raise error_class(f"{file}: can't be read: {error.strerror or error}") from error


@contextmanager
def open_output(path: str | os.PathLike[str], mode: Literal["w", "wb"] = "w") -> Iterator[IO]:
    """Open a file for writing that appears under its name only when it is complete; text is UTF-8 with line feeds.

    The content goes to a temporary file in the same folder, which is synced and renamed at the end of the ``with``
    block. If the block raises, the temporary file is removed and an existing file of that name stays as it was.
    Temporary files of killed processes are removed by the next call for the same path.

    Missing folders are created. A symbolic link is followed. Pipes and devices are written to directly. A `LeafidError`
    is raised if the folder or the file can't be written (read-only, disk full).
    """
    if is_stream_or_device(path):
        with _open_stream(Path(path), mode) as stream:
            yield stream
        return
    target = resolve_symlink(path)
    temporary: str | None = None
    try:
        with reporting_write_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            _check_output_name(target)
            _remove_abandoned_files(target)
            descriptor, temporary = tempfile.mkstemp(
                prefix=f".{target.name}.", suffix=_TEMPORARY_SUFFIX, dir=target.parent
            )
            lock(descriptor)
            with _open_descriptor(descriptor, mode) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            # mkstemp creates files for their owner alone; a result is as readable as any other new file.
            Path(temporary).chmod(0o666 & ~_get_umask())
            Path(temporary).replace(target)
            temporary = None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file as `open_output` does."""
    with open_output(path) as stream:
        stream.write(text)


@contextmanager
def _open_stream(path: Path, mode: str) -> Iterator[IO]:
    """Open a stream, pipe or device; a pipe without a reader blocks, as it does for any program."""
    number = _get_stream_number(path)
    with reporting_write_errors(path):
        # Opening a redirected stream by its name would overwrite the file from its start.
        descriptor = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        with _open_descriptor(descriptor, mode) as stream:
            yield stream


@contextmanager
def reporting_write_errors(target: Path, beside: Container[Path] = ()) -> Iterator[None]:
    """Convert errors of writing a file into a `LeafidError` that names the file.

    Errors about other files pass unchanged; `beside` lists files that are written on behalf of the target. Text that
    UTF-8 can't encode is reported as well.
    """
    try:
        yield
    except OSError as error:
        # The block may have failed at another file, an input for instance.
        if error.filename is not None:
            file = Path(error.filename)
            if file not in beside and not _belongs_to(file, target):
                raise
        raise _make_write_error(target, error) from error
    except UnicodeEncodeError as error:
        if error.encoding != "utf-8":
            raise
        context = error.object[max(0, error.start - 30) : error.end + 30]
        raise LeafidError(
            f"{target}: can't be written: expected names that UTF-8 can hold, found {context!r}; rename it"
        ) from None


def _belongs_to(file: Path, target: Path) -> bool:
    """Tell whether a file is the target, its temporary file, or a folder above it."""
    if file == target or file in target.parents:
        return True
    # The paths that tempfile returns are absolute.
    return file.name.startswith(f".{target.name}.") and file.parent == target.parent.absolute()


def _open_descriptor(descriptor: int, mode: str) -> IO:
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    # The overloads of fdopen can't express a mode that is known at run time only.
    return os.fdopen(descriptor, mode, **text)  # type: ignore[call-overload]


def _get_stream_number(path: str | os.PathLike[str]) -> int | None:
    name = os.fspath(path)
    numbered = _NUMBERED_STREAM.fullmatch(name)
    return int(numbered[1]) if numbered else _STANDARD_STREAMS.get(name)


def open_own_file(file: Path, flags: int) -> int:
    """Open a file under a name that leafid chose, and return its descriptor.

    A `LeafidError` is raised if the name belongs to a link, a folder, a pipe or a device, which leafid never creates.
    """
    if not file.is_symlink():
        descriptor = os.open(file, flags | _SAFE_OPEN, 0o666)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    raise LeafidError(f"{file}: expected a file of leafid's own, found a link, a pipe or a device; move it away")


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check before long work that `open_output` can write a file, or raise a `LeafidError`; creates nothing."""
    if is_stream_or_device(path):
        # Opening and closing a pipe would tell its reader that the output has ended.
        if _get_stream_number(path) is None and not os.access(path, os.W_OK):
            raise LeafidError(f"{path}: can't be written: Permission denied")
        return
    target = resolve_symlink(path)
    _check_output_name(target)
    folder = target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise LeafidError(f"{target}: can't be written: {folder} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _make_write_error(target, error) from error


def is_utf8(name: str) -> bool:
    """Tell whether a file name can be written as text: Python keeps bytes that are not UTF-8 as surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_file_name(word: str) -> bool:
    """Tell whether the system can look for a file of this name, or path: it has no NUL and no lone surrogate."""
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def safe_join(folder: str | os.PathLike[str], name: str) -> Path:
    """Join a file name from metadata to a folder without ever leaving the folder, or raise a `LeafidError`."""
    if not is_file_name(name) or name in {"", ".", ".."} or any(character in name for character in "/\\"):
        raise LeafidError(f"expected a plain file name, found {name!r}")
    # For a longer name, even asking whether the file exists raises an error.
    if len(name.encode(errors="surrogatepass")) > MAX_NAME_BYTES:
        raise LeafidError(f"expected a file name of at most {MAX_NAME_BYTES} bytes, found {name!r}")
    return Path(folder) / name


def lock(descriptor: int) -> Literal["held", "taken", "unsupported"]:
    """Lock a file, without waiting, for as long as this process has it open.

    The lock may be "taken" by another process, or "unsupported" by the system or the file system.
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


def is_abandoned(file: Path) -> bool:
    """Tell whether the process that keeps a file of leafid locked was killed."""
    with contextlib.suppress(OSError, LeafidError), os.fdopen(open_own_file(file, os.O_RDONLY), "rb") as stream:
        # A live process holds the lock on its file, unless it created the file a moment ago.
        age = time.time() - os.fstat(stream.fileno()).st_mtime
        return age > MIN_ABANDONED_AGE and lock(stream.fileno()) == "held"
    return False


def _remove_abandoned_files(target: Path) -> None:
    """Remove the temporary files of processes that were killed while writing this file."""
    # The random part of a name as tempfile makes it: a file of another origin is not ours to remove.
    own_name = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}{re.escape(_TEMPORARY_SUFFIX)}")
    for file in target.parent.iterdir():
        if own_name.fullmatch(file.name) and is_abandoned(file):
            with contextlib.suppress(OSError):
                file.unlink()


def _make_write_error(target: Path, error: OSError) -> LeafidError:
    return LeafidError(f"{target}: can't be written: {error.strerror or error}")


def _check_output_name(target: Path) -> None:
    if len(os.fsencode(target.name)) > MAX_OUTPUT_NAME_BYTES:
        raise LeafidError(f"{target}: expected a file name of at most {MAX_OUTPUT_NAME_BYTES} bytes; name another")
    if target.is_dir():
        raise LeafidError(f"{target}: expected a file to write, found a folder; name a file in it")


def _get_umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
