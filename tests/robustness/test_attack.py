"""A few cases of benchmarks/robustness/attack.py, and proofs that it finds what it is to find."""

import sys

import pytest

from benchmarks.robustness import attack
from benchmarks.robustness.attack_cases import list_cases
from benchmarks.robustness.attack_kit import Case

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc"),
]


def planted(script, **more):
    """A case in which a line of shell takes the place of the command."""
    return Case("planted", script, lambda kit, folder: ["--version"], limits=f"{script};", **more)


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        (planted("exit 3"), "ends with status 3"),
        (planted("kill -SEGV $$"), "ends with status -11"),
        (planted("echo 'Traceback (most recent call last)' >&2; exit 1"), "Traceback"),
        (planted("echo 'unexpected; this is a bug' >&2; exit 1"), "this is a bug"),
        (planted("printf 'x\\033[31m\\n' >&2; exit 1"), "an unclear line"),
        (planted("exit 1"), "fails without a word"),
        (planted("sleep 600"), "takes more than 2 s"),
        (planted("sleep 600 & exit 0"), "leaves 1 processes"),
        (planted("touch output.part; exit 0"), "leaves output.part"),
        (planted("touch $TMPDIR/x; exit 0"), "leaves x"),
        (planted("printf '\\033[31m'; exit 0", on_terminal=True), "writes control characters to the terminal"),
        (planted("echo >output; echo no >&2; exit 1", has_older_output=True), "changes an older output"),
        (planted("echo a.jpg; exit 0", answered=("a.jpg", "b.jpg")), "does not answer b.jpg"),
        (planted("echo a.jpg >&2; exit 1", named=("a.jpg", "b.jpg")), "says nothing of 'b.jpg'"),
    ],
    ids=str,
)
def test_faults_are_found(case, finding, tmp_path, monkeypatch):
    monkeypatch.setattr(attack, "MAX_SECONDS", 2 if finding.startswith("takes") else 60)
    monkeypatch.setattr(attack, "PATIENCE", 1)
    (found,) = attack.attack(case, None, tmp_path / "case")
    assert found.startswith(finding)


def test_a_command_without_fault(tmp_path):
    case = Case("planted", "none", lambda kit, folder: ["--version"], answered=("leafid",))
    assert attack.attack(case, None, tmp_path / "case") == []


def test_a_few_cases(tmp_path, capsys):
    names = ["$(id).jpg' (9), predict", "/dev/zero as check", "mutated recipe: 7,", ">&- <&- 2>&-, evaluate"]
    words = [word for name in names for word in ("--only", name)]
    assert attack.main(["--folder", str(tmp_path / "attack"), *words]) == 0
    assert "| all | 4 |" in capsys.readouterr().out


def test_there_are_hundreds_of_cases_with_names_of_their_own():
    names = [str(case) for case in list_cases(0)]
    assert len(set(names)) == len(names) > 1000
