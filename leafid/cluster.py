"""Lets `leafid.workers.ordered_map` use the workers of a Dask cluster.

Through the futures of Dask: joblib's backend for it waits forever if a picture kills every worker that tries it.
"""

from __future__ import annotations

import importlib
import logging
import os
import platform
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib

import leafid
from leafid.errors import LeafidError, UsageError
from leafid.workers import use_cluster

#: Maximum time to reach the scheduler, and then until a first worker joins, in seconds.
CONNECT_SECONDS, FIRST_WORKER_SECONDS = 10, 30
_PACKAGES = ("numpy", "scipy", "opencv-python", "scikit-image", "scikit-learn")
_ADDRESS = re.compile(r"(?:tcp|tls)://[^\s/]+:\d+|local(?::[1-9]\d{0,3})?")
# Threads of one worker would change each other's working folder and number of threads.
_call_lock = threading.Lock()


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
    """Let every call of `leafid.workers.ordered_map` inside the ``with`` block use a Dask cluster.

    `paths` are files and folders that every worker must see under the same path as this process, and `jobs` is the
    number of worker processes of a ``local`` cluster, -1 for one per core. A `LeafidError` is raised if Dask is not
    installed, the scheduler can't be reached in time, or no worker joins in time.
    """
    check_cluster_address(address)
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise LeafidError(f"--cluster needs Dask ({error}); install it: pip install distributed") from None
    # leafid reports lost connections itself, in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    requirements = (tuple(str(Path(path).absolute()) for path in paths), collect_versions())
    with _connect(distributed, address, jobs) as client:
        # As the result of a task it is computed again where the worker that holds it is lost; scattered data are not.
        send = lru_cache(maxsize=8)(lambda call: client.submit(bytes, call))

        def submit(function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Future[Any]:
            folder, call, item = arguments
            future: Future[Any] = client.submit(
                _call_on_worker, requirements, function, folder, send(call), item, pure=False
            )
            return future

        try:
            with use_cluster(submit, sum(client.nthreads().values())):
                yield
        except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
            raise LeafidError(f"{address}: the scheduler is gone; start it, and the command, again") from error


@contextmanager
def _connect(distributed: Any, address: str, jobs: int) -> Iterator[Any]:
    if address.startswith("local"):
        n_workers = int(address.partition(":")[2] or joblib.effective_n_jobs(jobs))
        with (
            distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                memory_limit=0,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # of a server that is none of Dask's, or without certificates: any class
        details = "" if isinstance(error, OSError) else f" ({error})"
        raise LeafidError(f"{address}: no Dask scheduler answers{details}; start one: dask scheduler") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
        except TimeoutError:
            raise LeafidError(
                f"{address}: the scheduler has no worker, and got none within {FIRST_WORKER_SECONDS} s; "
                f"start some: dask worker {address} --nthreads 1"
            ) from None
        yield client


@cache
def collect_versions() -> tuple[tuple[str, str], ...]:
    """Collect the versions of leafid, of Python and of the packages that decide results."""
    packages = ((name, version(name)) for name in _PACKAGES)
    return ("leafid", leafid.__version__), ("Python", platform.python_version()), *packages


@cache
def check_worker(paths: tuple[str, ...], versions: tuple[tuple[str, str], ...]) -> None:
    """Refuse to work on a machine that would give different results, or lacks files."""
    pairs = zip(collect_versions(), versions, strict=True)
    if differences := [f"{name} {own} instead of {wanted}" for (name, own), (_, wanted) in pairs if own != wanted]:
        raise LeafidError(
            f"the worker on {platform.node()} has {', '.join(differences)}; install the same on all machines"
        )
    if missing := [path for path in paths if not Path(path).exists()]:
        raise LeafidError(
            f"the worker on {platform.node()} can't see {missing[0]}; share it with all machines under the same path"
        )


def _call_on_worker(requirements: tuple[Any, Any], function: Callable[..., Any], *arguments: Any) -> Any:
    with _call_lock:
        check_worker(*requirements)
        return function(*arguments)
