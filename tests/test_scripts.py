"""The scripts for newcomers set up an environment once, and report errors."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from leafid.cli.main import COMMANDS

REPOSITORY = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the scripts are for POSIX shells"
)


@pytest.fixture
def clone(tmp_path):
    """A checkout's scripts and settings, and a stand-in for Python."""
    folder = tmp_path / "a clone"
    shutil.copytree(REPOSITORY / "scripts", folder / "scripts")
    for name in ("constraints.txt", "setup.cfg", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, folder / name)
    shutil.copy(Path(__file__).with_name("fake_python.sh"), tmp_path / "python")
    (tmp_path / "python").chmod(0o755)
    return folder


@pytest.fixture
def stand_ins(tmp_path):
    """A search path on which the machine is of a kind, without rights to install."""

    def make(machine):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, line in {
            "uname": f"echo {machine}",
            "id": "echo 1000",
            "npm": "exit 0",
        }.items():
            (folder / name).write_text(f"#!/bin/sh\n{line}\n")
            (folder / name).chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    return make


def run(clone, script, *words, cwd=None, **variables):
    log = clone.parent / "log"
    log.write_text("")
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHON": str(clone.parent / "python"),
        "LOG": str(log),
        **variables,
    }
    done = subprocess.run(
        [str(clone / "scripts" / script), *words],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    return done, log.read_text().splitlines()


def test_the_environment_is_set_up_once(clone):
    done, steps = run(clone, "test", "tests/report", "-q")
    assert done.returncode == 0, done.stderr
    assert steps[0] == "venv"
    assert steps[1].endswith(
        f"--constraint {clone}/constraints.txt --editable {clone}[test,lint,docs]"
    )
    assert steps[2:] == ["pytest -n auto --dist loadfile tests/report -q"]
    done, steps = run(clone, "test")
    assert steps == ["pytest -n auto --dist loadfile"]
    assert done.stderr.startswith("All tests take about ")


def test_an_interrupted_set_up_is_repeated(clone):
    done, _ = run(clone, "test", PIP_FAILS_IN=".venv")
    assert done.returncode == 1
    assert "test: error: the packages could not be installed" in done.stderr
    _, steps = run(clone, "test")
    assert [step.split()[0] for step in steps] == ["pip", "pytest"]


def make_environment(clone, packages=""):
    """Make `.venv` with the Python of these tests, as a person does.

    `packages` are a folder with more to import.
    """
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", clone / ".venv"], check=True
    )
    (site,) = (clone / ".venv").glob("lib/*/site-packages")
    (site / "more.pth").write_text(f"{packages}\n")
    return site


@pytest.fixture
def installed(clone):
    """An environment in which `pip install` left a copy of an older leafid."""
    site = make_environment(clone, sysconfig.get_path("purelib"))
    (site / "leafid").mkdir()
    (site / "leafid" / "__init__.py").write_text("__all__ = []\nprint('an old copy')\n")
    program = clone / ".venv" / "bin" / "leafid"
    program.write_text(
        f'#!/bin/sh\nexec "{clone}/.venv/bin/python" -c "import leafid.here" "$@"\n'
    )
    program.chmod(0o755)
    (clone / "leafid").mkdir()
    (clone / "leafid" / "__init__.py").write_text("__all__ = []\n")
    (clone / "leafid" / "here.py").write_text(
        "import sys\nprint('this checkout', *sys.argv[1:])\n"
    )
    (clone / "data" / "sample").mkdir(parents=True)
    return clone


def test_the_demo_uses_an_environment_with_leafid_as_it_is(installed):
    """It needs no network, and shows the checkout's code, not the installed copy's."""
    done, steps = run(installed, "demo")
    assert done.returncode == 0, done.stderr
    assert (steps, done.stderr) == ([], "")
    assert "this checkout info data/sample" in done.stdout
    assert "an old copy" not in done.stdout
    assert not list((installed / ".venv").glob("leafid-*"))


def test_the_lowest_versions_are_installed_beside(clone):
    done, steps = run(clone, "test", "--lowest", "tests/report")
    assert done.returncode == 0, done.stderr
    lowest = clone / ".venv-lowest"
    assert steps[1].endswith(
        f"--constraint {lowest}/lowest.txt --editable {clone}[test]"
    )
    assert steps[2:] == ["pytest -n auto --dist loadfile tests/report"]
    assert "numpy==2.0\n" in (lowest / "lowest.txt").read_text()
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize(
    ("kernel", "replacement"),
    [("Haswell", "Nehalem"), ("SkylakeX", "Nehalem"), ("Nehalem", "Prescott")],
)
def test_another_processor_has_another_kernel(clone, stand_ins, kernel, replacement):
    done, steps = run(
        clone,
        "test",
        "--other-processor",
        "tests/report",
        KERNEL=kernel,
        PATH=stand_ins("x86_64"),
    )
    assert (done.returncode, steps[2:]) == (
        0,
        ["pytest -n auto --dist loadfile tests/report"],
    )
    assert f"the kernel {replacement}, on one thread" in done.stderr
    assert done.stdout == f"closing line of {replacement}\n"


