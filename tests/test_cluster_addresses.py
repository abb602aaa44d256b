"""How a cluster is named and reached, without any workers."""

import socket
import sys
import time
from importlib.util import find_spec

import pytest

from leafid import cluster
from leafid.cluster import check_cluster_address
from leafid.errors import LeafidError, UsageError

needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask: pip install distributed")


@pytest.mark.parametrize("word", ["tcp://10.0.0.1:8786", "tls://head-node:8786", "local", "local:12"])
def test_valid_addresses(word):
    assert check_cluster_address(word) == word


@pytest.mark.parametrize(
    "word", ["", "localhost:8786", "tcp://head-node", "local:0", "local:x", "http://a:1", "tcp://a b:1"]
)
def test_invalid_addresses(cli, word, tmp_path):
    with pytest.raises(
        UsageError, match="expected a cluster as tcp://host:port of a Dask scheduler, or local:N, found "
    ):
        check_cluster_address(word)
    found = cli("train", tmp_path, "--output", tmp_path / "model", "--cluster", word)
    assert found.status == 2
    assert found.err.count("\n") == 1


def test_without_dask(cli, drawn, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = cli("train", drawn, "--output", tmp_path / "model", "--cluster", "local")
    assert found.status == 1
    assert found.err.startswith("leafid: error: --cluster needs Dask (")
    assert found.err.endswith("); install it: pip install distributed\n")


@needs_dask
@pytest.mark.slow
def test_no_scheduler_answers(cli, drawn, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        found = cli("train", drawn, "--output", tmp_path / "model", "--cluster", address)
    assert found.status == 1
    assert found.err == (f"leafid: error: {address}: no Dask scheduler answers within 1 s; start one: dask scheduler\n")


@needs_dask
@pytest.mark.slow
def test_a_server_that_never_answers_is_left_in_time(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(LeafidError, match="no Dask scheduler answers within 1 s"), cluster.on_cluster(address):
            pass
        assert time.monotonic() - start < 10


@needs_dask
@pytest.mark.slow
def test_tls_without_certificates_is_reported():
    with (
        pytest.raises(LeafidError, match=r"no Dask scheduler answers within 10 s \(TLS expects"),
        cluster.on_cluster("tls://127.0.0.1:8786"),
    ):
        pass
