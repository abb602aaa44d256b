"""Starts leafid as a process, measures its memory, and finds its remaining processes (Linux)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_MARK = "LEAFID_ROBUSTNESS_RUN"


def start(words: Sequence[object], mark: str, folder: Path, **more: str) -> subprocess.Popen[str]:
    """Start a command of leafid with its output in files of a folder.

    Parameters
    ----------
    words : sequence
        The command and its arguments.
    mark : str
        Put into the environment, which children inherit: `find_processes` finds them by it.
    folder : Path
        Gets ``out`` and ``err``; temporary files go to its ``tmp``.
    **more : str
        More environment variables.
    """
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    environment: Mapping[str, str] = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        _MARK: mark,
        **more,
    }
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "leafid", *map(str, words)],
            stdout=out,
            stderr=err,
            env=environment,
            start_new_session=True,
            # Background processes of a shell ignore Ctrl-C, and children inherit this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            text=True,
        )


def find_processes(mark: str) -> list[int]:
    """List the processes that were started under a mark, and their descendants; zombies left out."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def wait_until_ended(mark: str, patience: float = 30.0) -> bool:
    """Wait until no process of a mark is left."""
    end = time.monotonic() + patience
    while find_processes(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
