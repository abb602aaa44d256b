"""Tests with real schedulers and workers, which are processes on this machine."""

import logging
import os
import socket
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import pytest

from leafid.errors import LeafidError
from leafid.parallel import cluster
from leafid.parallel.cluster import check_versions, collect_versions, on_cluster
from leafid.parallel.mapping import ordered_map
from tests.parallel.test_mapping import describe, fail, get_threads, kill, square, warn

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="needs Dask: pip install distributed"
)


@pytest.fixture(scope="module")
def address():
    """The address of a cluster of two workers."""
    import dask.config
    from distributed import LocalCluster

    workers = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "memory_limit": 0,
        "dashboard_address": None,
    }
    # Workers have to import what they call. Dask leaves their settings in the
    # environment, where the processes of later tests would read them. A call that kills
    # its worker is tried once, not four times: workers take time to start.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        mock.patch.dict(os.environ, PYTHONPATH=str(Path(__file__).parents[2])),
        LocalCluster(**workers, silence_logs=logging.CRITICAL) as local,
    ):
        yield local.scheduler_address


@pytest.fixture
def local(address):
    with on_cluster(address):
        yield


@needs_dask
@pytest.mark.slow
def test_a_cluster_works_like_processes(local, caplog):
    assert list(ordered_map(square, range(50))) == [number**2 for number in range(50)]
    assert list(ordered_map(square, [])) == []
    with pytest.raises(LeafidError, match=r"^number 3 is wrong$"):
        list(ordered_map(fail, range(6)))
    assert list(ordered_map(warn, range(3))) == [0, 1, 2]
    assert caplog.messages == ["number 1 is odd"]
    results = list(ordered_map(get_threads, range(4)))
    assert os.getpid() not in {process for process, _, _ in results}
    assert {opencv for _, opencv, _ in results} == {1}


@needs_dask
@pytest.mark.slow
def test_a_killed_worker_costs_only_its_picture(local):
    results = list(ordered_map(kill, range(6), 1, describe))
    reason = "a worker of the cluster ended while computing it, maybe out of memory"
    # Dask may blame an item that waited beside the one that ended its worker.
    assert results[3] == describe(3, reason)
    assert all(
        result in (number, describe(number, reason))
        for number, result in enumerate(results)
    )
    assert results.count(describe(3, reason)) == 1
    assert list(ordered_map(square, range(6))) == [number**2 for number in range(6)]


@needs_dask
@pytest.mark.slow
def test_a_command_on_a_scheduler(cli, drawn, drawn_model, address):
    words = ("predict", drawn, "--model", drawn_model, "--no-cache", "--format", "csv")
    result = cli(*words, "--cluster", address)
    assert (result.status, result.err) == (0, "")
    assert result.out == cli(*words, "--jobs", 1).out


@needs_dask
@pytest.mark.slow
def test_dask_prints_nothing_of_its_own(address, monkeypatch):
    pytest.importorskip("distributed")  # sets levels of loggers
    for name in ("distributed", "distributed.client"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.WARNING)
    with on_cluster(address):
        for name in ("distributed.core", "distributed.client"):
            assert not logging.getLogger(name).isEnabledFor(logging.ERROR)


def test_workers_that_differ_are_refused():
    versions = collect_versions()
    check_versions(versions)
    with pytest.raises(
        LeafidError,
        match=r"the worker on .* has numpy .* instead of 1\.0; install the same on all",
    ):
        check_versions({**versions, "numpy": "1.0"})


@needs_dask
@pytest.mark.slow
def test_no_scheduler_answers(cli, drawn, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        result = cli(
            "train", drawn, "--output", tmp_path / "model", "--cluster", address
        )
    assert result.status == 1
    assert result.err.startswith(
        f"leafid: error: {address}: expected a Dask scheduler with a worker, found "
        "none; start "
    )
    assert result.err.count("\n") == 1
