import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from leafid import parallel, worker_calls
from leafid.errors import LeafidError
from leafid.workers import ordered_map, use_workers


def _make_tasks():
    """Make functions that are pickled by value, because workers can't import a test module."""

    def square(number):
        return number * number

    def fail(number):
        if number == 3:
            raise LeafidError("number 3 is wrong")
        return number

    def get_threads(_):
        return (
            os.getpid(),
            cv2.getNumThreads(),
            {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"},
        )

    def multiply(seed):
        random = np.random.default_rng(seed)
        return (random.normal(size=(300, 257)) @ random.normal(size=(257, 61))).astype(np.float32).tobytes()

    def kill(number):
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    def warn(number):
        if number % 2:
            logging.getLogger("leafid.pictures").warning("number %s is odd", number)
        return number

    return square, fail, get_threads, multiply, kill, warn


square, fail, get_threads, multiply, kill, warn = _make_tasks()


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_results_come_in_the_order_of_the_items(jobs):
    assert list(ordered_map(square, range(20), jobs)) == [n * n for n in range(20)]
    assert list(ordered_map(square, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_workers_pass_unchanged(jobs):
    with pytest.raises(LeafidError, match="number 3 is wrong"):
        list(ordered_map(fail, range(6), jobs))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_killed_worker_is_reported_in_one_line():
    """A system that is out of memory kills processes like this."""
    with pytest.raises(LeafidError) as caught:
        list(ordered_map(kill, range(6), 2))
    assert str(caught.value) == "a worker process was killed (SIGKILL), maybe out of memory; use fewer --jobs"
    assert list(ordered_map(square, range(3), 2)) == [0, 1, 4]


@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_an_item_that_kills_its_worker_costs_only_itself():
    def kill_at_3_and_7(number):
        if number in {3, 7}:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    found = list(ordered_map(kill_at_3_and_7, range(20), 2, lambda number, reason: f"{number}: {reason}"))
    reason = "a worker process was killed (SIGKILL), maybe out of memory; use fewer --jobs"
    assert found == [f"{number}: {reason}" if number in {3, 7} else number for number in range(20)]


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_an_item_whose_worker_is_killed_is_tried_once_more(tmp_path):
    def kill_once(number):
        if number == 3 and not (tmp_path / "mark").exists():
            (tmp_path / "mark").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(ordered_map(kill_once, range(9), 2, lambda *_: None)) == list(range(9))


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_an_item_that_takes_too_long_costs_only_itself(monkeypatch):
    monkeypatch.setattr(parallel, "ITEM_SECONDS", 3)

    def hang_at_3(number):
        if number == 3:
            time.sleep(600)
        return number

    found = list(ordered_map(hang_at_3, range(9), 2, lambda number, reason: f"{number}: {reason}"))
    assert found == [0, 1, 2, "3: a worker process took more than 3 s and was ended", *range(4, 9)]


@pytest.mark.skipif(os.name != "posix", reason="needs a limit of open files")
def test_too_few_open_files_are_reported_before_workers_start(drawn, tmp_path):
    words = [sys.executable, "-m", "leafid", "info", drawn, "--jobs", "2"]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 20; exec "$@"', "sh", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    reason = "2 worker processes can't be started: Too many open files; use --jobs 1, or raise ulimit -n"
    assert done.stderr == f"leafid: error: {reason}\n"


def test_a_worker_without_memory_for_a_limit_of_time_works(monkeypatch):
    def fail(*_args, **_options):
        raise RuntimeError("unable to start watchdog thread")

    monkeypatch.setattr(worker_calls.faulthandler, "dump_traceback_later", fail)
    assert worker_calls.call_and_record_log(0, Path.cwd(), abs, -3, 300) == (3, [])


@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (2, "loky"), (2, "threading")])
def test_warnings_of_workers_are_logged_once_in_this_process(jobs, backend, caplog, capfd):
    from joblib import parallel_config

    with parallel_config(backend=backend):
        assert list(ordered_map(warn, range(6), jobs)) == list(range(6))
    # Threads log in any order.
    messages = [record.getMessage() for record in caplog.records]
    assert (sorted(messages) if backend == "threading" else messages) == [f"number {n} is odd" for n in (1, 3, 5)]
    assert {(record.name, record.levelno) for record in caplog.records} == {("leafid.pictures", logging.WARNING)}
    assert capfd.readouterr().err == ""


def test_one_job_computes_a_result_when_it_is_requested():
    done = []
    results = ordered_map(done.append, range(3), 1)
    assert done == []
    next(results)
    assert done == [0]


def map_on_fake_workers(function, items, make_failure):
    return (("worker", function(item)) for item in items)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_call_decides_where_the_work_is_done(jobs):
    before = ordered_map(square, range(3), jobs)
    with use_workers(map_on_fake_workers):
        inside = ordered_map(square, range(3), jobs)
        assert list(before) == [0, 1, 4]
    assert list(inside) == [("worker", 0), ("worker", 1), ("worker", 4)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_libraries_use_one_thread(jobs):
    found = list(ordered_map(get_threads, range(4), jobs))
    assert {opencv for _, opencv, _ in found} == {1}
    assert {numbers for _, _, own in found for numbers in own} == {1}
    assert (os.getpid() in {process for process, _, _ in found}) == (jobs == 1)


def test_thread_limit_is_restored():
    before = {entry["filepath"]: entry["num_threads"] for entry in threadpool_info()}
    list(ordered_map(square, range(2), 1))
    after = {entry["filepath"]: entry["num_threads"] for entry in threadpool_info()}
    assert {name: after[name] for name in before} == before


def test_results_do_not_depend_on_the_number_of_processes():
    assert list(ordered_map(multiply, range(4), 1)) == list(ordered_map(multiply, range(4), 2))


def test_joblib_backend_of_the_caller_is_used():
    from joblib import parallel_config

    with parallel_config(backend="threading"):
        found = list(ordered_map(get_threads, range(4), 2))
    assert {process for process, _, _ in found} == {os.getpid()}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_workers_exit_when_the_parent_is_killed(tmp_path):
    """Workers of loky wait for work for minutes by default."""
    script = tmp_path / "main.py"
    script.write_text(
        "import os, sys, time\n"
        "from leafid.workers import ordered_map\n"
        "for pid in ordered_map(lambda i: time.sleep(0.1) or os.getpid(), range(10_000), 2):\n"
        "    print(pid, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as main:
        workers = {int(main.stdout.readline()) for _ in range(4)}
        main.kill()
    deadline = time.monotonic() + 60
    alive = workers
    while alive and time.monotonic() < deadline:
        time.sleep(0.2)
        alive = {pid for pid in workers if _is_running(pid)}
    assert not alive


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_reused_workers_resolve_relative_paths_like_the_parent(tmp_path, monkeypatch):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        # A function of this module could not be imported by the workers.
        assert set(ordered_map(os.path.abspath, ["leaf.jpg"] * 4, 2)) == {str(tmp_path / name / "leaf.jpg")}
