import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")
httpx = pytest.importorskip("httpx", reason="the extra 'test' is not installed")


@pytest.fixture
def start(drawn_model):
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
            drawn_model,
            "--jobs",
            "1",
            *words,
        ]
        # A job in the background of a shell ignores the signal of Ctrl-C, and so would the server in it.
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process = subprocess.Popen(
                list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
def test_serve_answers_until_ctrl_c(start, drawn):
    process, address = start()
    file = next((drawn / "Test").glob("*.jpg"))
    [answer] = httpx.post(f"{address}identify", files={"pictures": file.open("rb")}, timeout=60).json()
    assert answer["picture"] == file.name
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err == "leafid: Ctrl-C ends the server\nleafid: interrupted\n"


@pytest.mark.slow
def test_half_sent_headers_keep_nobody_out(start):
    _, address = start()
    host, port = address.removeprefix("http://").strip("/").split(":")
    with ExitStack() as stack:
        for _ in range(805):
            half = stack.enter_context(socket.create_connection((host, int(port))))
            half.sendall(b"GET / HTTP/1.1\r\nHost: ")
        end = time.monotonic() + 30
        while httpx.get(address).status_code == 503:
            assert time.monotonic() < end
            time.sleep(0.2)
        half.settimeout(30)
        assert half.recv(1) == b""


def test_a_port_in_use(cli, drawn_model):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = cli("serve", "--port", port, "--model", drawn_model)
    assert (outcome.status, outcome.err.count("\n")) == (1, 1)
    assert f"127.0.0.1:{port}: can't listen there" in outcome.err


def test_without_the_extra(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    outcome = cli("serve")
    assert outcome.status == 1
    assert outcome.err == "leafid: error: 'leafid serve' needs more packages: pip install starlette\n"
