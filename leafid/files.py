"""The one place that opens and writes files, and the one that joins a file name from metadata to a folder."""

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from leafid.errors import LeafidError

#: Maximum length of a file name on common file systems, in bytes.
MAX_NAME_BYTES = 255
#: Maximum length of the name of an output file: a temporary name adds to it, as in `.run.txt.abcdefgh.part`.
MAX_OUTPUT_NAME_BYTES = MAX_NAME_BYTES - 15
_MAX_STDIN_BYTES = 1 << 28
#: Descriptors of the standard streams by their file names.
_STANDARD_STREAMS = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}


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
    if not is_file_name(os.fspath(file)):
        raise error_class(f"expected the name of a file, found {os.fspath(file)!r}")
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

    Missing folders are created. A symbolic link is followed. Pipes and devices are written to directly. A `LeafidError`
    is raised if the folder or the file can't be written (read-only, disk full).
    """
    if is_stream_or_device(path):
        number = _get_stream_number(path)
        with _reporting_write_errors(Path(path)):
            # Opening a redirected stream by its name would overwrite the file from its start.
            descriptor = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
            with _open_descriptor(descriptor, mode) as stream:
                yield stream
        return
    target = resolve_symlink(path)
    with _reporting_write_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _check_output_name(target)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        temporary = Path(name)
        try:
            with _open_descriptor(descriptor, mode) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            # mkstemp creates files for their owner alone; a result is as readable as any other new file.
            temporary.chmod(0o666 & ~_get_umask())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file as `open_output` does."""
    with open_output(path) as stream:
        stream.write(text)


@contextmanager
def _reporting_write_errors(target: Path) -> Iterator[None]:
    """Convert errors of writing a file, and of text that UTF-8 can't encode, into a `LeafidError` that names the file.

    Errors about other files, an input for instance, pass unchanged.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            file = Path(error.filename)
            # The paths that tempfile returns are absolute.
            is_temporary = file.name.startswith(f".{target.name}.") and file.parent == target.parent.absolute()
            if not is_temporary and file != target and file not in target.parents:
                raise
        raise _make_write_error(target, error) from error
    except UnicodeEncodeError as error:
        context = error.object[max(0, error.start - 30) : error.end + 30]
        raise LeafidError(
            f"{target}: can't be written: expected names that UTF-8 can hold, found {context!r}; rename it"
        ) from None


def _open_descriptor(descriptor: int, mode: str) -> IO:
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    # The overloads of fdopen can't express a mode that is known at run time only.
    return os.fdopen(descriptor, mode, **text)  # type: ignore[call-overload]


def _get_stream_number(path: str | os.PathLike[str]) -> int | None:
    return _STANDARD_STREAMS.get(os.fspath(path))


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
    if len(os.fsencode(name)) > MAX_NAME_BYTES:
        raise LeafidError(f"expected a file name of at most {MAX_NAME_BYTES} bytes, found {name!r}")
    return Path(folder) / name


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