@pytest.mark.parametrize(
    ("variables", "failed"),
    [
        ({}, None),
        ({"FAILING": ".venv"}, "all tests"),
        ({"FAILING": "ruff"}, "ruff check, ruff format"),
        ({"FAILING": "Nehalem"}, "tests as on another processor"),
        ({"FAILING": ".venv-lowest"}, "tests with the lowest versions"),
        ({"PIP_FAILS_IN": ".venv-lowest"}, "tests with the lowest versions"),
    ],
)
def test_all_checks_are_run_and_each_can_fail(clone, stand_ins, variables, failed):
    run(clone, "test")
    shutil.copytree(REPOSITORY / ".ci", clone / ".ci")
    for program in (".venv/bin/ruff", ".venv/bin/mypy", "scripts/docs"):
        name = Path(program).name
        (clone / program).write_text(
            f'#!/bin/sh\necho "{name}" >>"$LOG"\n[ "${{FAILING:-}}" != {name} ]\n'
        )
        (clone / program).chmod(0o755)
    (clone / ".gitignore").write_text(".venv*\n")
    subprocess.run(["git", "init", "--quiet"], cwd=clone, check=True)
    done, steps = run(clone, "../.ci/run", "-x", PATH=stand_ins("x86_64"), **variables)
    assert done.returncode == (failed is not None)
    *lines, last = done.stdout.splitlines()
    assert last == "closing line of .venv"
    assert [line for line in lines if "failed" in line] == (
        [f"== failed, see above: {failed}"] if failed else []
    )
    tests = [step for step in steps if step.startswith("pytest ")]
    assert len(tests) == 3 - ("PIP_FAILS_IN" in variables)
    assert tests[0].endswith(" -x")
    assert not any(step.endswith(" -x") for step in tests[1:])
    assert [step for step in steps if step in {"ruff", "mypy", "docs"}] == [
        "ruff",
        "ruff",
        "mypy",
        "docs",
    ]


@pytest.fixture
def foreign(clone):
    """A person's environment without packages, whose Python is the stand-in."""
    (clone / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(clone.parent / "python", clone / ".venv" / "bin" / "python")
    (clone / ".venv" / "mine").write_text("")
    return clone


@pytest.mark.parametrize(
    ("script", "extras"), [("demo", "web"), ("test", "test,lint,docs")]
)
def test_what_is_missing_is_installed_into_an_environment(foreign, script, extras):
    _, steps = run(foreign, script)
    assert [step.split()[0] for step in steps[:1]] == ["pip"]
    assert steps[0].endswith(
        f"--constraint {foreign}/constraints.txt --editable {foreign}[{extras}]"
    )
    assert (foreign / ".venv" / "mine").exists()
    _, steps = run(foreign, script)
    assert not any(step.startswith("pip") for step in steps)


@pytest.mark.parametrize(
    "what", ["folder", "file", "lost Python", "no pip", "another Python"]
)
@pytest.mark.parametrize("script", ["demo", "test"])
def test_what_is_no_working_environment_is_reported_and_kept(clone, script, what):
    environment = clone / ".venv"
    if what == "file":
        environment.write_text("mine")
    elif what == "no pip":
        make_environment(clone)
    else:
        (environment / "bin").mkdir(parents=True)
    if what == "lost Python":
        (environment / "bin" / "python").symlink_to(clone / "removed" / "python")
    elif what == "another Python":
        # Packages would get to where that is installed.
        (environment / "bin" / "python").symlink_to(sys.executable)
    before = sorted(environment.rglob("*"))
    done, steps = run(clone, script)
    assert (done.returncode, done.stdout, steps) == (1, "", [])
    (line,) = [
        line for line in done.stderr.splitlines() if "All tests take" not in line
    ]
    assert line.startswith(
        f"{script}: error: expected a virtual environment at {environment}, of Python "
        "3.11 or newer"
    )
    assert "LEAFID_VENV=" in line
    assert sorted(environment.rglob("*")) == before


def test_reproduce_reports_what_it_needs(clone):
    done, _ = run(clone, "reproduce-imageclef2011")
    assert done.returncode == 1
    assert "name the folder with the ImageCLEF 2011 pictures" in done.stderr
    done, _ = run(clone, "reproduce-imageclef2011", "nowhere")
    assert "nowhere: no such folder" in done.stderr


def test_the_demo_calls_existing_commands_and_lists_its_files(clone):
    """A stand-in replaces leafid.

    The file test_readme.py runs the real commands on the same sample.
    """
    (clone / "data" / "sample").mkdir(parents=True)
    run(clone, "test")
    program = clone / ".venv" / "bin" / "leafid"
    program.write_text('#!/bin/sh\necho "leafid $*" >>"$LOG"\n')
    program.chmod(0o755)
    done, steps = run(clone, "demo")
    assert done.returncode == 0, done.stderr
    called = [step.split()[1] for step in steps]
    assert called == [
        "info",
        "train",
        "predict",
        "predict",
        "check",
        "evaluate",
        "report",
    ]
    assert set(called) <= set(COMMANDS)
    named = done.stdout.partition("Written:")[2]
    for step in steps:
        words = step.split()
        if "--output" in words:
            assert words[words.index("--output") + 1] in named


@pytest.mark.parametrize(
    "script", ["benchmark", "demo", "docs", "test", "reproduce-imageclef2011"]
)
def test_scripts_are_executable(script):
    file = REPOSITORY / "scripts" / script
    assert os.access(file, os.X_OK)
    subprocess.run(["/bin/sh", "-n", str(file)], check=True)
