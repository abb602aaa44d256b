"""Calls a function in a process of its own, with limits of time and memory that hold whatever a C library does."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leafid.worker_calls import call_and_record_log, replay_log, watch_parent

MAX_CPU_SECONDS = 60
MAX_MEMORY = 4 << 30
#: On a busy machine, CPU seconds take longer.
_MAX_SECONDS = 10 * MAX_CPU_SECONDS

_SIGXCPU = getattr(signal, "SIGXCPU", 0)  # Windows lacks it


class LimitError(Exception):
    """A function needed too much time or memory; the message says which."""


def call_with_limits(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``, computed in a new process; function, arguments and result must be picklable.

    It takes about 0.3 s more than calling the function. A `LimitError` is raised if the process takes more than
    `MAX_CPU_SECONDS`, needs more than `MAX_MEMORY` bytes, or crashes.
    """
    package = str(Path(__file__).parents[1])
    search_path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    request = pickle.dumps((os.getpid(), Path.cwd(), MAX_CPU_SECONDS, MAX_MEMORY, function, arguments))
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=request,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": search_path, "OMP_NUM_THREADS": "1"},
            timeout=_MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitError(f"more than {_MAX_SECONDS} s") from None
    if done.returncode == -_SIGXCPU:
        raise LimitError(f"more than {MAX_CPU_SECONDS} s")
    if done.returncode:
        raise LimitError(f"a decoder that doesn't crash (status {done.returncode})")
    outcome = pickle.loads(done.stdout)
    if isinstance(outcome, MemoryError):
        raise LimitError(f"more than {MAX_MEMORY >> 20} MiB of memory, or than there is")
    if isinstance(outcome, Exception):
        raise outcome
    return replay_log(outcome)


def _main() -> None:
    parent, folder, seconds, memory, function, arguments = pickle.load(sys.stdin.buffer)
    _set_limits(seconds, memory)
    watch_parent(parent)
    # Whatever libraries print must not get into the result.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        try:
            outcome: Any = call_and_record_log(parent, folder, lambda own: function(*own), arguments)
        except Exception as error:
            outcome = error
        pickle.dump(outcome, output, protocol=pickle.HIGHEST_PROTOCOL)


def _set_limits(seconds: int, memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows, where only the time limit of the parent process holds
        return
    for kind, limit in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


if __name__ == "__main__":
    _main()
