"""Refuses requests from foreign pages, and adds the headers that restrict what a page of leafid can do."""

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
#: No inline script or style, nothing from elsewhere; the answer's pictures are in the page itself.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """ASGI middleware: checks Host on every request and Origin on those that send something.

    A page elsewhere could let its own name point to this machine (DNS rebinding), and then read the answers: the name
    in Host gives it away. Addresses can't be redirected so. `host` is the address or name that the server listens at.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app = app
        self._names = _LOCAL_NAMES | {host.lower()}
        self._allows_addresses = not _is_loopback(host)
        if self._allows_addresses:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; only HTTP is served."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        problem = self._find_problem(scope)
        if problem is None:
            await self.app(scope, receive, send_guarded)
        else:
            status, text = problem
            await JSONResponse({"problem": text}, status)(scope, receive, send_guarded)

    def _find_problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._knows(hosts[0]):
            return 421, "expected the name or address of this server as Host"
        if scope["method"] in {"GET", "HEAD"}:
            return None
        origin = headers.get("origin")
        is_foreign = origin is not None and origin.lower() != f"{scope['scheme']}://{hosts[0]}".lower()
        if is_foreign or headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return 403, "expected a request of this server's own page"
        return None

    def _knows(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name = (parts.hostname or "").rstrip(".")
        except ValueError:
            return False
        if parts.netloc != host or parts.username is not None:
            return False
        return name in self._names or (self._allows_addresses and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
