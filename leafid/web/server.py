"""Runs the application on a socket until a signal ends it."""

import logging
import socket

import uvicorn

from leafid.web.app import make_app
from leafid.web.workers import WorkerPool

# Fewer than the files that a process may open.
_MAX_CONNECTIONS = 800


def run_server(listener: socket.socket, pool: WorkerPool, host: str) -> None:
    """Serve at a socket; `host` is the address or name that the server was given."""
    # Messages of uvicorn beside ours are of bugs, which the application reports.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        make_app(pool, host),
        lifespan="off",
        limit_concurrency=_MAX_CONNECTIONS,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    _Server(config, pool).run([listener])


class _Server(uvicorn.Server):
    """Ends at once: what is in progress is not finished, but refused."""

    def __init__(self, config: uvicorn.Config, pool: WorkerPool) -> None:
        super().__init__(config)
        self._pool = pool

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pool.close()
        await super().shutdown(sockets)
