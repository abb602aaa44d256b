"""What the benchmarks write: tables, the docs' page; and the program from end to end."""

import json
import re

import pytest

from benchmarks import __main__ as program
from benchmarks import running, tables
from benchmarks.commands import run
from benchmarks.evaluation import Inputs, score
from benchmarks.measure import Cost
from benchmarks.pictures import SAMPLE
from benchmarks.results import Results
from leafid.errors import LeafidError


def results() -> Results:
    cost = Cost(2.5, 3, 20.4, 19, 21, peak_mb=12.0, n=4)
    names = ("decode", "segment", "family/hu", "local/dense-sift", "default/whole", "fast/whole", "baseline-bow/whole")
    costs = {f"real/{type_}/{name}": cost for type_ in ("scan", "photo") for name in names}
    costs |= {"command/start": cost, "evaluate/10⁶ lines": cost}
    facts = dict.fromkeys(("date", "processor", "cores", "system", "python", "numpy", "opencv", "leafid"), "7")
    return Results(costs, {"real": facts}, {"real/scan": "4 pictures", "real/photo": "4 pictures"})


def test_the_page_has_a_region_for_every_table():
    page = running.DOCS.read_text(encoding="utf-8")
    regions = tables.format_regions(results(), "real")
    marked = re.findall(r"<!-- benchmark: (.+?) -->", page)
    assert sorted(marked) == sorted(regions)
    new = tables.rewrite_regions(page, regions)
    assert tables.rewrite_regions(new, regions) == new
    # Only between the marks something changed.
    outside = re.compile(r"(<!-- benchmark: .+? -->).*?(<!-- end -->)", re.DOTALL)
    assert outside.sub(r"\1\2", new) == outside.sub(r"\1\2", page)
    for text in regions.values():
        assert text in new


def test_tables_show_what_was_measured():
    regions = tables.format_regions(results(), "real")
    assert "| default | scan | 2.5 | 20.4 | 25 | 12 |" in regions["targets"]
    assert "| baseline-bow | photo | 2.5 | 20.4 |  | 12 |" in regions["targets"]
    assert regions["stages"].splitlines()[2:] == [
        "| decode | 2.5 (20.4×) | 2.5 (20.4×) | 12 |",
        "| segment | 2.5 (20.4×) | 2.5 (20.4×) | 12 |",
    ]
    assert "scan 4 pictures, decoded in 2.5 ms; photo 4 pictures" in regions["machine"]
    assert tables.format_regions(Results(), "real") == {}


def test_only_marked_regions_are_written():
    page = "a\n<!-- benchmark: x -->\nold\n<!-- end -->\nb\n"
    assert tables.rewrite_regions(page, {"x": r"new \1"}) == "a\n<!-- benchmark: x -->\n\nnew \\1\n<!-- end -->\nb\n"
    assert tables.rewrite_regions(page, {}) == page
    with pytest.raises(LeafidError, match="expected one region <!-- benchmark: y -->"):
        tables.rewrite_regions(page, {"y": "new"})


def test_numbers_have_three_digits():
    shown = [tables.number(value) for value in (0.004, 0.5, 1.234, 12.34, 123.4)]
    assert shown == ["0.00", "0.50", "1.23", "12.3", "123"]


def test_evaluation_inputs_are_what_the_program_reads(tmp_path, cli):
    inputs = Inputs(tmp_path, 75, 6)
    inputs.write()
    outcome = cli("evaluate", inputs.truth, *inputs.runs, "--intervals", "none", "--format", "json", "--jobs", 1)
    assert outcome.status == 0, outcome.err
    assert len(inputs.runs[0].read_text().splitlines()) == 75 * 71
    scores = score(str(inputs.truth), [str(run) for run in inputs.runs])
    assert len(scores) == 6
    assert scores[0] == scores[4]


def test_a_command_is_measured_in_a_process_of_its_own():
    held = bytearray(300 * 10**6)
    spent = run(["-c", "x = bytearray(50 * 10**6)"])
    # What this process holds doesn't count.
    assert 50 < spent.peak_mb < 200 < len(held) / 10**6
    assert spent.cpu > 0
    with pytest.raises(RuntimeError, match=r"(?s)exit status 1: .*nonsense"):
        run(["-c", "nonsense"])


@pytest.mark.slow
def test_the_program_from_end_to_end(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("LEAFID_REAL_DATA", raising=False)
    monkeypatch.setattr(program, "RESULTS", tmp_path / "results" / "latest.md")
    baseline = tmp_path / "baseline.json"
    words = ["--quick", "--pictures", "1", "--rounds", "2", "--only", "sample/*/decode", "--baseline", str(baseline)]
    assert program.main([*words, "--save-baseline", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    names = [f"sample/{type_}/decode" for type_ in ("scan", "scan-like", "photo")]
    assert list(printed["costs"]) == names
    # A baseline against which all is slower.
    plain = json.loads(baseline.read_text())
    for cost in plain["costs"].values():
        # Beyond any interval that two rounds on a busy machine may give.
        cost.update(ratio=0.01, low=-1e9, high=-1e9)
    baseline.write_text(json.dumps(plain))
    assert program.main([*words, "--check"]) == 1
    assert program.main(words) == 0
    outcome = capsys.readouterr()
    assert f"worse than before: {', '.join(names)}" in outcome.err
    assert outcome.out.count("slower") == 6
    assert (tmp_path / "results" / "latest.md").read_text().startswith("| case | ms |")


def test_wrong_usage(capsys, monkeypatch):
    monkeypatch.delenv("LEAFID_REAL_DATA", raising=False)
    assert program.main(["--quick", "--only", "nothing-like-it"]) == 2
    assert "no case fits nothing-like-it" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        program.main(["--rounds", "1"])


def test_every_stage_and_recipe_can_be_prepared():
    pictures = running.select_pictures(SAMPLE, 8)
    for type_, own in pictures.items():
        prepared = running.Prepared(own[0])
        for case in running.stages.list_cases(type_, pictures):
            # Codebooks take seconds to learn; that they can be is the other tests' of leafid.
            if "/encode" not in case.name and case.name.partition("/")[2] not in ("classify", "describe", "whole"):
                case.prepare(prepared)
