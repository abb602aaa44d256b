"""Judges a call of a reader: its result, time, memory, and the files it touches."""

from __future__ import annotations

import os
import resource
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.target import Target
from leafid.errors import LeafidError

MAX_LINE_LENGTH = 1000
#: Maximum growth of the peak memory by a single input, in KiB.
MAX_MEMORY_KIB = 128 * 1024

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Their first arguments are paths.
_CHANGES = {
    *(
        "os.remove",
        "os.rename",
        "os.mkdir",
        "os.rmdir",
        "os.link",
        "os.symlink",
        "os.truncate",
        "os.chmod",
    ),
    *(
        "os.chown",
        "os.utime",
        "os.mkfifo",
        "os.mknod",
        "sqlite3.connect",
        "shutil.rmtree",
        "shutil.move",
    ),
}
_NEVER = {
    *(
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.fork",
        "os.posix_spawn",
        "os.spawn",
        "socket.connect",
    ),
    *("socket.getaddrinfo", "urllib.Request", "pickle.find_class", "marshal.loads"),
}


@dataclass(frozen=True)
class Finding:
    """A fault and its place in the program.

    Findings with the same key count as the same fault.
    """

    kind: str
    place: str
    what: str

    @property
    def key(self) -> tuple[str, str]:
        """Kind and place."""
        return self.kind, self.place


@dataclass
class Watch:
    """Records what the process changes while a reader works.

    An audit hook can't be removed.
    """

    allowed: Path
    touched: list[str] = field(default_factory=list)
    active: bool = False

    def __post_init__(self) -> None:
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple) -> None:
        if not self.active:
            return
        if event == "open":
            path, mode, flags = arguments
            writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (
                flags or 0
            ) & _WRITES
            if writes and not isinstance(path, int):
                self._judge(event, path)
        elif event in _CHANGES:
            self._judge(event, arguments[0])
        elif event in _NEVER and not _is_import(event):
            self.touched.append(f"{event} {arguments!r}"[:200])

    def _judge(self, event: str, path: object) -> None:
        place = (
            str(Path(os.fsdecode(path)).absolute())
            if isinstance(path, str | bytes | os.PathLike)
            else str(path)
        )
        if place != os.devnull and not place.startswith(f"{self.allowed}{os.sep}"):
            self.touched.append(f"{event} {place}")


def _is_import(event: str) -> bool:
    # Compiled modules are read with marshal.
    frame = sys._getframe(1)
    while event == "marshal.loads" and frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    return False


@dataclass(frozen=True)
class Verdict:
    """The result of an input: CPU seconds, its acceptance, and the findings."""

    seconds: float
    accepted: bool
    findings: tuple[Finding, ...]


def judge(target: Target, data: bytes, folder: Path, watch: Watch) -> Verdict:
    """Call the reader on an input.

    Parameters
    ----------
    folder : Path
        The only folder that may be written to; the input is written there.
    """
    findings, accepted = [], False
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    watch.touched.clear()
    start = time.process_time()
    watch.active = True
    try:
        target.call(data, folder)
        accepted = True
    except LeafidError as error:
        if problem := find_message_problem(str(error), folder):
            findings.append(Finding("message", _locate_error(error), problem))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        findings.append(
            Finding(
                "raised", _locate_error(error), f"{type(error).__name__}: {error}"[:300]
            )
        )
    finally:
        watch.active = False
    seconds = time.process_time() - start
    if watch.touched:
        findings.append(
            Finding("touched", watch.touched[0], "; ".join(watch.touched[:5]))
        )
    if seconds > target.max_seconds:
        findings.append(Finding("slow", target.name, f"{seconds:.1f} s"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    if grown > MAX_MEMORY_KIB:
        findings.append(Finding("memory", target.name, f"{grown >> 10} MiB"))
    return Verdict(seconds, accepted, tuple(findings))


def find_message_problem(message: str, folder: Path) -> str | None:
    """Find what is wrong with an error message.

    Each line must be printable and name a file in the folder.
    """
    lines = message.split("\n")
    for line in lines:
        if str(folder) not in line:
            return f"no file named: {line[:200]!r}"
        if not line.isprintable():
            strange = next(letter for letter in line if not letter.isprintable())
            return f"{strange!r} in a line: {line[:200]!r}"
        if len(line) > MAX_LINE_LENGTH:
            return f"a line of {len(line)} characters: {line[:200]!r}"
    return None


def _locate_error(error: BaseException) -> str:
    """Return the line of leafid in which an error was raised."""
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if f"{os.sep}leafid{os.sep}" in f.filename
    ]
    if not frames:
        return f"{type(error).__name__} outside leafid"
    file = frames[-1].filename
    return (
        f"{file[file.rindex(f'{os.sep}leafid{os.sep}') + 1 :]}:{frames[-1].lineno} "
        f"{type(error).__name__}"
    )
