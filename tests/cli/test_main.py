import pytest

from leafid import __version__
from leafid.cli import info
from leafid.cli.main import COMMANDS, GROUPS
from leafid.errors import LeafidError, ProblemsError, UsageError
from tests.scoring.golden_files import TRUTH

OUT_OF_MEMORY = "leafid: error: out of memory; use fewer --jobs, or smaller files"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(cli, command):
    outcome = cli(command, "--help")
    assert outcome.status == 0
    assert outcome.out.startswith(f"usage: leafid {command} ")
    assert "examples:" in outcome.out
    assert f"  leafid {command} " in outcome.out


def test_the_overview_lists_every_command(cli):
    outcome = cli("--help")
    assert outcome.status == 0
    for command, what in (
        entry for commands in GROUPS.values() for entry in commands.items()
    ):
        assert any(
            line.split(maxsplit=1) == [command, what]
            for line in outcome.out.splitlines()
        )
    assert cli("-h").out == outcome.out
    without = cli()
    assert without.status == 2
    assert without.err == outcome.out
    assert without.out == ""


def test_version(cli):
    assert cli("--version").out == f"leafid {__version__}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["predict", ""],
            "expected a path or a word, found an empty word; is a variable unset?",
        ),
        (["info", "x", "--jobs", "0"], "argument --jobs"),
        (["zzz"], "unknown command 'zzz'; see 'leafid --help'"),
        (["train"], "required"),
        (
            ["describe"],
            "expected at least one picture, folder or collection; see 'leafid describe",
        ),
        (["info", "x", "--nonsense"], "--nonsense"),
        (["train", "x", "--outp", "y"], "see 'leafid train --help'"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(cli, words, expected):
    outcome = cli(*words)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("leafid: error: ")
    assert expected in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (LeafidError("a.txt: wrong"), 1, ["leafid: error: a.txt: wrong"]),
        (ProblemsError(["one", "two"]), 1, ["leafid: error: one", "leafid: error: two"]),
        (UsageError("no"), 2, ["leafid: error: no"]),
        (KeyboardInterrupt(), 130, ["leafid: interrupted"]),
        (PermissionError(13, "Permission denied", "x.jpg"), 1, ["leafid: error: x.jpg: Permission denied"]),
        (OSError(28, "No space left on device"), 1, ["leafid: error: No space left on device"]),
        (MemoryError(), 1, [OUT_OF_MEMORY]),
        (ImportError("x.so: failed to map segment from shared object"), 1, [OUT_OF_MEMORY]),
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
    outcome = cli("info", "x")
    assert outcome.status == status
    assert outcome.err.splitlines() == lines
    if status != 130:
        debugged = cli("info", "x", "--debug")
        assert debugged.status == status
        assert "Traceback" in debugged.err
        assert "Traceback" in cli("--debug", "info", "x").err


def test_only_the_first_of_many_problems_are_printed(cli, tmp_path):
    run = tmp_path / "poem.txt"
    for lines, more in (
        (20, []),
        (21, ["and 1 problem more"]),
        (5000, ["and 4980 problems more"]),
    ):
        run.write_text("no line of a run\n" * lines)
        outcome = cli("evaluate", TRUTH, run)
        assert outcome.status == 1
        told = outcome.err.splitlines()
        assert all(
            line.startswith(f"leafid: error: {run}:{n}: expected ")
            for n, line in enumerate(told[:20], 1)
        )
        assert told[20:] == [f"leafid: error: {run}: {line}" for line in more]
    assert cli("check", run).out.count("\n") == 21


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_options_anywhere(cli, command):
    """argparse refuses this for some kinds of arguments."""
    outcome = cli(command, "x", "--nonsense", "y")
    assert outcome.status == 2
    assert outcome.err.startswith("leafid: error: ")
