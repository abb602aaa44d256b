import logging
import math
import os

import pytest

from leafid import limited_process
from leafid.errors import ImageError
from leafid.limited_process import LimitError, call_with_limits
from leafid.pictures.decoding import read_image_size


def test_result_error_and_log_come_back(tmp_path, caplog):
    assert call_with_limits(math.hypot, 3, 4) == 5
    with pytest.raises(ImageError, match=r"none\.jpg: no such file$"):
        call_with_limits(read_image_size, tmp_path / "none.jpg")
    call_with_limits(logging.getLogger("leafid.pictures").warning, "damaged inside")
    assert caplog.messages == ["damaged inside"]


def test_what_libraries_print_is_no_part_of_the_result():
    assert call_with_limits(os.system, "echo noise") == 0


@pytest.mark.skipif(os.name != "posix", reason="there are limits of processes only there")
@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ((sum, range(10**12)), "more than 1 s"),
        ((bytes, 1 << 33), "more than 4096 MiB of memory"),
        ((os.abort,), r"a decoder that doesn't crash \(status -6\)"),
    ],
)
def test_limits(call, reason, monkeypatch):
    monkeypatch.setattr(limited_process, "MAX_CPU_SECONDS", 1)
    with pytest.raises(LimitError, match=f"^{reason}"):
        call_with_limits(*call)


def test_limit_of_time_holds_for_a_process_that_waits(monkeypatch):
    monkeypatch.setattr(limited_process, "_MAX_SECONDS", 2)
    with pytest.raises(LimitError, match=r"^more than 2 s$"):
        call_with_limits(os.system, "sleep 600")
