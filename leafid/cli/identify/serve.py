"""Open a page on this machine that names the species of pictures, with a JSON API.

The page takes pictures, several of one tree too, and explains its answers. Pictures are
kept in memory until they are answered. Only this machine can open the page, unless
--host names another address of it, or 0.0.0.0 for all: then it prints those at which a
phone in the same network can open the page. There is no password. Ctrl-C ends the
server.

examples:
  leafid serve
  leafid serve --port 8080 --model my.leafid
  leafid serve --host 0.0.0.0
  curl --form pictures=@leaf.jpg http://127.0.0.1:8000/identify
"""

import socket
from contextlib import closing, suppress
from importlib.util import find_spec

from leafid.cli.arguments import JOBS, number_type, option
from leafid.cli.outputs import Console
from leafid.errors import LeafidError
from leafid.parallel.mapping import reporting_lost_workers
from leafid.parallel.pool import WorkerPool, count_workers
from leafid.translation import LANGUAGES

# Time for a worker to start and to read the model, in seconds.
_START_SECONDS = 120.0


class Options:
    host: str = option(
        "address to listen at (default: %(default)s)", default="127.0.0.1"
    )
    port: int = option(
        "port to listen at; 0 takes a free one (default: %(default)s)",
        metavar="PORT",
        type=number_type(0, 65535, int),
        default=8000,
    )
    model: str | None = option("the model (default: the bundled one)")
    language: str | None = option(
        "language of the page (default: what the browser wants)",
        choices=tuple(LANGUAGES),
    )
    jobs: int = JOBS


def run(options: Options, console: Console) -> None:
    if missing := [
        name
        for name in ("python_multipart", "starlette", "uvicorn")
        if find_spec(name) is None
    ]:
        raise LeafidError(
            f"'leafid serve' needs {', '.join(missing)}: pip install '.[web]' in the "
            "folder of leafid"
        )

    with (
        _listen(options.host, options.port) as listener,
        closing(WorkerPool(count_workers(options.jobs))) as workers,
    ):
        # This process imports the same meanwhile, which takes longer than an answer.
        first = workers.submit(_warm_up, options.model, seconds=_START_SECONDS)
        from leafid.web.site import (
            is_this_machine,
            list_host_names,
            make_app,
            run_server,
        )

        with reporting_lost_workers():
            first.result()
        # Together with the first they would take longer.
        for _ in range(1, workers.n_workers):
            workers.submit(_warm_up, options.model, seconds=_START_SECONDS)
        addresses = _list_addresses(listener)
        port = listener.getsockname()[1]
        for host in addresses:
            console.print(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
        console.stdout.flush()
        if not is_this_machine(addresses[0]):
            names = " or ".join(f"http://{name}:{port}/" for name in list_host_names())
            console.note(
                f"leafid: the network can open the page, also at {names} if it knows "
                "these names"
            )
            if find_spec("segno") and console.stderr.isatty():
                show_code(f"http://{addresses[0]}:{port}/", console)
        console.note("leafid: Ctrl-C ends the server")
        app = make_app(workers, options.model, options.host, language=options.language)
        with suppress(KeyboardInterrupt):
            run_server(listener, app)


def show_code(address: str, console: Console) -> None:
    """Show an address as a QR code on the terminal, which a phone opens."""
    import segno  # the package is optional

    segno.make(address).terminal(console.stderr, compact=True)


def _warm_up(model: str | None) -> None:
    # Here, so that only the worker waits for them.
    from leafid.web.model_workers import warm_up

    warm_up(model)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server(
            (host, port),
            family=family,
            dualstack_ipv6=":" in host and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        reason = error.strerror or error
        raise LeafidError(
            f"{host}:{port}: can't listen there: {reason}; choose another --host or "
            "--port"
        ) from None


def _list_addresses(listener: socket.socket) -> list[str]:
    """List the addresses at which a listener can be reached.

    If it listens at all addresses, other machines reach it, too.
    """
    host = listener.getsockname()[0]
    if host not in {"0.0.0.0", "::"}:
        return [host]
    addresses = []
    for family in (socket.AF_INET, listener.family):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            # This sends nothing, but chooses the address to send from.
            probe.connect(
                ("10.255.255.255" if family == socket.AF_INET else "2001:db8::1", 9)
            )
            addresses.append(probe.getsockname()[0])
    return list(dict.fromkeys(addresses)) or ["127.0.0.1"]
