"""A small version of benchmarks/robustness/load.py, with every way to break a picture."""

import signal

import pytest

from benchmarks.robustness.broken import BROKEN, BROKEN_XML, ODD
from benchmarks.robustness.load import find_problems, make_pictures
from leafid.pictures.decoding import read_image


@pytest.fixture
def made(drawn, tmp_path):
    sources = [read_image(file) for file in sorted((drawn / "Train").glob("*.jpg"))[:6]]
    return make_pictures(tmp_path / "pictures", sources, 70, len(BROKEN) + len(BROKEN_XML), 0)


def test_every_good_picture_is_answered_and_every_bad_one_named(made, tmp_path, drawn_model, cli):
    assert set(made.bad.values()) == {*BROKEN, *BROKEN_XML}
    assert set(made.odd.values()) == set(ODD)
    run = tmp_path / "run.txt"
    # A named pipe would be waited for without end.
    signal.alarm(300)
    found = cli("predict", tmp_path / "pictures", "--model", drawn_model, "--output", run, "--no-cache", "--jobs", 1)
    signal.alarm(0)
    assert list(find_problems(made, run, found.status, found.err)) == []
    # The comparison itself would notice.
    made.good.add("lacking.jpg")
    made.bad["unnamed.jpg"] = "text"
    problems = list(find_problems(made, run, 0, "Traceback"))
    assert "good pictures have no answer" in problems[0]
    assert "unnamed.jpg (text) is not named" in problems
    assert "expected exit status 1, found 0" in problems
    assert "a message is an unexpected error" in problems
