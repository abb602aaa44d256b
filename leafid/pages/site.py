"""The routes of ``leafid serve``, as a Starlette application, and the server that runs it until a signal ends it."""

import asyncio
import ipaddress
import json
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

import leafid
from leafid.errors import LeafidError
from leafid.pages import field_guide, model_workers
from leafid.pages.model_workers import ModelWorkers
from leafid.pages.rendering import render_site_page
from leafid.pages.uploads import Limits, read_upload
from leafid.parallel.mapping import WorkerError

# Seconds after which a client that is refused for now may try again.
_RETRY_AFTER = 2
# Fewer than the files that a process may open.
_MAX_CONNECTIONS = 800
# Time for sending the header of each request of a connection.
_HEADER_SECONDS = 5.0
_log = logging.getLogger(__name__)
# No inline script or style, nothing from elsewhere; the answer's pictures are in the page itself.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With no-referrer, browsers send 'Origin: null' for a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # With no-store, browsers forget the answers when a person leaves the page.
    "Cache-Control": "private, no-cache",
}


def make_app(pool: ModelWorkers, host: str = "127.0.0.1", limits: Limits | None = None) -> Starlette:
    """Make the application."""
    site = _Site(pool, limits or Limits())
    return Starlette(
        routes=[
            Route("/", site.show_form),
            Route("/explain", site.explain, methods=["POST"]),
            Route("/guide", site.show_field_guide),
            Mount("/static", StaticFiles(packages=[("leafid.pages", "static")])),
            Route("/identify", site.identify, methods=["POST"]),
            Route("/species", site.list_species),
            Route("/openapi.json", site.describe_api),
        ],
        middleware=[Middleware(_Guard, host=host)],
        exception_handlers={HTTPException: _refuse, Exception: _report_bug},
    )


class _Guard(BaseHTTPMiddleware):
    """Checks Host on every request and Origin on those that send something.

    A page elsewhere could let its own name point to this machine (DNS rebinding), and then read the answers: the name
    in Host gives it away. Addresses can't be redirected so. `host` is the address or name that the server listens at.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        super().__init__(app)
        self._names = {"localhost", "127.0.0.1", "::1", host.lower()}
        self._is_local = host == "localhost" or _is_loopback(host)
        if not self._is_local:
            self._names |= {*list_host_names(), socket.getfqdn().lower()}

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Answer a request, with the headers that restrict what a page can do."""
        response = self._refuse(request) or await call_next(request)
        response.headers.update(_HEADERS)
        return response

    def _refuse(self, request: Request) -> Response | None:
        host = request.headers.get("host", "").lower()
        try:
            name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
        except ValueError:
            name = ""
        if name not in self._names and (self._is_local or not _is_address(name)):
            return _tell_problem(request, "expected the address of this server, or its name, as Host", 421)
        site, origin = request.headers.get("sec-fetch-site", "none"), request.headers.get("origin", "").lower()
        # A browser that keeps the referrer to itself sends 'Origin: null' for a form of this page, too.
        origins = {"", f"{request.scope['scheme']}://{host}", *(["null"] if site == "same-origin" else [])}
        is_same = origin in origins and site in {"same-origin", "none"}
        if is_same or request.method in {"GET", "HEAD"}:
            return None
        return JSONResponse({"problem": "expected a request of this server's own page"}, 403)


def list_host_names() -> list[str]:
    """List the names that other machines may know this one by: its name, and that of multicast DNS."""
    name = socket.gethostname().lower()
    return sorted({name, f"{name.partition('.')[0]}.local"})


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _is_loopback(name: str) -> bool:
    return _is_address(name) and ipaddress.ip_address(name).is_loopback


