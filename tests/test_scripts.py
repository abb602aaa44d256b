"""The scripts for newcomers: they set up their environment once, report errors, and write what they say."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from leafid.cli.main import COMMANDS

REPOSITORY = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the scripts are for POSIX shells")

# Stands in for Python: makes "virtual environments" of itself, and logs what it is asked to install and to run.
FAKE_PYTHON = """#!/bin/sh
case "$*" in
  "-c "*) exit 0 ;;
  --version) echo "Python 3.11.99" ;;
  "-m venv --clear "*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && echo venv >>"$LOG" ;;
  "-m pip install "*) echo "pip $*" >>"$LOG"; exit "${PIP_STATUS:-0}" ;;
  "-m pytest"*) shift 2; echo "pytest $*" >>"$LOG" ;;
esac
"""


@pytest.fixture
def clone(tmp_path):
    """A checkout's scripts and settings, and a stand-in for Python."""
    folder = tmp_path / "a clone"
    shutil.copytree(REPOSITORY / "scripts", folder / "scripts")
    for name in ("constraints.txt", "setup.cfg", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, folder / name)
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    return folder


def run(clone, script, *words, cwd=None, **variables):
    log = clone.parent / "log"
    log.write_text("")
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": str(clone.parent / "python"), "LOG": str(log), **variables}
    done = subprocess.run(
        ["/bin/sh", str(clone / "scripts" / script), *words], env=environment, cwd=cwd, capture_output=True, text=True
    )
    return done, log.read_text().splitlines()


def test_the_environment_is_set_up_once(clone):
    done, steps = run(clone, "test", "tests/report", "-q")
    assert done.returncode == 0, done.stderr
    assert steps[0] == "venv"
    assert steps[1].endswith(f"--constraint {clone}/constraints.txt --editable {clone}[test,lint,docs]")
    assert steps[2:] == ["pytest -n auto --dist loadfile tests/report -q"]
    done, steps = run(clone, "test")
    assert steps == ["pytest -n auto --dist loadfile"]
    assert done.stderr.startswith("All tests take about ")


def test_an_interrupted_set_up_is_repeated(clone):
    done, _ = run(clone, "test", PIP_STATUS="1")
    assert done.returncode == 1
    assert "test: error: the packages could not be installed" in done.stderr
    _, steps = run(clone, "test")
    assert [step.split()[0] for step in steps] == ["pip", "pytest"]


def test_a_foreign_environment_is_not_changed(clone):
    (clone / ".venv").mkdir()
    (clone / ".venv" / "mine").write_text("")
    done, steps = run(clone, "demo")
    assert done.returncode == 1
    assert "was not made by this script" in done.stderr
    assert (clone / ".venv" / "mine").exists()
    assert steps == []


def test_reproduce_reports_what_it_needs(clone):
    done, _ = run(clone, "reproduce-imageclef2011")
    assert done.returncode == 1
    assert "name the folder with the ImageCLEF 2011 pictures" in done.stderr
    done, _ = run(clone, "reproduce-imageclef2011", "nowhere")
    assert "nowhere: no such folder" in done.stderr


def test_the_demo_calls_existing_commands_and_lists_its_files(clone):
    """With a stand-in for leafid; test_readme.py runs the real commands on the same sample."""
    (clone / "data" / "sample").mkdir(parents=True)
    run(clone, "test")
    program = clone / ".venv" / "bin" / "leafid"
    program.write_text('#!/bin/sh\necho "leafid $*" >>"$LOG"\n')
    program.chmod(0o755)
    done, steps = run(clone, "demo")
    assert done.returncode == 0, done.stderr
    called = [step.split()[1] for step in steps]
    assert called == ["info", "train", "predict", "predict", "check", "evaluate", "report"]
    assert set(called) <= set(COMMANDS)
    named = done.stdout.partition("Written:")[2]
    for step in steps:
        words = step.split()
        if "--output" in words:
            assert words[words.index("--output") + 1] in named


@pytest.mark.parametrize("script", ["benchmark", "demo", "docs", "test", "reproduce-imageclef2011"])
def test_scripts_are_executable(script):
    file = REPOSITORY / "scripts" / script
    assert os.access(file, os.X_OK)
    subprocess.run(["/bin/sh", "-n", str(file)], check=True)
