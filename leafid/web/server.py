"""Runs the application on a socket until a signal ends it."""

import asyncio
import logging
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from leafid.web.app import make_app
from leafid.web.model_workers import ModelWorkers

# Fewer than the files that a process may open.
_MAX_CONNECTIONS = 800
# Time for sending the header of a request.
_HEADER_SECONDS = 5.0


def run_server(listener: socket.socket, pool: ModelWorkers, host: str) -> None:
    """Serve at a socket; `host` is the address or name that the server was given."""
    # Messages of uvicorn beside ours are of bugs, which the application reports.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        make_app(pool, host),
        http=_Protocol,
        lifespan="off",
        limit_concurrency=_MAX_CONNECTIONS,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    _Server(config, pool).run([listener])


class _Protocol(H11Protocol):
    """Closes connections that are open without a complete header for some seconds, so that others can come."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._limit_header()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_header()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer:
            self._timer.cancel()

    def _limit_header(self) -> None:
        # The clock runs from the first byte, or the connection, to the end of the header.
        if self.conn.their_state is not h11.IDLE:
            if self._timer:
                self._timer.cancel()
            self._timer = None
        elif self._timer is None:
            self._timer = self.loop.call_later(_HEADER_SECONDS, self.transport.close)


class _Server(uvicorn.Server):
    """Ends at once: what is in progress is not finished, but refused."""

    def __init__(self, config: uvicorn.Config, pool: ModelWorkers) -> None:
        super().__init__(config)
        self._pool = pool

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pool.close()
        await super().shutdown(sockets)
