"""Scripts that start workers: without a guard, from stdin, with forked processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

FORKING = """
import multiprocessing, os
from leafid.parallel.mapping import ordered_map

def find_workers():
    return {number for number, _ in ordered_map(get_process, range(40), 2)}

def get_process(number):
    return os.getppid(), number

def check():
    return set(find_workers()) == {os.getpid()}

if __name__ == "__main__":
    print("before", check(), flush=True)
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=lambda: print("process", check(), flush=True))
    process.start()
    process.join()
    print("after", check(), flush=True)
"""
WORKS = {
    "identify": "list(leafid.load_model({model!r}).identify(files, jobs=2))",
    "train": "leafid.train({pictures!r}, {recipe!r}, cache=False, jobs=2)",
}


def run_script(words, **options):
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **options,
    )


@pytest.mark.parametrize(
    ("place", "work"), [("file", "identify"), ("standard input", "train")]
)
def test_a_script_without_a_guard_is_one_error_that_shows_it(
    place, work, drawn, light_recipe, light_model, tmp_path
):
    lines = ["import leafid", "from pathlib import Path"]
    lines.append("files = sorted(Path({pictures!r}).rglob('*.jpg'))")
    given = {
        "model": str(light_model),
        "pictures": str(drawn),
        "recipe": str(light_recipe),
    }
    text = "\n".join([*lines, WORKS[work]]).format(**given)
    (tmp_path / "script.py").write_text(text)
    result = (
        run_script([tmp_path / "script.py"])
        if place == "file"
        else run_script(["-"], input=text)
    )
    assert result.returncode == 1
    assert result.stderr.count("Traceback") == 1
    *_, last = result.stderr.splitlines()
    assert last.startswith(
        "leafid.errors.LeafidError: the worker processes could not start: "
    )
    assert 'if __name__ == "__main__":' in last
    assert result.stdout == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_workers_belong_to_the_process_that_started_them(tmp_path):
    (tmp_path / "script.py").write_text(FORKING)
    result = run_script([tmp_path / "script.py"])
    assert result.stdout.splitlines() == ["before True", "process True", "after True"]
    # A child that tried to end the workers of its parent would print one.
    assert "AssertionError" not in result.stderr
