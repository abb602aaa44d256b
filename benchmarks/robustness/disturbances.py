"""Signals and kills for commands that run, and servers that are no Dask scheduler."""

from __future__ import annotations

import http.server
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.robustness.processes import find_processes

_PATIENCE = 180
# Python ends by the signal itself if that came while it evaluated text; a shell shows 130 as well.
_INTERRUPTED = {0, 130, -signal.SIGINT}
Disturb = Callable[[subprocess.Popen[bytes], str], int]


def list_disturbances(generator: random.Random) -> Iterator[tuple[str, Disturb, frozenset[int]]]:
    """List names, functions that disturb a started process, and the statuses that are right."""
    for seconds in sorted(generator.uniform(0.2, 6) for _ in range(4)):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            statuses = _INTERRUPTED if number == signal.SIGINT else {0, -number}
            yield f"{number.name} after {seconds:.1f} s", _signal_after(seconds, number), frozenset(statuses)
        yield f"Ctrl-C after {seconds:.1f} s", _interrupt_group_after(seconds), frozenset(_INTERRUPTED)
        yield f"a worker killed after {seconds:.1f} s", _kill_worker_after(seconds), frozenset({0})


def _signal_after(seconds: float, number: signal.Signals) -> Disturb:
    def disturb(process: subprocess.Popen[bytes], _: str) -> int:
        time.sleep(seconds)
        process.send_signal(number)
        return process.wait(_PATIENCE)

    return disturb


def _interrupt_group_after(seconds: float) -> Disturb:
    def disturb(process: subprocess.Popen[bytes], _: str) -> int:
        time.sleep(seconds)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        return process.wait(_PATIENCE)

    return disturb


def _kill_worker_after(seconds: float) -> Disturb:
    def disturb(process: subprocess.Popen[bytes], mark: str) -> int:
        time.sleep(seconds)
        workers = [pid for pid in find_processes(mark) if _is_worker(pid)]
        if workers:
            os.kill(workers[-1], signal.SIGKILL)
        return process.wait(_PATIENCE)

    return disturb


def _is_worker(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"popen_loky_posix" in command or b"spawn_main" in command


class _SilentHandler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing: requests of Dask are none of HTTP."""


def _start_http_server() -> str:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _SilentHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"tcp://127.0.0.1:{server.server_address[1]}"


def _start_silent_server() -> str:
    listener = socket.create_server(("127.0.0.1", 0))
    _listeners.append(listener)
    return f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def _find_closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"tcp://127.0.0.1:{listener.getsockname()[1]}"


# A listener that is collected is closed.
_listeners: list[socket.socket] = []
#: Functions that return the address of something that is no scheduler.
SERVERS: dict[str, Callable[[], str]] = {
    "an HTTP server": _start_http_server,
    "a silent listener": _start_silent_server,
    "a closed port": _find_closed_port,
    "an unroutable address": lambda: "tcp://10.255.255.1:8786",
    "an unknown host": lambda: "tcp://nowhere.invalid:8786",
    "TLS without certificates": lambda: "tls://127.0.0.1:8786",
}
