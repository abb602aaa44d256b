"""Tests with real schedulers and workers, which are processes on this machine."""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import Mock

import cv2
import pytest
from threadpoolctl import threadpool_info

from leafid import cluster
from leafid.cluster import on_cluster
from leafid.errors import LeafidError
from leafid.workers import ordered_map

pytestmark = pytest.mark.slow

needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask: pip install distributed")


def _make_tasks():
    """Make functions that are pickled by value, because workers can't import a test module."""

    def square_slowly(number):
        time.sleep(0.05)
        return number * number

    def fail(number):
        if number == 3:
            raise LeafidError("number 3 is wrong")
        return number

    def describe_process(_):
        return os.getpid(), str(Path.cwd()), cv2.getNumThreads(), {entry["num_threads"] for entry in threadpool_info()}

    def warn(number):
        logging.getLogger("leafid.pictures").warning("number %s is odd", number)
        return number

    return square_slowly, fail, describe_process, warn


square_slowly, fail, describe_process, warn = _make_tasks()


class DaskProcesses:
    """A scheduler whose workers join and leave."""

    def __init__(self, folder):
        from distributed import Client

        self.folder = folder
        self.processes = []
        self._start("scheduler", "--port", "0")
        file = folder / "scheduler.json"
        while not file.exists():
            assert self.processes[0].poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        self.client = Client(scheduler_file=str(file), set_as_default=False)
        self.address = self.client.scheduler.address

    def start_worker(self, name):
        options = ["--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", str(self.folder)]
        process = self._start("worker", *options)
        while name not in self._names():
            assert process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        return process

    def is_busy(self, name):
        (address,) = [address for address, own in self._workers().items() if own["name"] == name]
        return bool(self.client.processing().get(address))

    def is_idle(self):
        return not any(self.client.processing().values())

    def close(self):
        self.client.close()
        for process in self.processes:
            process.kill()
            process.wait()

    def _names(self):
        return {own["name"] for own in self._workers().values()}

    def _workers(self):
        return self.client.run_on_scheduler(_workers_of)

    def _start(self, what, *options):
        words = [what, *options, "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", "scheduler.json"]
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen([sys.executable, "-m", "dask", *words], cwd=self.folder, stdout=log, stderr=log)
        self.processes.append(process)
        return process


def _workers_of(dask_scheduler):
    # A worker that is still starting gets no work.
    ready = ((address, own) for address, own in dask_scheduler.workers.items() if own.status.name == "running")
    return {address: {"name": own.name} for address, own in ready}


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    pytest.importorskip("distributed", reason="needs Dask: pip install distributed")
    import cloudpickle

    # The scheduler can't import this module.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    found = DaskProcesses(tmp_path_factory.mktemp("machines"))
    yield found
    found.close()


