"""Judges one call of a reader: what may come out, how long it may take, what it may touch."""

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

#: CPU seconds: the machine may be busy with other things, and a hang is one on any machine.
LONGEST = 1.0
MAX_LINE_LENGTH = 1000
#: What a single input may add to the peak memory, in KiB.
MOST_MEMORY = 128 * 1024

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# First arguments are paths.
_CHANGES = {
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
    *("os.chown", "os.utime", "os.mkfifo", "os.mknod", "sqlite3.connect", "shutil.rmtree", "shutil.move"),
}
_NEVER = {
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "socket.connect"),
    *("socket.getaddrinfo", "urllib.Request", "pickle.find_class", "marshal.loads"),
}


@dataclass(frozen=True)
class Finding:
    """What was wrong, and where in the program: two findings with the same key are taken for the same fault."""

    kind: str
    place: str
    what: str

    @property
    def key(self) -> tuple[str, str]:
        """Kind and place."""
        return self.kind, self.place


@dataclass
class Watch:
    """Notes what the process does to the world while a reader works; an audit hook can't be taken off again."""

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
            writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & _WRITES
            if writes and not isinstance(path, int):
                self._judge(event, path)
        elif event in _CHANGES:
            self._judge(event, arguments[0])
        elif event in _NEVER and not _is_import(event):
            self.touched.append(f"{event} {arguments!r}"[:200])

    def _judge(self, event: str, path: object) -> None:
        place = str(Path(os.fsdecode(path)).absolute()) if isinstance(path, str | bytes | os.PathLike) else str(path)
        if place != os.devnull and not place.startswith(f"{self.allowed}{os.sep}"):
            self.touched.append(f"{event} {place}")


def _is_import(event: str) -> bool:
    # Compiled modules are read with marshal.
    frame = sys._getframe(1)
    while event == "marshal.loads" and frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]  # the last frame's is None, which ends the loop
    return False


@dataclass(frozen=True)
class Verdict:
    """What came of one input: CPU seconds, whether the reader accepted it, and what was wrong, if anything."""

    seconds: float
    accepted: bool
    findings: tuple[Finding, ...]


def judge(target: Target, data: bytes, folder: Path, watch: Watch) -> Verdict:
    """Call the reader on an input.

    Parameters
    ----------
    target : Target
    data : bytes
    folder : Path
        Where the input is written; the only place where anything may be.
    watch : Watch

    Returns
    -------
    Verdict
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
        if problem := message_problem(str(error), folder):
            findings.append(Finding("message", _place(error), problem))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        findings.append(Finding("raised", _place(error), f"{type(error).__name__}: {error}"[:300]))
    finally:
        watch.active = False
    seconds = time.process_time() - start
    if watch.touched:
        findings.append(Finding("touched", watch.touched[0], "; ".join(watch.touched[:5])))
    if seconds > LONGEST:
        findings.append(Finding("slow", target.name, f"{seconds:.1f} s"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    if grown > MOST_MEMORY:
        findings.append(Finding("memory", target.name, f"{grown >> 10} MiB"))
    return Verdict(seconds, accepted, tuple(findings))


def message_problem(message: str, folder: Path) -> str | None:
    """Tell what is wrong with an error's message, whose lines must each be clear and name a file in the folder."""
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


def _place(error: BaseException) -> str:
    """Find the program's own line in which an error arose."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}leafid{os.sep}" in frame.filename]
    if not own:
        return f"{type(error).__name__} outside leafid"
    file = own[-1].filename
    return f"{file[file.rindex(f'{os.sep}leafid{os.sep}') + 1 :]}:{own[-1].lineno} {type(error).__name__}"
