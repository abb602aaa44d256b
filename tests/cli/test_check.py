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
    run.write_text("1.jpg Quercus ilex 1 0.5\n1.jpg Acer campestre 1 0.5\n\n2 Quercus ilex 1 0.5\n")
    outcome = cli("check", run, "--against", TRUTH)
    assert outcome.status == 1
    assert [line.removeprefix(f"{run}:")[:1] for line in outcome.out.splitlines()] == ["2", "3", "4"]
    assert outcome.err == f"leafid: {run}: 3 problems\n"


def test_no_such_run(cli, tmp_path):
    outcome = cli("check", tmp_path / "run.txt")
    assert (outcome.status, outcome.out) == (1, "")
    assert "can't be read" in outcome.err
