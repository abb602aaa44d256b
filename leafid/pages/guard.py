"""Refuses requests from foreign pages, and adds the headers that restrict what a page of leafid can do."""

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
        self._names = {"localhost", "127.0.0.1", "::1", host.lower()}
        self._is_local = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
        if not self._is_local:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; only HTTP is served."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if scope["type"] == "http":
            answer = self._refuse(scope) or self.app
            await answer(scope, receive, send_guarded)

    def _refuse(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            name = ""
        if name not in self._names and (self._is_local or not _is_address(name)):
            return JSONResponse({"problem": "expected the name or address of this server as Host"}, 421)
        is_own = headers.get("origin", "").lower() in {"", f"{scope['scheme']}://{host}"}
        is_own = is_own and headers.get("sec-fetch-site", "none") in {"same-origin", "none"}
        if is_own or scope["method"] in {"GET", "HEAD"}:
            return None
        return JSONResponse({"problem": "expected a request of this server's own page"}, 403)


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False
