"""Does the work of `ordered_map` on the workers of a Dask cluster.

joblib's own Dask backend is not used: it waits for ever where a picture ends every worker that tries it, and what it
scatters is lost with the worker that holds it.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import pickle
import platform
import re
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import leafid
from leafid.errors import LeafidError, UsageError
from leafid.parallel import Log, call_in_worker_with_log, replay_log, use_workers

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds to reach the scheduler, seconds for a first worker to be there, and seconds of silence after which to look
# whether any worker is left.
CONNECT_SECONDS = 10
FIRST_WORKER_SECONDS = 30
_LOOK_EVERY = 15
# Calls handed out for each thread of a worker: one that it works on, and two that wait so that it never does.
_AHEAD = 3
# Functions, with the codebooks in them, that the cluster keeps for the next call.
_KEPT_FUNCTIONS = 8
_ADDRESS = re.compile(r"(?:tcp|tls)://[^\s/]+:\d+|local(?::[1-9]\d{0,3})?")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerRequirements:
    """What a worker must have in common with the process that it works for.

    Attributes
    ----------
    parent : int
        The id of that process.
    folder : Path
        The folder that it is in.
    paths : tuple of Path
        What must be there, absolute.
    versions : tuple of (str, str)
        Of what decides about results.
    """

    parent: int
    folder: Path
    paths: tuple[Path, ...]
    versions: tuple[tuple[str, str], ...]


def check_cluster_address(word: str) -> str:
    """Check the way to name a cluster: ``tcp://host:port``, ``tls://host:port``, ``local`` or ``local:N``.

    Raises
    ------
    UsageError
        When it is none of these.

    Examples
    --------
    >>> check_cluster_address("local:4")
    'local:4'
    """
    if not _ADDRESS.fullmatch(word):
        raise UsageError(f"expected a cluster as tcp://host:port of a Dask scheduler, or local:N, found {word!r}")
    return word


@contextmanager
def on_cluster(address: str, paths: Iterable[str | os.PathLike[str]] = (), jobs: int = -1) -> Iterator[None]:
    """Let every `leafid.parallel.ordered_map` inside the ``with`` block work on a Dask cluster.

    Parameters
    ----------
    address : str
        See `check_cluster_address`.
    paths : iterable of path-like
        Files and folders that every worker must see under the same name as this process does.
    jobs : int, default -1
        Worker processes of ``local``; -1 for one a core.

    Raises
    ------
    LeafidError
        When Dask is not installed, when the scheduler can't be reached, or has no worker, in time.
    """
    check_cluster_address(address)
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise LeafidError(f"--cluster needs Dask ({error}); install it: pip install distributed") from None
    # What these would print of lost connections is told once, in a line of ours.
    for name in ("distributed.client", "distributed.comm", "distributed.batched"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    demands = WorkerRequirements(os.getpid(), Path.cwd(), tuple(Path(path).absolute() for path in paths), _versions())
    if address.startswith("local"):
        n_workers = int(address.partition(":")[2] or _cores(jobs))
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
        with (
            cluster,
            distributed.Client(cluster, set_as_default=False) as client,
            use_workers(DaskWorkers(client, address, demands)),
        ):
            yield
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError):
        raise LeafidError(
            f"{address}: no Dask scheduler answers within {CONNECT_SECONDS} s; start one: dask scheduler"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
        except TimeoutError:
            raise LeafidError(
                f"{address}: the scheduler has no worker, and got none within {FIRST_WORKER_SECONDS} s; "
                f"start some: dask worker {address} --nthreads 1"
            ) from None
        with use_workers(DaskWorkers(client, address, demands)):
            yield


class DaskWorkers:
    """The workers behind a Dask client.

    Parameters
    ----------
    client : distributed.Client
    address : str
        Of the scheduler, for messages.
    demands : WorkerRequirements
    """

    def __init__(self, client: Client, address: str, demands: WorkerRequirements) -> None:
        self._client = client
        self._address = address
        self._demands = demands
        self._functions: OrderedDict[str, Future] = OrderedDict()
        self._threads = (0, -float("inf"))

    def ordered_map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in the items' order; a few items a worker are under way at once."""
        sent = self._sent(function)
        waiting: deque[Future] = deque()
        try:
            for item in items:
                while len(waiting) >= self._most_waiting():
                    yield from self._ready(waiting)
                waiting.append(self._client.submit(_worked, self._demands, sent, item, pure=False))
            while waiting:
                yield from self._ready(waiting)
        finally:
            if waiting and self._client.status == "running":
                self._client.cancel(list(waiting))

    def _sent(self, function: Callable) -> Future:
        """Send the function once, not with every item; what it holds may be large.

        It is the result of a task, and not scattered: when the worker that holds it dies, the scheduler has it made
        again on another.
        """
        from distributed.protocol.pickle import dumps

        content = dumps(function)
        key = hashlib.sha256(content).hexdigest()
        if key not in self._functions:
            self._functions[key] = self._client.submit(pickle.loads, content, key=f"leafid-function-{key}")
            if len(self._functions) > _KEPT_FUNCTIONS:
                self._functions.popitem(last=False)
        self._functions.move_to_end(key)
        return self._functions[key]

    def _most_waiting(self) -> int:
        number, asked = self._threads
        if time.monotonic() - asked > _LOOK_EVERY or not number:
            # Workers may come and go.
            with self._explained():
                number = sum(self._client.nthreads().values())
            self._threads = number, time.monotonic()
        return _AHEAD * max(1, number)

    def _ready(self, waiting: deque[Future]) -> list:
        """Wait for the first result, and take with it those after it that are there too."""
        from distributed import wait

        with self._explained():
            warned = False
            while True:
                try:
                    with self._client.as_current():
                        wait([waiting[0]], timeout=_LOOK_EVERY)
                    break
                except TimeoutError:
                    if not warned and not self._client.nthreads():
                        _log.warning("%s: no worker is left; waiting for one to join", self._address)
                        warned = True
            after = takewhile(lambda future: future.status == "finished", islice(waiting, 1, None))
            taken = [waiting[0], *after]
            results = self._client.gather(taken)
        for _ in taken:
            waiting.popleft()
        return [replay_log(result) for result in results]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what Dask raises about itself into a line for a person; errors of the work itself pass."""
        from concurrent.futures import CancelledError

        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise LeafidError(
                f"{self._address}: a picture ended each of the {error.allowed_failures + 1} workers that tried it; "
                "their logs may tell why (not enough memory?)"
            ) from error
        except (CancelledError, CommClosedError) as error:
            raise LeafidError(
                f"{self._address}: the scheduler is gone; when it is back, the same command goes on with what is kept"
            ) from error


# Threads of one worker would change each other's folder and number of threads.
_one_at_a_time = threading.Lock()


def _worked(demands: WorkerRequirements, function: Callable[[Item], Result], item: Item) -> tuple[Result, Log]:
    with _one_at_a_time:
        _check(demands)
        return call_in_worker_with_log(demands.parent, demands.folder, function, item)


@cache
def _check(demands: WorkerRequirements) -> None:
    """Find out before the work that this worker would give other results."""
    other = [
        f"{name} {own} instead of {wanted}"
        for (name, own), (_, wanted) in zip(_versions(), demands.versions, strict=True)
        if own != wanted
    ]
    if other:
        raise LeafidError(
            f"the worker on {platform.node()} has {', '.join(other)}; results would depend on who computes them: "
            "install the same on all machines"
        )
    for path in demands.paths:
        if not path.exists():
            raise LeafidError(
                f"the worker on {platform.node()} can't see {path}; share it with all machines under the same path"
            )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    code = hashlib.sha256()
    folder = Path(leafid.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        code.update(f"{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes())
    packages = ("numpy", "scipy", "opencv-python", "scikit-image", "scikit-learn")
    return (
        ("leafid", f"{leafid.__version__} ({code.hexdigest()[:8]})"),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in packages),
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except ImportError:  # not known by that name, like OpenCV built by a distribution: then there is nothing to compare
        return "?"


def _cores(jobs: int) -> int:
    from joblib import effective_n_jobs

    return effective_n_jobs(jobs)
