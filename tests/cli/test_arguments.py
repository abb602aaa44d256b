import pytest


@pytest.mark.parametrize("command", ["predict", "segment", "compare"])
def test_help_tells_what_no_number_of_processes_means(cli, command):
    assert "-1 is one a core, -2 one less" in " ".join(cli(command, "--help").out.split())


@pytest.mark.parametrize("command", ["predict", "train", "crossval"])
def test_a_store_and_none_contradict_each_other(cli, tmp_path, command):
    output = [] if command == "crossval" else ["--output", tmp_path / "output"]
    found = cli(command, tmp_path, *output, "--cache", tmp_path / "store", "--no-cache")
    assert found.status == 2
    assert "argument --no-cache: not allowed with argument --cache" in found.err
    assert list(tmp_path.iterdir()) == []
