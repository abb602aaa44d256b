from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"
TRUTH, GOOD, PARTIAL = GOLDEN / "truth", GOLDEN / "runs" / "good.txt", GOLDEN / "runs" / "partial.txt"


def test_a_good_run(cli):
    for words in ([], ["--against", TRUTH]):
        outcome = cli("check", GOOD, *words)
        assert (outcome.status, outcome.out, outcome.err) == (0, "ok: 40 pictures, 160 predictions\n", "")


def test_missing_pictures_are_a_warning(cli):
    outcome = cli("check", PARTIAL, "--against", TRUTH)
    assert outcome.status == 0
    assert outcome.out.startswith("ok: 29 pictures")
    assert "warning" in outcome.err
    assert "11 of 40 pictures are missing" in outcome.err


def test_every_problem_with_its_line(cli, tmp_path):
    run = tmp_path / "run.txt"
    run.write_text("1.jpg Quercus ilex 1 0.5\n1.jpg Acer campestre 1 0.5\n\n99 Quercus ilex 1 0.5\n")
    outcome = cli("check", run, "--against", TRUTH)
    assert outcome.status == 1
    assert [line.removeprefix(f"{run}:")[:1] for line in outcome.out.splitlines()] == ["2", "3", "4"]
    assert outcome.err == ""


def test_options_without_effect_are_refused(cli):
    outcome = cli("check", GOOD, "--against", "")
    assert (outcome.status, outcome.out) == (2, "")
    assert "argument --against: expected a path or a word, found an empty word" in outcome.err
    outcome = cli("check", GOOD, "--layout", "imageclef")
    assert (outcome.status, outcome.out) == (2, "")
    assert "expected --against with options of reading a collection" in outcome.err