class _Site:
    """The handlers of the routes, with what they share."""

    def __init__(self, pool: ModelWorkers, limits: Limits) -> None:
        self.pool = pool
        self.limits = limits
        self.places = asyncio.Semaphore(limits.requests)
        self.fixed: dict[Callable[..., Any], Any] = {}

    async def show_form(self, request: Request) -> Response:
        return self._show_answers(request, [])

    async def explain(self, request: Request) -> Response:
        """Answer with a page, or with ``?fragment`` with the answers alone, for the script of the page."""
        # The page may keep answers of an earlier server, so ids are random.
        answers = await self._answer(request, model_workers.explain_pictures, f"answer-{secrets.token_hex(6)}")
        is_fragment = "fragment" in request.query_params
        return HTMLResponse("\n".join(answers)) if is_fragment else self._show_answers(request, answers)

    async def show_field_guide(self, _: Request) -> Response:
        return HTMLResponse(await self._get_fixed(model_workers.make_field_guide, self.pool.model_file))

    def _show_answers(self, request: Request, answers: list[str]) -> Response:
        is_local = request.client is not None and _is_loopback(request.client.host.removeprefix("::ffff:"))
        values = {"is_local": is_local, "host": request.url.hostname, "answers": list(map(Markup, answers))}
        return HTMLResponse(render_site_page("identify.html", "/", limits=self.limits, **values))

    async def identify(self, request: Request) -> Response:
        return JSONResponse(await self._answer(request, model_workers.identify_pictures))

    async def list_species(self, _: Request) -> Response:
        return JSONResponse((await self._get_fixed(field_guide.describe_model, ""))["species"])

    async def describe_api(self, _: Request) -> Response:
        return JSONResponse(read_api_description())

    async def _answer(self, request: Request, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.places.locked():
            raise _refuse_for_now("too many requests at once")
        async with self.places:
            return await self._call(function, *await read_upload(request, self.limits), *arguments)

    async def _get_fixed(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function tells of the model, which is computed once."""
        if function not in self.fixed:
            self.fixed[function] = await self._call(function, *arguments)
        return self.fixed[function]

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            async with asyncio.timeout(self.limits.answer_seconds):
                return await self.pool.call(function, *arguments)
        except TimeoutError:
            raise _refuse_for_now("the answer took too long") from None
        except WorkerError as error:
            raise _refuse_for_now(str(error)) from error
        except LeafidError as error:
            raise HTTPException(400, str(error)) from error


def read_api_description() -> dict[str, Any]:
    """Read the OpenAPI description of the JSON API."""
    text = (resources.files("leafid.pages") / "openapi.json").read_text(encoding="utf-8")
    description: dict[str, Any] = json.loads(text)
    description["info"]["version"] = leafid.__version__
    return description


def _refuse_for_now(problem: str) -> HTTPException:
    return HTTPException(503, f"{problem}; try again", {"Retry-After": str(_RETRY_AFTER)})


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _tell_problem(request, error.detail, error.status_code, error.headers)


async def _report_bug(request: Request, error: Exception) -> Response:
    text = f"unexpected {type(error).__name__}: {error}; this is a bug, please report it"
    _log.debug("", exc_info=error)
    _log.warning("%s", text)
    return _tell_problem(request, text, 500)


def _tell_problem(request: Request, problem: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Answer a browser with a page, and a program with JSON."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(render_site_page("problem.html", problem=problem), status, headers)
    return JSONResponse({"problem": problem}, status, headers)


def run_server(listener: socket.socket, pool: ModelWorkers, host: str) -> None:
    """Serve at a socket; `host` is the address or name that the server was given."""
    # The messages of both are of bad requests, and of bugs, which the application reports.
    for name in ("uvicorn", "python_multipart"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        make_app(pool, host),
        http=_Protocol,
        lifespan="off",
        limit_concurrency=_MAX_CONNECTIONS,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run([listener])


class _Protocol(H11Protocol):
    """Closes connections without a complete header, at first and after each answer, so that others can come."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(_HEADER_SECONDS, self._close_without_request, None)

    def on_response_complete(self) -> None:
        # Before the call, which may begin the next request. Uvicorn's own limit ends with the first byte of a header.
        self.loop.call_later(_HEADER_SECONDS, self._close_without_request, self.cycle)
        super().on_response_complete()

    def _close_without_request(self, last: Any) -> None:
        # Each request has a cycle.
        if self.cycle is last:
            self.transport.close()
