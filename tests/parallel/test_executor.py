"""Any workers that submit calls can compute those of `ordered_map`."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from leafid.errors import LeafidError
from leafid.parallel.mapping import current_executor, ordered_map
from tests.parallel.test_mapping import describe, fail, square


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
