import logging
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from leafid.errors import LeafidError
from leafid.parallel import mapping
from leafid.parallel.mapping import current_executor, ordered_map

needs_signals = pytest.mark.skipif(os.name != "posix", reason="kills processes")


def square(number):
    return number * number


def fail(number):
    if number == 3:
        raise LeafidError("number 3 is wrong")
    return number


def get_threads(_):
    time.sleep(0.05)  # so that each worker gets some
    return (
        os.getpid(),
        cv2.getNumThreads(),
        {
            entry["num_threads"]
            for entry in threadpool_info()
            if entry["user_api"] == "blas"
        },
    )


def multiply(seed):
    random = np.random.default_rng(seed)
    return (random.normal(size=(300, 257)) @ random.normal(size=(257, 61))).astype(
        np.float32
    )


def kill(number):
    if number in {3, 7}:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def hang(number):
    if number == 3:
        time.sleep(600)
    return number


def warn(number):
    if number % 2:
        logging.getLogger("leafid.pictures").warning("number %s is odd", number)
    return number


def describe(number, reason):
    return f"{number}: {reason}"


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_results_come_in_the_order_of_the_items(jobs):
    assert list(ordered_map(square, range(100), jobs)) == [n * n for n in range(100)]
    assert list(ordered_map(square, iter(range(20)), jobs)) == [
        n * n for n in range(20)
    ]
    assert list(ordered_map(square, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_workers_pass_unchanged(jobs):
    with pytest.raises(LeafidError, match=r"^number 3 is wrong$"):
        list(ordered_map(fail, range(20), jobs))


@needs_signals
def test_an_item_that_kills_its_worker_costs_only_itself():
    results = list(ordered_map(kill, range(20), 2, describe))
    reason = "a worker process ended, maybe out of memory; use fewer jobs"
    assert results == [
        describe(number, reason) if number in {3, 7} else number for number in range(20)
    ]


@needs_signals
def test_a_killed_worker_is_an_error_where_no_item_can_be_left_out():
    with pytest.raises(LeafidError, match=r"^a worker process ended"):
        list(ordered_map(kill, range(20), 2))
    assert list(ordered_map(square, range(20), 2)) == [n * n for n in range(20)]


@needs_signals
def test_workers_killed_between_two_calls_are_replaced():
    processes = {process for process, _, _ in ordered_map(get_threads, range(20), 2)}
    for process in processes:
        os.kill(process, signal.SIGKILL)
    time.sleep(1)
    assert list(ordered_map(square, range(20), 2)) == [n * n for n in range(20)]


@needs_signals
def test_an_item_that_takes_too_long_costs_only_itself(monkeypatch):
    monkeypatch.setattr(mapping, "ITEM_SECONDS", 2)
    results = list(ordered_map(hang, range(20), 2, describe))
    assert results == [
        0,
        1,
        2,
        "3: a worker process took too long and was ended",
        *range(4, 20),
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_warnings_of_workers_are_logged_once_in_this_process(jobs, caplog, capfd):
    assert list(ordered_map(warn, range(20), jobs)) == list(range(20))
    assert [record.getMessage() for record in caplog.records] == [
        f"number {n} is odd" for n in range(1, 20, 2)
    ]
    assert {(record.name, record.levelno) for record in caplog.records} == {
        ("leafid.pictures", logging.WARNING)
    }
    assert capfd.readouterr().err == ""


def test_only_a_few_items_are_taken_ahead():
    taken = []
    results = ordered_map(
        square, (taken.append(number) or number for number in range(1000)), 2
    )
    next(results)
    assert len(taken) < 100
    results.close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_libraries_use_one_thread(jobs):
    results = [
        *ordered_map(get_threads, range(20), jobs),
        *ordered_map(get_threads, range(20), jobs),
    ]
    assert {opencv for _, opencv, _ in results} == {1}
    assert {blas for _, _, n_threads in results for blas in n_threads} == {1}
    processes = {process for process, _, _ in results}
    assert processes == {os.getpid()} if jobs == 1 else os.getpid() not in processes
    assert len(processes) <= jobs  # one pool serves all calls


def test_results_do_not_depend_on_the_number_of_processes():
    for alone, shared in zip(
        ordered_map(multiply, range(20), 1),
        ordered_map(multiply, range(20), 2),
        strict=True,
    ):
        np.testing.assert_allclose(alone, shared, atol=1e-6)


def test_workers_resolve_relative_paths_like_the_caller(tmp_path, monkeypatch):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert set(ordered_map(os.path.abspath, ["leaf.jpg"] * 20, 2)) == {
            str(tmp_path / name / "leaf.jpg")
        }


class Threads:
    """Threads in place of processes, which count the calls."""

    n_workers = 2

    def __init__(self):
        self.limits = []
        self.pool = ThreadPoolExecutor(self.n_workers)

    def submit(self, function, *arguments, seconds=None):
        self.limits.append(seconds)
        return self.pool.submit(function, *arguments)


def test_the_current_executor_computes_all_items_whatever_the_jobs():
    threads = Threads()
    token = current_executor.set(threads)
    try:
        assert list(ordered_map(square, range(3))) == [0, 1, 4]
        with pytest.raises(LeafidError, match=r"^number 3 is wrong$"):
            list(ordered_map(fail, range(4), 2, describe))
    finally:
        current_executor.reset(token)
    assert threads.limits == [None] * 3 + [300] * 4
    assert list(ordered_map(square, range(3))) == [0, 1, 4]
    assert len(threads.limits) == 7
