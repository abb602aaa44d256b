import io
import ipaddress
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import cv2
import numpy as np
import pytest

from leafid.cli.identify.serve import show_code
from leafid.cli.outputs import Console

pytest.importorskip("starlette", reason="the extra 'web' is not installed")
httpx = pytest.importorskip("httpx", reason="the extra 'test' is not installed")


@pytest.fixture(scope="module")
def start(light_model):
    """Start the command; returns the process and the address that it prints."""
    started = []

    def run(*words):
        command = [
            sys.executable,
            "-m",
            "leafid",
            "serve",
            "--port",
            "0",
            "--model",
            str(light_model),
            "--jobs",
            "1",
        ]
        # A job in the background of a shell ignores the signal of Ctrl-C, and so would
        # the server in it.
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process = subprocess.Popen(
                [*command, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        finally:
            signal.signal(signal.SIGINT, previous)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_serve_answers_until_ctrl_c_and_half_sent_headers_keep_nobody_out(start, drawn):
    process, address = start()
    file = next((drawn / "Test").glob("*.jpg"))
    [answer] = httpx.post(
        f"{address}identify", files={"pictures": file.open("rb")}, timeout=60
    ).json()
    assert answer["picture"] == file.name
    place = urlsplit(address).hostname, urlsplit(address).port
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    refused = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
    with ExitStack() as stack:
        connections = []
        # Half a header after an answer, after two, and half of the content that an
        # answer didn't wait for.
        for sent, half in (
            (request, b"GET / HT"),
            (2 * request, b"GET / HT"),
            (refused, b"half"),
        ):
            connection = stack.enter_context(
                socket.create_connection(place, timeout=30)
            )
            connection.sendall(sent)
            assert connection.recv(9) == b"HTTP/1.1 "
            connection.sendall(half)
            connections.append(connection)
        # More than the server has at once.
        for _ in range(805):
            half = stack.enter_context(socket.create_connection(place, timeout=30))
            half.sendall(b"GET / HTTP/1.1\r\nHost: ")
        end = time.monotonic() + 30
        while httpx.get(address).status_code == 503:
            assert time.monotonic() < end
            time.sleep(0.2)
        for connection in [*connections, half]:
            # The rest of the answers, and then the end.
            while connection.recv(1 << 16):
                pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert err == "leafid: Ctrl-C ends the server\n"


@pytest.mark.slow
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_at_all_addresses_prints_those_that_other_machines_can_open(
    start, host
):
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    process, address = start("--host", host)
    printed = ipaddress.ip_address(urlsplit(address).hostname)
    assert not printed.is_unspecified
    page = httpx.get(address)
    assert page.status_code == 200
    # A machine without a network has no other address.
    assert ("are sent to" in page.text) == (not printed.is_loopback)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    name = socket.gethostname().lower()
    assert (f"http://{name}:{urlsplit(address).port}/" in err) == (
        not printed.is_loopback
    )


def test_the_address_is_a_code_that_a_phone_reads():
    pytest.importorskip("segno", reason="the extra 'web' is not installed")
    screen = io.StringIO()
    show_code("http://192.0.2.7:8000/", Console(io.StringIO(), screen))
    lines = [
        re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.getvalue().splitlines()
    ]
    # A block is light, and half a block above or below another.
    halves = [
        [[block in row for block in line] for row in ("█▀", "█▄")]
        for line in lines
        if line
    ]
    modules = np.array([row for pair in halves for row in pair], np.uint8) * 255
    image = cv2.resize(modules, None, fx=8, fy=8, interpolation=cv2.INTER_NEAREST)
    assert cv2.QRCodeDetector().detectAndDecode(image)[0] == "http://192.0.2.7:8000/"


def test_a_port_in_use(cli, light_model):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = cli("serve", "--port", port, "--model", light_model)
    assert (outcome.status, outcome.err.count("\n")) == (1, 1)
    assert f"127.0.0.1:{port}: can't listen there" in outcome.err


def test_without_the_extra(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    outcome = cli("serve")
    assert outcome.status == 1
    assert (
        outcome.err
        == "leafid: error: 'leafid serve' needs starlette: pip install '.[web]' in "
        "the folder of leafid\n"
    )
