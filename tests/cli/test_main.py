import io
import json
import subprocess
import sys

import pytest

from leafid import __version__
from leafid.cli import info
from leafid.cli.environment import Environment
from leafid.cli.main import COMMANDS, main
from leafid.errors import LeafidError, ProblemsError, UsageError

PROBE = """
import io, json, sys
from leafid.cli.environment import Environment
from leafid.cli.main import COMMANDS, main
heavy = {"numpy", "cv2", "sklearn", "scipy", "skimage", "joblib", "PIL", "matplotlib", "pandas", "pyarrow", "tqdm"}
found = {}
for command in COMMANDS:
    out = Environment(io.StringIO(), io.StringIO())
    status = main([command, "--help"], out)
    found[command] = [status, out.stdout.getvalue(), sorted(heavy & {name.partition(".")[0] for name in sys.modules})]
print(json.dumps(found))
"""


def test_help_of_every_command_reads_well_and_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert set(found) == set(COMMANDS)
    for command, (status, text, heavy) in found.items():
        assert status == 0
        assert heavy == [], command
        assert text.startswith(f"usage: leafid {command} ")
        assert "examples:" in text
        assert f"  leafid {command} " in text


def test_the_overview_names_every_command(cli):
    found = cli("--help")
    assert found.status == 0
    for command, what in COMMANDS.items():
        assert any(line.split(maxsplit=1) == [command, what] for line in found.out.splitlines())
    assert cli("help").out == cli("-h").out == found.out
    without = cli()
    assert without.status == 2
    assert without.err == found.out
    assert without.out == ""


def test_help_of_a_command_in_both_ways(cli):
    assert cli("help", "info").out == cli("info", "--help").out == cli("info", "x", "-h").out


def test_version(cli):
    assert cli("--version").out == f"leafid {__version__}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["trian"], "unknown command 'trian'; did you mean 'train'?; see 'leafid --help'"),
        (["zzz"], "unknown command 'zzz'; see 'leafid --help'"),
        (["help", "zzz"], "unknown command 'zzz'"),
        (["--zzz"], "unknown command '--zzz'"),
        (["train"], "required"),
        (["info", "x", "--nonsense"], "--nonsense"),
        (["train", "x", "--outp", "y"], "see 'leafid train --help'"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(cli, words, expected):
    found = cli(*words)
    assert found.status == 2
    assert found.out == ""
    assert found.err.startswith("leafid: error: ")
    assert expected in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (LeafidError("a.txt: wrong"), 1, ["leafid: error: a.txt: wrong"]),
        (ProblemsError(["one", "two"]), 1, ["leafid: error: one", "leafid: error: two"]),
        (UsageError("no"), 2, ["leafid: error: no"]),
        (KeyboardInterrupt(), 130, ["leafid: interrupted"]),
        (PermissionError(13, "Permission denied", "x.jpg"), 1, ["leafid: error: x.jpg: Permission denied"]),
        (OSError(28, "No space left on device"), 1, ["leafid: error: No space left on device"]),
        (MemoryError(), 1, ["leafid: error: out of memory; use fewer --jobs, or smaller pictures"]),
        (
            ZeroDivisionError("division by zero"),
            1,
            ["leafid: error: unexpected ZeroDivisionError: division by zero; this is a bug, please report it with "
             "--debug's output"],
        ),
    ],
)  # fmt: skip
def test_every_error_becomes_a_status(cli, monkeypatch, error, status, lines):
    def run(*_):
        raise error

    monkeypatch.setattr(info, "run", run)
    found = cli("info", "x")
    assert found.status == status
    assert found.err.splitlines() == lines
    if not isinstance(error, KeyboardInterrupt):
        debugged = cli("info", "x", "--debug")
        assert debugged.status == status
        assert "Traceback" in debugged.err
        assert "Traceback" in cli("--debug", "info", "x").err


def test_warnings_of_the_library_are_lines_on_stderr_while_a_command_runs(cli, monkeypatch):
    import logging

    def run(_, environment):
        logging.getLogger("leafid.somewhere").warning("careful with %s", "this")
        logging.getLogger("leafid.somewhere").info("not this")
        environment.print("result")
        return 0

    monkeypatch.setattr(info, "run", run)
    found = cli("info", "x")
    assert (found.status, found.out, found.err) == (0, "result\n", "leafid: warning: careful with this\n")
    assert logging.getLogger("leafid").handlers == []


def test_a_reader_that_leaves_is_no_error():
    process = subprocess.run(
        f"{sys.executable} -c 'from leafid.cli.main import entry_point; entry_point()' --help | head -n 1",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stderr == ""
    assert process.stdout.count("\n") == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_only():
    plain, terminal = Environment(io.StringIO(), io.StringIO()), Environment(io.StringIO(), Terminal())
    for environment in (plain, terminal):
        assert list(environment.progress(iter("abc"), 3, "describe")) == ["a", "b", "c"]
        assert environment.stdout.getvalue() == ""
    assert plain.stderr.getvalue() == ""
    assert "describe" in terminal.stderr.getvalue()


def test_words_of_the_process_are_the_default(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["leafid", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == f"leafid {__version__}\n"
