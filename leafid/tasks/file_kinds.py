"""Recognises the files of each task, so that an error can name the command for a file of another task."""

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leafid.errors import LeafidError
from leafid.files import open_input

#: Characters and lines looked at.
_N_CHARACTERS, _N_LINES = 65_536, 20


@dataclass(frozen=True)
class FileKind:
    """A kind of file: what it is, the command that scores it, and a pattern of its lines."""

    description: str
    command: str
    pattern: str = ""
    #: The command that only checks it, if any.
    check: str = ""


_IRMA_CODE = r"[0-9a-zC*]{4}-[0-9a-zC*]{3}-[0-9a-zC*]{3}-[0-9a-zC*]{3}"
#: In the order in which they are tried; `_COCO` and `_MASK` are recognised by the first bytes.
KINDS = (
    FileKind("IRMA codes", "evaluate-irma", rf"\S+(?: \S+){{0,3}} {_IRMA_CODE}"),
    FileKind("an IRMA code table", "evaluate-irma --codes", r"(?:T [0-9a-z]{4}|[DAB] [0-9a-z]{3})(?: .*)?"),
    FileKind("a plant run", "evaluate", r"\S+ [A-Z]\S+ [^*]*[^*\s] \d+ [-+.\deE]+", "check"),
    FileKind("a plant run with higher taxa", "evaluate-hierarchy", r"\S+ (?:[A-Z]\S+ .*|\*) \d+ [-+.\deE]+"),
    FileKind("a plant ground truth", "evaluate", r"[A-Z]\S+ \S.*\.jpe?g"),
    FileKind("a file of the 2016 annotation task", "evaluate-annotation", r"[1-5] \S+(?: .*)?", "check-annotation"),
)
_COCO = FileKind("objects in the COCO format", "evaluate-interpretation")
_MASK = FileKind("a label mask", "evaluate-interpretation")


def recognise_file(path: str | os.PathLike[str]) -> FileKind | None:
    """Recognise a file by its first lines; None for an unknown or unreadable one."""
    try:
        with open_input(path) as stream:
            start = stream.read(_N_CHARACTERS)
    except LeafidError:
        return None
    if start.startswith(b"\x89PNG"):
        return _MASK
    if start.lstrip()[:1] in (b"{", b"["):
        return _COCO if b'"image_id"' in start or b'"images"' in start else None
    lines = [" ".join(line.split()) for line in start.decode("utf-8-sig", "replace").split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")][:_N_LINES]
    for kind in KINDS:
        # Most lines, not all: the file may be faulty.
        if lines and 2 * sum(bool(re.fullmatch(kind.pattern, line, re.ASCII)) for line in lines) > len(lines):
            return kind
    return None


def find_other_command(path: str | os.PathLike[str], *commands: str) -> str | None:
    """Return an error that names the command for a file, if that is known and none of these."""
    kind = recognise_file(path)
    if kind is None or kind.command.split()[0] in commands:
        return None
    command = kind.check if kind.check and commands[0].startswith("check") else kind.command
    return f"{path}: expected a file for 'leafid {commands[0]}', found {kind.description}; use 'leafid {command}'"


@contextlib.contextmanager
def suggesting_command(path: str | os.PathLike[str], *commands: str) -> Iterator[None]:
    """If reading a file fails because it is for none of these commands, raise one error that names the right one."""
    try:
        yield
    except LeafidError as error:
        if problem := find_other_command(path, *commands):
            raise LeafidError(problem) from error
        raise