def wait_until(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_at_work(machines, process, name, successor, command):
    """Run a command on a stopped worker, and kill that once it has work and a second worker has joined.

    The second worker joins later, as it would otherwise get all of so little work.
    """
    process.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(command)
        try:
            wait_until(lambda: machines.is_busy(name) or running.done())
            assert not running.done(), running.result()
            started = machines.start_worker(successor)
        finally:
            # A stopped worker would be waited for forever.
            process.kill()
        return running.result(), started


def test_no_worker_joins(cli, machines, drawn, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "FIRST_WORKER_SECONDS", 1)
    found = cli("train", drawn, "--output", tmp_path / "model", "--cluster", machines.address)
    assert found.status == 1
    assert found.err == (
        f"leafid: error: {machines.address}: the scheduler has no worker, and got none within 1 s; "
        f"start some: dask worker {machines.address} --nthreads 1\n"
    )


def test_killed_workers_do_not_change_a_byte(
    cli, machines, drawn, drawn_model, drawn_cache, small_recipe, tmp_path, monkeypatch
):
    alone, run, model = tmp_path / "alone", tmp_path / "run", tmp_path / "model"
    assert (
        cli("predict", drawn, "--model", drawn_model, "--jobs", 1, "--cache", drawn_cache, "--output", alone).status
        == 0
    )
    monkeypatch.chdir(drawn.parent)
    on = ("--no-cache", "--cluster", machines.address)
    first = machines.start_worker("first")
    train = ("train", drawn.name, "--recipe", small_recipe, "--output", model, *on)
    trained, second = kill_at_work(machines, first, "first", "second", lambda: cli(*train))
    assert (trained.status, trained.err) == (0, "")
    assert model.read_bytes() == drawn_model.read_bytes()
    predict = ("predict", drawn.name, "--model", model, "--output", run, *on)
    predicted, _ = kill_at_work(machines, second, "second", "third", lambda: cli(*predict))
    assert (predicted.status, predicted.err) == (0, f"{run}: 27 predictions for 9 pictures\n")
    assert run.read_bytes() == alone.read_bytes()


@pytest.fixture
def worker(machines):
    """A cluster with at least one worker."""
    if not machines._names():
        machines.start_worker("first")
    return machines


def test_workers_return_results_in_order(worker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with on_cluster(worker.address):
        assert list(ordered_map(square_slowly, range(20), jobs=1)) == [number**2 for number in range(20)]
        assert list(ordered_map(square_slowly, [])) == []
        found = list(ordered_map(describe_process, range(3)))
    assert os.getpid() not in {process for process, *_ in found}
    assert {folder for _, folder, _, _ in found} == {str(tmp_path)}
    assert {opencv for _, _, opencv, _ in found} == {1}
    assert {number for *_, numbers in found for number in numbers} == {1}
    assert {process for process, *_ in ordered_map(describe_process, range(2))} == {os.getpid()}


def test_errors_of_workers_pass_unchanged(worker):
    with on_cluster(worker.address), pytest.raises(LeafidError, match=r"^number 3 is wrong$"):
        list(ordered_map(fail, range(6)))


def test_warnings_of_workers_are_logged_in_this_process(worker, caplog):
    with on_cluster(worker.address):
        assert list(ordered_map(warn, range(3))) == [0, 1, 2]
    assert [record.getMessage() for record in caplog.records if record.name == "leafid.pictures"] == [
        f"number {number} is odd" for number in range(3)
    ]


def test_few_items_are_in_progress_and_none_after_closing(worker):
    taken = []
    with on_cluster(worker.address):
        results = ordered_map(square_slowly, (taken.append(number) or number for number in range(1000)))
        assert next(results) == 0
        assert len(taken) <= 3 * len(worker._names()) + 1
        results.close()
        wait_until(worker.is_idle)


@needs_dask
def test_an_item_that_ends_its_worker_costs_only_itself(monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def kill_or_hang(number):
        if number in {3, 4}:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 8:
            time.sleep(600)
        return number

    monkeypatch.setattr(cluster, "ITEM_SECONDS", 3)
    with on_cluster("local:2"):
        found = list(ordered_map(kill_or_hang, range(12), 1, lambda number, reason: f"{number}: {reason}"))
    reason = "1 worker of local:2 ended while computing it, maybe out of memory, or after 3 s"
    assert found == [f"{number}: {reason}" if number in {3, 4, 8} else number for number in range(12)]
    assert capfd.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


@needs_dask
def test_an_item_whose_worker_is_killed_is_tried_once_more(tmp_path):
    def kill_once(number):
        if number == 3 and not (tmp_path / "mark").exists():
            (tmp_path / "mark").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with on_cluster("local:2"):
        assert list(ordered_map(kill_once, range(9), 1, lambda *_: None)) == list(range(9))


@needs_dask
def test_a_killed_worker_without_a_way_to_leave_an_item_out():
    def kill(number):
        os.kill(os.getpid(), signal.SIGKILL)

    with on_cluster("local:1"), pytest.raises(LeafidError, match="1 worker of local:1 ended while computing it"):
        list(ordered_map(kill, range(3), 1))


@needs_dask
def test_workers_on_this_machine_that_do_not_start_again_are_not_waited_for(monkeypatch):
    monkeypatch.setattr(cluster, "_CHECK_SECONDS", 0.5)
    with on_cluster("local:1"):
        results = ordered_map(square_slowly, range(8))
        assert next(results) == 0
        monkeypatch.setattr("distributed.Client.nthreads", lambda _: {})
        monkeypatch.setattr("distributed.wait", Mock(side_effect=TimeoutError))
        with pytest.raises(LeafidError, match="local:1: its workers ended and don't start again"):
            list(results)


def test_dask_backend_of_joblib_works_too(worker):
    from joblib import parallel_config

    with worker.client.as_current(), parallel_config(backend="dask"):
        assert list(ordered_map(square_slowly, range(6), jobs=2)) == [number**2 for number in range(6)]


def test_waits_for_a_new_worker_after_the_last_has_left(worker, monkeypatch, caplog):
    monkeypatch.setattr(cluster, "_CHECK_SECONDS", 0.5)
    with on_cluster(worker.address):
        results = ordered_map(square_slowly, range(8))
        assert next(results) == 0
        for process in worker.processes[1:]:
            process.kill()
        thread = ThreadPoolExecutor(1)
        rest = thread.submit(list, results)
        wait_until(lambda: f"{worker.address}: no worker is left; waiting for one to join" in caplog.text)
        assert not rest.done()
        worker.start_worker("another")
        assert rest.result() == [number**2 for number in range(1, 8)]
