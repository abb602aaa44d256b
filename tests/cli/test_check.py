from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH


def test_missing_pictures_are_a_warning(cli):
    outcome = cli("check", PARTIAL, "--against", TRUTH)
    assert outcome.status == 0
    assert outcome.out.startswith("ok: 29 pictures")
    assert "warning" in outcome.err
    assert "11 of 40 pictures are missing" in outcome.err


def test_options_without_effect_are_refused(cli):
    outcome = cli("check", GOOD, "--layout", "imageclef")
    assert (outcome.status, outcome.out) == (2, "")
    assert "expected --against with options of reading a collection" in outcome.err


def test_nothing_is_written_of_a_wrong_run_or_to_a_wrong_place(cli, tmp_path):
    run, output = tmp_path / "run.txt", tmp_path / "out.txt"
    run.write_text("1.jpg Quercus ilex 2 0.5\n")
    assert cli("check", run, "--to", "trec", output).status == 1
    for words, expected in [
        (["json", output], "--to: expected a format (run, csv, trec), found 'json'"),
        (["csv", run], f"--to {run}: expected a file of its own"),
        (
            ["csv", tmp_path / "1.jpg"],
            "expected a name without the ending of a picture",
        ),
        (["csv"], "expected 2 arguments"),
    ]:
        outcome = cli("check", run, "--to", *words)
        assert (outcome.status, outcome.out) == (2, "")
        assert expected in outcome.err
    assert list(tmp_path.iterdir()) == [run]
