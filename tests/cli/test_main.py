import re
import subprocess

import pytest

from leafid import __version__
from leafid.cli import info
from leafid.cli.main import COMMANDS, GROUPS, make_parser
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
        (["pred"], "unknown command 'pred'; did you mean predict?"),
        (["evaluate", "x", "--metric=S"], "--metric; did you mean --metrics?"),
        (["train", "--model", "x"], "unknown option --model (a file: ./--model)"),
        (["predict", "-dash.jpg"], "unknown option -dash.jpg (a file: ./-dash.jpg)"),
        (["segment", "-", "--output", "x"], "found '-'; leafid reads neither standard"),
        (
            ["info", "HTTPS://example.org/leaves.zip"],
            "nor addresses: save it in a file",
        ),
        (["evaluate", "x", "ftp://example.org/run.txt"], "save it in a file"),
        (["train"], "required"),
        (
            ["describe"],
            "the following arguments are required: PICTURE; see 'leafid describe",
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
        (
            ProblemsError(["one", "two"]),
            1,
            ["leafid: error: one", "leafid: error: two"],
        ),
        (UsageError("no"), 2, ["leafid: error: no"]),
        (KeyboardInterrupt(), 130, ["leafid: interrupted"]),
        (
            PermissionError(13, "Permission denied", "x.jpg"),
            1,
            ["leafid: error: x.jpg: Permission denied"],
        ),
        (
            OSError(28, "No space left on device"),
            1,
            ["leafid: error: No space left on device"],
        ),
        (MemoryError(), 1, [OUT_OF_MEMORY]),
        (
            ImportError("x.so: failed to map segment from shared object"),
            1,
            [OUT_OF_MEMORY],
        ),
        (
            ZeroDivisionError("division by zero"),
            1,
            [
                "leafid: error: unexpected ZeroDivisionError: division by zero; this "
                "is a bug, please report it with --debug's output"
            ],
        ),
    ],
)
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


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_as_wide_as_the_terminal(cli, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "60")
    lines = cli(*command.split(), "--help").out.splitlines()
    assert any(line.startswith("usage: leafid") for line in lines)
    # Examples, and what the lines of a file look like, are not wrapped.
    wide = [line for line in lines if not re.match(r"  (leafid|curl|\d) ", line)]
    assert max(map(len, wide)) <= 60


def test_ten_warnings_of_each_kind_are_shown_and_the_others_counted(
    cli, draw, tmp_path
):
    for number in range(25):
        file = draw(tmp_path / "leaves" / f"leaf {number}.png", number)
        file.with_name(f"{number}.jpg").write_text("no picture")
    words = ["segment", tmp_path / "leaves", "--assume-type", "scan"]
    words += ["--output", tmp_path / "cut"]
    for jobs in (1, 2):
        outcome = cli(*words, "--jobs", jobs)
        assert outcome.status == 1
        lines = outcome.err.splitlines()
        for text in ("found something else", "no leaf found"):
            alike = [line for line in lines if text in line]
            assert len(alike) == 11
            assert alike[-1].startswith("leafid: warning: and 15 more like this")
        assert len(lines) == 23
    assert cli(*words, "--jobs", 1, "--debug").err.count("no leaf found") == 25


def test_a_shell_completes_commands_options_choices_and_paths(tmp_path):
    shtab = pytest.importorskip("shtab", reason="the extra 'completion' is missing")
    (tmp_path / "leaves").mkdir()
    (tmp_path / "script").write_text(shtab.complete(make_parser(), "bash"))
    for words, completion in {
        "leafid pre": "predict",
        "leafid predict --assume-t": "--assume-type",
        "leafid predict --assume-type pho": "photo",
        "leafid predict lea": "leaves",
        "leafid train --output lea": "leaves",
    }.items():
        before, last = words.split()[-2:]
        call = f"_shtab_leafid leafid {last} {before}"
        script = (
            f". ./script; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - "
            "1)); "
            f'{call}; printf %s "${{COMPREPLY[*]}}"'
        )
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.stdout == completion, done.stderr


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
