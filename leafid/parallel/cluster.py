"""Lets `leafid.parallel.mapping.ordered_map` use the workers of a Dask cluster."""

import importlib
import logging
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from typing import Any

from leafid.errors import LeafidError
from leafid.parallel.mapping import Shared, current_executor

#: Maximum time to reach the scheduler.
CONNECT_SECONDS = 10
#: Maximum time until a first worker joins then.
FIRST_WORKER_SECONDS = 30
_MODULES = ("leafid", "numpy", "scipy", "cv2", "skimage", "sklearn")
# Threads of one worker would change each other's working folder and number of threads.
_call_lock = threading.Lock()


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let every call of `ordered_map` inside the ``with`` block use a Dask cluster.

    None changes nothing. The address of the scheduler is ``tcp://host:port`` or
    ``tls://host:port``; its workers must see the same files under the same paths as
    this process. A `LeafidError` is raised if there is no Dask, or no worker in time.
    """
    if address is None:
        yield
        return
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise LeafidError(
            f"--cluster needs Dask ({error}); install it: pip install distributed"
        ) from None
    # leafid reports lost connections itself, in one line.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with _connect(distributed.Client, address) as client:
        token = current_executor.set(_Cluster(client))
        try:
            yield
        except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
            advice = "start it, and the command, again"
            raise LeafidError(f"{address}: the scheduler is gone; {advice}") from error
        finally:
            current_executor.reset(token)


def _connect(client_class: Any, address: str) -> Any:
    client = None
    try:
        client = client_class(address, timeout=CONNECT_SECONDS, set_as_default=False)
        client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
    except Exception:
        # Servers of other kinds, and wrong certificates, raise any class.
        if client:
            client.close()
        advice = f"start them: dask scheduler, and dask worker {address}"
        raise LeafidError(
            f"{address}: expected a Dask scheduler with a worker, found none; {advice}"
        ) from None
    return client


class _Cluster:
    """The workers of a Dask cluster; calls have no limit of time there."""

    def __init__(self, client: Any) -> None:
        self.n_workers = sum(client.nthreads().values())
        self._client = client
        # The result of a task is computed again if the worker that holds it is lost,
        # which scattered data are not.
        self._share = lru_cache(maxsize=8)(partial(client.submit, bytes))

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float | None = None,
    ) -> Any:
        shared = (
            self._share(value) if isinstance(value, Shared) else value
            for value in arguments
        )
        return self._client.submit(
            _call_on_worker, collect_versions(), function, *shared, pure=False
        )


@cache
def collect_versions() -> dict[str, str]:
    """Collect the versions of Python, leafid and the packages that affect results."""
    versions = {name: importlib.import_module(name).__version__ for name in _MODULES}
    return {"Python": platform.python_version(), **versions}


def check_versions(expected: dict[str, str]) -> None:
    """Refuse to work on a machine that would give different results."""
    for name, version in collect_versions().items():
        if version != expected[name]:
            difference = f"{name} {version} instead of {expected[name]}"
            raise LeafidError(
                f"the worker on {platform.node()} has {difference}; install the same "
                "on all machines"
            )


def _call_on_worker(
    versions: dict[str, str], function: Callable[..., Any], *arguments: Any
) -> Any:
    with _call_lock:
        check_versions(versions)
        return function(*arguments)
