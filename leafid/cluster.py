"""Runs `ordered_map` on the workers of a Dask cluster.

joblib's own Dask backend is not used: it waits forever if a picture kills every worker that tries it, and data that it
scatters are lost with the worker that holds them.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import pickle
import re
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from leafid.errors import LeafidError, UsageError
from leafid.parallel import ITEM_SECONDS, use_workers
from leafid.worker_calls import Log, call_and_record_log, replay_log
from leafid.worker_requirements import WorkerRequirements, check_worker, collect_versions

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Maximum time to reach the scheduler, in seconds.
CONNECT_SECONDS = 10
#: Maximum time until a first worker joins, in seconds.
FIRST_WORKER_SECONDS = 30
#: Interval at which the number of workers is checked, in seconds.
_CHECK_SECONDS = 15
#: Time for a worker to start again before an item is tried alone, in seconds.
_RESTART_SECONDS = 2
#: Number of calls submitted for each thread of a worker: one running and two queued, so that the thread is never idle.
_CALLS_PER_THREAD = 3
#: Maximum number of functions, with the codebooks in them, that the cluster keeps for later calls.
_MAX_FUNCTIONS = 8
_ADDRESS = re.compile(r"(?:tcp|tls)://[^\s/]+:\d+|local(?::[1-9]\d{0,3})?")
_log = logging.getLogger(__name__)


def check_cluster_address(word: str) -> str:
    """Return a cluster's address if it is valid: ``tcp://host:port``, ``tls://host:port``, ``local`` or ``local:N``.

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
    """Let every call of `leafid.parallel.ordered_map` inside the ``with`` block use a Dask cluster.

    `paths` are files and folders that every worker must see under the same path as this process, and `jobs` is the
    number of worker processes of a ``local`` cluster, -1 for one per core. A `LeafidError` is raised if Dask is not
    installed, the scheduler can't be reached in time, or no worker joins in time.
    """
    check_cluster_address(address)
    try:
        importlib.import_module("distributed")
    except ImportError as error:
        raise LeafidError(f"--cluster needs Dask ({error}); install it: pip install distributed") from None
    # leafid reports lost connections itself, in one line.
    for name in ("distributed.client", "distributed.comm", "distributed.batched"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    absolute = tuple(Path(path).absolute() for path in paths)
    requirements = WorkerRequirements(os.getpid(), Path.cwd(), absolute, collect_versions())
    connect = _start_local_cluster if address.startswith("local") else _connect_to_scheduler
    with connect(address, jobs) as client, use_workers(DaskWorkers(client, address, requirements).ordered_map):
        yield


@contextmanager
def _start_local_cluster(address: str, jobs: int) -> Iterator[Client]:
    import dask
    import distributed
    from joblib import effective_n_jobs

    with (
        TemporaryDirectory(prefix="leafid-") as folder,
        dask.config.set({"temporary-directory": folder}),
        distributed.LocalCluster(
            n_workers=int(address.partition(":")[2] or effective_n_jobs(jobs)),
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            # A picture whose worker ends is tried once more, alone, by `DaskWorkers`.
            scheduler_kwargs={"allowed_failures": 0},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _connect_to_scheduler(address: str, _jobs: int) -> Iterator[Client]:
    with _connect_in_time(address) as client:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
        except TimeoutError:
            raise LeafidError(
                f"{address}: the scheduler has no worker, and got none within {FIRST_WORKER_SECONDS} s; "
                f"start some: dask worker {address} --nthreads 1"
            ) from None
        yield client


def _connect_in_time(address: str) -> Client:
    """Connect to a scheduler, or raise; Dask's own limit holds for each of many attempts at a server that is none."""
    import distributed

    outcomes: list[Client | Exception] = []

    def connect() -> None:
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[misc]
            outcomes.append(client)
        except Exception as error:  # MemoryError for an answer that is none of Dask's, TypeError without certificates
            # Otherwise its finaliser would wait 20 s for the connection that it never had.
            client.status = "closed"
            outcomes.append(error)

    thread = threading.Thread(target=connect, name="leafid-connect", daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    outcome = outcomes[0] if outcomes else TimeoutError()
    if not isinstance(outcome, Exception):
        return outcome
    details = "" if isinstance(outcome, OSError) else f" ({outcome})"
    raise LeafidError(
        f"{address}: no Dask scheduler answers within {CONNECT_SECONDS} s{details}; start one: dask scheduler"
    ) from None


class _KilledWorkerError(LeafidError):
    """The workers that tried an item ended."""


class DaskWorkers:
    """The workers behind a Dask client; `address` names the scheduler in messages."""

    def __init__(self, client: Client, address: str, requirements: WorkerRequirements) -> None:
        self._client = client
        self._address = address
        self._requirements = requirements
        self._functions: OrderedDict[str, Future] = OrderedDict()
        self._n_threads = 0
        self._last_check = -float("inf")

    def ordered_map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        make_failure: Callable[[Item, str], Result] | None = None,
    ) -> Iterator[Result]:
        """Yield what `leafid.parallel.ordered_map` returns, with only a few items per worker in progress."""
        seconds = None if make_failure is None else ITEM_SECONDS
        sent_function = self._send_function(function)
        pending: deque[tuple[Item, Future]] = deque()

        def submit(item: Item) -> Future:
            return self._client.submit(_call_on_worker, self._requirements, sent_function, item, seconds, pure=False)

        def collect() -> Iterator[Result]:
            try:
                yield from self._collect_finished(pending)
            except _KilledWorkerError:
                if make_failure is None:
                    raise
                yield self._try_alone(pending, submit, make_failure)

        try:
            for item in items:
                while len(pending) >= self._get_max_pending():
                    yield from collect()
                pending.append((item, submit(item)))
            while pending:
                yield from collect()
        finally:
            if pending and self._client.status == "running":
                self._client.cancel([future for _, future in pending])

    def _try_alone(
        self,
        pending: deque[tuple[Item, Future]],
        submit: Callable[[Item], Future],
        make_failure: Callable[[Item, str], Result],
    ) -> Result:
        """Try the first item again, once the others are finished: it may only have shared a worker with the culprit."""
        from distributed import wait

        item, _ = pending.popleft()
        with self._reporting_dask_errors(), self._client.as_current():
            wait([future for _, future in pending])
        # Dask doesn't restart a worker that ends again before its nanny has noticed that it had started.
        time.sleep(_RESTART_SECONDS)
        alone = deque([(item, submit(item))])
        try:
            [result] = self._collect_finished(alone)
        except _KilledWorkerError as error:
            return make_failure(item, str(error))
        return result

    def _send_function(self, function: Callable) -> Future:
        """Send the function, which may hold large codebooks, once instead of with every item.

        As the result of a task it is computed again if the worker that holds it dies; scattered data would be lost.
        """
        from distributed.protocol.pickle import dumps

        content = dumps(function)
        key = hashlib.sha256(content).hexdigest()
        if key not in self._functions:
            self._functions[key] = self._client.submit(pickle.loads, content, key=f"leafid-function-{key}")
            if len(self._functions) > _MAX_FUNCTIONS:
                self._functions.popitem(last=False)
        self._functions.move_to_end(key)
        return self._functions[key]

    def _get_max_pending(self) -> int:
        # Workers may join and leave.
        if time.monotonic() - self._last_check > _CHECK_SECONDS or not self._n_threads:
            with self._reporting_dask_errors():
                self._n_threads = sum(self._client.nthreads().values())
            self._last_check = time.monotonic()
        return _CALLS_PER_THREAD * max(1, self._n_threads)

    def _collect_finished(self, pending: deque[tuple[Item, Future]]) -> list:
        """Wait for the first pending call, and return its result with those of the finished calls right after it."""
        from distributed import wait

        futures = [future for _, future in pending]
        with self._reporting_dask_errors():
            n_checks = 0
            while True:
                try:
                    with self._client.as_current():
                        wait(futures[:1], timeout=_CHECK_SECONDS)
                    break
                except TimeoutError:
                    n_checks = 0 if self._client.nthreads() else n_checks + 1
                    if n_checks == 1:
                        _log.warning("%s: no worker is left; waiting for one to join", self._address)
                    elif n_checks > 2 and self._address.startswith("local"):
                        raise LeafidError(
                            f"{self._address}: its workers ended and don't start again; start the same command again"
                        ) from None
            following = takewhile(lambda future: future.status == "finished", futures[1:])
            outcomes = self._client.gather([futures[0], *following])
        for _ in outcomes:
            pending.popleft()
        return [replay_log(outcome) for outcome in outcomes]

    @contextmanager
    def _reporting_dask_errors(self) -> Iterator[None]:
        """Convert errors of Dask itself into a `LeafidError`; errors of the work pass unchanged."""
        from concurrent.futures import CancelledError

        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            tries = f"{error.allowed_failures + 1} worker{'s' if error.allowed_failures else ''}"
            raise _KilledWorkerError(
                f"{tries} of {self._address} ended while computing it, maybe out of memory, or after {ITEM_SECONDS} s"
            ) from error
        except (CancelledError, CommClosedError) as error:
            raise LeafidError(
                f"{self._address}: the scheduler is gone; start it and the command again (features are in the cache)"
            ) from error


# Threads of one worker would change each other's working folder and number of threads.
_call_lock = threading.Lock()


def _call_on_worker(
    requirements: WorkerRequirements, function: Callable[[Item], Result], item: Item, seconds: float | None
) -> tuple[Result, Log]:
    with _call_lock:
        check_worker(requirements)
        return call_and_record_log(requirements.parent, requirements.folder, function, item, seconds)
