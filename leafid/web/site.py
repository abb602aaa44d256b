"""The routes of ``leafid serve``, and the server that runs until a signal ends it.

The routes make a Starlette application.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
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
from uvicorn.protocols.http.h11_impl import H11Protocol

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.model.bundled import find_bundled_model
from leafid.pages import field_guide
from leafid.parallel.mapping import Executor, WorkerError, reporting_lost_workers
from leafid.textfiles import parse_finite_number
from leafid.translation import (
    DEFAULT_LANGUAGE,
    LANGUAGES,
    get_language,
    look_up,
    translate,
    using_language,
)
from leafid.web import model_workers
from leafid.web.rendering import render_site_page
from leafid.web.uploads import Limits, UploadReader, refuse_for_now

# Time for sending the header of each request of a connection.
_HEADER_SECONDS = 5.0
# What a person chose on the page is remembered for a year.
_COOKIE = "leafid-language"
_COOKIE_SECONDS = 31_536_000
_log = logging.getLogger(__name__)
_HEADERS = {
    # No inline script or style, nothing from elsewhere; the answer's pictures are in
    # the page itself.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src "
    "'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, browsers send 'Origin: null' for a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # With no-store, browsers forget the answers when a person leaves the page.
    "Cache-Control": "private, no-cache",
    "Vary": "Accept-Language, Cookie",
    # The service worker is among the scripts, and serves all pages.
    "Service-Worker-Allowed": "/",
}


def make_app(
    workers: Executor,
    model: StrPath | None = None,
    host: str = "127.0.0.1",
    limits: Limits | None = None,
    language: str | None = None,
) -> Starlette:
    """Make the application of `leafid serve`.

    Parameters
    ----------
    workers : Executor
        They answer by the model.
    model : path-like, optional
        By default the bundled model.
    host : str
        The address or name at which it listens.
    limits : Limits, optional
    language : {"en", "fr", "de"}, optional
        The language of pages; by default, each browser has its choice.

    Returns
    -------
    Starlette
    """
    model_file = Path(model or find_bundled_model())
    site = _Site(workers, model_file, host, limits or Limits(), language)
    static_files = StaticFiles(
        packages=[("leafid.web", "static"), ("leafid.pages", "static")]
    )
    return Starlette(
        routes=[
            Route("/", site.show_form),
            Route("/explain", site.explain, methods=["POST"]),
            Route("/guide", site.show_field_guide),
            Mount("/static", static_files),
            Route("/identify", site.identify, methods=["POST"]),
            Route("/species", site.list_species),
            Route("/openapi.json", site.describe_api),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=site.guard)],
        exception_handlers=dict.fromkeys(
            (HTTPException, LeafidError, Exception), _report
        ),
    )


def list_host_names() -> list[str]:
    """List the names of this machine for others: in DNS, and in multicast DNS."""
    name = socket.gethostname().lower()
    return sorted({name, f"{name.partition('.')[0]}.local"})


def is_this_machine(host: str) -> bool:
    """Tell whether a name or an address means this machine wherever it is used."""
    return host in {"localhost", "::1"} or host.removeprefix("::ffff:").startswith(
        "127."
    )


@dataclass
class _Site:
    """The handlers of the routes, with what they share."""

    workers: Executor
    model_file: Path
    host: str
    limits: Limits
    language: str | None

    def __post_init__(self) -> None:
        self.uploads = UploadReader(self.limits)
        self.places = asyncio.Semaphore(self.limits.requests)
        self.is_local = is_this_machine(self.host)
        self.names = {"localhost", "127.0.0.1", "::1", self.host.lower()}
        if not self.is_local:
            self.names |= {*list_host_names(), socket.getfqdn().lower()}

    async def guard(
        self, request: Request, call_next: RequestResponseEndpoint
    ) -> Response:
        """Check Host and Origin of a request, and restrict what a page can do.

        Origin is checked where something is sent. A page elsewhere could let its
        name point to this machine (DNS rebinding), and then read the answers: the name
        in Host gives it away. Addresses can't be redirected so.
        """
        language = self._choose_language(request)
        with using_language(language):
            response = self._refuse(request) or await call_next(request)
        response.headers.update(_HEADERS)
        if request.query_params.get("language") == language:
            response.set_cookie(_COOKIE, language, _COOKIE_SECONDS, samesite="strict")
        return response

    def _choose_language(self, request: Request) -> str:
        """Choose the language of the person, else of the server or the browser."""
        weights = {}
        for part in request.headers.get("accept-language", "").split(","):
            tag, _, weight = part.partition(";q=")
            weights[tag.strip()[:2].lower()] = parse_finite_number(weight or "1") or 0
        languages = [
            request.query_params.get("language", ""),
            request.cookies.get(_COOKIE, ""),
            self.language or "",
            *sorted(weights, key=lambda language: -weights[language]),
        ]
        return next(filter(LANGUAGES.__contains__, languages), DEFAULT_LANGUAGE)

    def _refuse(self, request: Request) -> Response | None:
        host = request.headers.get("host", "").lower()
        if not self._is_this_server(host):
            problem = translate(
                "expected the address of this server, or its name, as Host"
            )
            return _tell_problem(request, problem, 421)
        if request.method in {"GET", "HEAD"}:
            return None
        # Browsers send the site to this machine, and only the origin to others. A
        # browser that keeps the referrer to itself sends 'Origin: null' for a form of
        # this page, too.
        origin = request.headers.get("origin", "").lower()
        origins = {"", f"{request.scope['scheme']}://{host}"}
        site = request.headers.get("sec-fetch-site")
        if site in {"same-origin", "none"} or (not site and origin in origins):
            return None
        problem = translate("expected a request of this server's own page")
        return _tell_problem(request, problem, 403)

    def _is_this_server(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
            return name in self.names or (
                not self.is_local and bool(ipaddress.ip_address(name))
            )
        except ValueError:  # neither an address nor a name
            return False

    async def show_form(
        self, request: Request, answers: Iterable[str] = ()
    ) -> Response:
        is_local = request.client is not None and is_this_machine(request.client.host)
        page = render_site_page(
            "identify.html",
            "/",
            limits=self.limits,
            is_local=is_local,
            host=request.url.hostname,
            answers=map(Markup, answers),
        )
        return HTMLResponse(page)

    async def explain(self, request: Request) -> Response:
        answers = await self._answer(request, model_workers.explain_pictures)
        return await self.show_form(request, answers)

    async def show_field_guide(self, _: Request) -> Response:
        page = await self._call(model_workers.make_field_guide, self.model_file)
        return HTMLResponse(page)

    async def identify(self, request: Request) -> Response:
        answers = await self._answer(request, model_workers.identify_pictures)
        return JSONResponse(answers)

    async def list_species(self, _: Request) -> Response:
        description = await self._call(field_guide.describe_model, "")
        return JSONResponse(description["species"])

    async def describe_api(self, _: Request) -> Response:
        return Response(render_site_page("openapi.json"), media_type="application/json")

    async def _answer(self, request: Request, function: Callable[..., Any]) -> Any:
        # A place is for a request that has arrived: slow ones would hold all places
        # while they send.
        upload = await self.uploads.read(request)
        if self.places.locked():
            raise refuse_for_now(translate("too many requests at once"))
        async with self.places:
            return await self._call(function, *upload)

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            async with asyncio.timeout(self.limits.answer_seconds):
                with reporting_lost_workers():
                    answer = self.workers.submit(
                        model_workers.call_with_model,
                        self.model_file,
                        get_language(),
                        function,
                        *arguments,
                    )
                    return await asyncio.wrap_future(answer)
        except TimeoutError:
            raise refuse_for_now(translate("the answer took too long")) from None
        except WorkerError as error:
            _log.warning("%s", error)
            problem = translate("a worker process ended, maybe out of memory")
            raise refuse_for_now(problem) from error


async def _report(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        # Starlette has details in English, too.
        problem = look_up(error.detail)
        return _tell_problem(request, problem, error.status_code, error.headers)
    if isinstance(error, LeafidError):
        return _tell_problem(request, str(error), 400)
    name = f"{type(error).__name__}: {error}"
    _log.debug("", exc_info=error)
    _log.warning("unexpected %s; this is a bug, please report it", name)
    problem = translate("unexpected {name}; this is a bug, please report it", name=name)
    return _tell_problem(request, problem, 500)


def _tell_problem(
    request: Request,
    problem: str,
    status: int,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Answer a browser with a page, and a program with JSON."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(
            render_site_page("problem.html", problem=problem), status, headers
        )
    return JSONResponse({"problem": problem}, status, headers)


def run_server(listener: socket.socket, app: Starlette) -> None:
    """Serve an application of `make_app` at a socket until a signal ends it."""
    # The messages of both are of bad requests, and of bugs, which the application
    # reports.
    for name in ("uvicorn", "python_multipart"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=_ImpatientProtocol,
        lifespan="off",
        limit_concurrency=800,  # fewer than the files that a process may open
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run([listener])


class _ImpatientProtocol(H11Protocol):
    """Closes connections that send no complete header, so that others can come.

    A connection has `_HEADER_SECONDS` for it, at first and after each answer.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(_HEADER_SECONDS, self._close_without_request, None)

    def on_response_complete(self) -> None:
        # Before the call, which may begin the next request. The limit of Uvicorn ends
        # with the first byte of a header.
        self.loop.call_later(_HEADER_SECONDS, self._close_without_request, self.cycle)
        super().on_response_complete()

    def _close_without_request(self, last: Any) -> None:
        # Each request has a cycle.
        if self.cycle is last:
            self.transport.close()
