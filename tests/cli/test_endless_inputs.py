"""No command waits for, or reads without end, an input that is no plain file."""

import os
import re
from pathlib import Path

import pytest

from tests.scoring.golden_files import GOOD, TRUTH

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pipes and devices")


@pytest.fixture(params=["pipe", "device"])
def endless(request, tmp_path):
    if request.param == "device":
        return Path("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "x.jpg", "--model", "ENDLESS"],
        ["check", "ENDLESS"],
        ["evaluate", TRUTH, "ENDLESS"],
        ["evaluate", "ENDLESS", GOOD],
        ["evaluate-irma", "ENDLESS", GOOD, "--years", "2005"],
        ["evaluate-irma", GOOD, GOOD, "--years", "2007", "--codes", "ENDLESS"],
        ["evaluate-annotation", "ENDLESS", GOOD],
        ["check-annotation", "ENDLESS"],
    ],
    ids=lambda words: f"{words[0]}-{words.index('ENDLESS')}",
)
def test_a_pipe_or_device_is_no_input(cli, endless, words):
    outcome = cli(*[endless if word == "ENDLESS" else word for word in words])
    assert outcome.status == 1
    assert f"{endless}: expected " in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"", r"1: expected a run: .*, found another kind of file"),
        (
            b"1.jpg Acer campestre 1 1.0\n",
            r"2: expected lines of at most \d+ characters, found more",
        ),
    ],
)
def test_a_run_of_gigabytes_without_a_line_end(cli, tmp_path, start, expected):
    with (tmp_path / "run.txt").open("wb") as stream:
        stream.write(start)
        stream.truncate(1 << 40)
    outcome = cli("check", tmp_path / "run.txt")
    assert re.search(rf"run\.txt:{expected}", outcome.out + outcome.err)
