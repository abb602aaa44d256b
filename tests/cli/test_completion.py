import shutil
import subprocess

import pytest

from leafid.cli.main import COMMANDS


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["ev"], {command for command in COMMANDS if command.startswith("ev")}),
        (["evaluate", "--val"], {"--validation"}),
        (["evaluate", "--format", "la"], {"latex"}),
        (["train", "--output", "mod"], {"model.leafid"}),
    ],
)
def test_bash_completes(cli, tmp_path, typed, expected):
    (tmp_path / "model.leafid").touch()
    (tmp_path / "script").write_text(cli("completion", "bash").out)
    words = " ".join(["leafid", *typed])
    typing = f"source ./script; COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _shtab_leafid"
    done = subprocess.run(
        ["bash", "-c", f"{typing}; printf '%s\\n' ${{COMPREPLY[@]}}"], cwd=tmp_path, capture_output=True, text=True
    )
    assert set(done.stdout.split()) == expected


def test_scripts_of_other_shells(cli):
    assert "#compdef leafid" in cli("completion", "zsh").out
    assert "complete leafid" in cli("completion", "tcsh").out
    assert cli("completion", "fish").status == 2
