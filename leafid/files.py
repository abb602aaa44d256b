"""The one place that opens and writes files, and joins names to a folder.

The names are from metadata.
"""

import io
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from leafid.errors import LeafidError

#: A path, as functions that read and write files take it.
StrPath = str | os.PathLike[str]


def is_pipe_or_device(path: StrPath) -> bool:
    """Check whether a path is neither file nor folder.

    To read it might never end, and a file that is renamed to it removes it.
    """
    target = Path(path)
    return target.exists() and not (target.is_file() or target.is_dir())


def resolve_symlink(path: StrPath) -> Path:
    """Return the target of a link to a file, which is replaced in place of the link."""
    if Path(path).is_symlink() and not is_pipe_or_device(path):
        path = os.path.realpath(path)
    return Path(path)


@contextmanager
def open_input(file: StrPath) -> Iterator[io.BufferedReader]:
    """Open a file for reading, and report errors of opening and reading it.

    Refuse pipes and devices.
    """
    if not is_file_name(os.fspath(file)):
        raise LeafidError(f"expected the name of a file, found {os.fspath(file)!r}")
    try:
        if is_pipe_or_device(file):
            raise LeafidError(
                f"{file}: expected a file, found a named pipe or a device"
            )
        with Path(file).open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise LeafidError(f"{file}: no such file") from None
    except IsADirectoryError:
        raise LeafidError(f"{file}: expected a file, found a folder") from None
    except OSError as error:
        raise LeafidError(
            f"{file}: can't be read: {error.strerror or error}"
        ) from error


@contextmanager
def open_output(path: StrPath, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open a file for writing that appears under its name only when it is complete.

    Text is UTF-8 with line feeds. The content goes to a hidden file in the same folder,
    which is synced and renamed at the end of the ``with`` block. If the block raises,
    it is gone, and an existing file stays as it was.

    Missing folders are created, symbolic links followed, and pipes and devices written
    to directly. A `LeafidError` is raised if the file can't be written, but a
    `BrokenPipeError` if the reader of a pipe is gone. Bytes of file names that are no
    UTF-8 are escaped.
    """
    check_writable(path)
    text = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    if mode == "wb":
        text = {}
    with _reporting_write_errors(path):
        if is_pipe_or_device(path):
            with Path(path).open(mode, **text) as stream:  # type: ignore[call-overload]  # not literal
                yield stream
            return
        target = resolve_symlink(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with temporary.open(mode, **text) as stream:  # type: ignore[call-overload]  # not literal
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: StrPath, text: str) -> None:
    """Write a whole text file as `open_output` does."""
    with open_output(path) as stream:
        stream.write(text)


def write_files(folder: StrPath, files: Mapping[str, str]) -> None:
    """Write texts to a folder by the names of their files."""
    for name, text in files.items():
        write_text(Path(folder, name), text)


def check_writable(path: StrPath) -> None:
    """Check that `open_output` can write a file, or raise a `LeafidError`.

    This creates nothing; it comes before long work.
    """
    with _reporting_write_errors(path):
        target = resolve_symlink(path)
        if target.is_dir():
            raise IsADirectoryError("expected a file, found a folder")
        place = next(
            place for place in (target, *target.absolute().parents) if place.exists()
        )
        if not os.access(place, os.W_OK) or not (place == target or place.is_dir()):
            raise PermissionError(f"{place} is not a folder that can be written to")


@contextmanager
def _reporting_write_errors(target: StrPath) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # of a reader that has seen enough
        raise
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise LeafidError(
            f"{target}: can't be written: {error.strerror or error}{where}"
        ) from error


def is_file_name(word: str) -> bool:
    """Check that the system can look for a path: no NUL, no lone surrogate."""
    try:
        return word != "" and b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def safe_join(folder: StrPath, name: str) -> Path:
    """Join a name from metadata to a folder; raise a `LeafidError` if it leaves it."""
    if (
        not is_file_name(name)
        or name in {".", ".."}
        or any(character in name for character in "/\\")
    ):
        raise LeafidError(f"expected a plain file name, found {name!r}")
    # For a longer name, even asking whether the file exists raises an error.
    if len(os.fsencode(name)) > 255:
        raise LeafidError(f"expected a file name of at most 255 bytes, found {name!r}")
    return Path(folder) / name
