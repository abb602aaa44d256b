import csv
import re
import shutil

import pytest

from leafid.pictures.reading import read_collection
from tests.drawing.collection import SAMPLE
from tests.pages.written_pages import check_page
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH

UNKNOWN = {"Genus": "Unknown", "Species": "species"}


@pytest.fixture
def run(tmp_path):
    """A run that lacks 5.jpg, and takes one species for another."""
    lines = []
    for line in (SAMPLE / "testGroundTruth.txt").read_text().splitlines():
        species, *pictures = re.split(r"\s+(?=\d+\.jpg)", line.strip())
        predicted = "Ginkgo biloba" if species == "Betula pendula" else species
        lines += [
            f"{picture} {predicted} 1 0.9" for picture in pictures if picture != "5.jpg"
        ]
    file = tmp_path / "run.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def report(cli, tmp_path, *words):
    outcome = cli("report", *words, "--output", tmp_path / "out")
    assert outcome.status == 0, outcome.err
    assert outcome.out == f"{tmp_path / 'out' / 'report.html'}\n"
    return check_page(tmp_path / "out" / "report.html")


def test_the_page_shows_the_scores_of_evaluate_and_confusions_with_pictures(
    cli, tmp_path, run
):
    page = report(cli, tmp_path, SAMPLE, run, "--part", "test")
    assert (
        "Betula pendula taken for Ginkgo biloba 6 pictures, 100% of the species"
        in page.words
    )
    assert "The run lacks 1 of 72 pictures; each counts as wrong. 5.jpg" in page.words
    # Three wrong answers, two other birches' and two ginkgos' pictures, and the 72 test
    # pictures.
    assert (
        sum(image.startswith("data:image/jpeg;base64,/9j/") for image in page.images)
        == 7 + 72
    )
    outcome = cli("evaluate", SAMPLE, run, "--part", "test")
    cells = re.findall(r"\d?\.\d{3} \[.+?\]", outcome.out)
    assert len(cells) == 15
    assert all(cell in page.words for cell in cells)


def test_several_runs_and_no_pictures(cli, tmp_path):
    page = report(cli, tmp_path, TRUTH, GOOD, PARTIAL)
    assert "Species of good.txt" in page.words
    assert (
        "Missing pictures of partial.txt The run lacks 11 of 40 pictures" in page.words
    )
    assert not any(image.startswith("data:image/jpeg") for image in page.images)


NAME = r"\input{x} $\frac{$ & % # _ <b>木</b> $$ --> \udce9"


def test_a_report_on_names_that_are_no_formulas(cli, tmp_path):
    for number, picture in enumerate(sorted(SAMPLE.glob("Train/*.jpg"))[:4]):
        folder = tmp_path / "collection" / f"{NAME.replace('/', '')[:-1]}{number // 2}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder)
    pictures = read_collection(tmp_path / "collection").pictures
    lines = [
        f"{a.name} {b.species} 1 0.9\n"
        for a, b in zip(pictures, reversed(pictures), strict=True)
    ]
    (tmp_path / "$run$.txt").write_text("".join(lines))
    page = report(cli, tmp_path, tmp_path / "collection", tmp_path / "$run$.txt")
    assert f"{pictures[0].species} taken for {pictures[-1].species}" in page.words
    assert "<b>" not in page.html


def test_every_table_is_beside_the_page(cli, tmp_path, run):
    wrong = tmp_path / "other.txt"
    wrong.write_text(run.read_text().replace("Ginkgo biloba", "Ilex aquifolium"))
    page = report(cli, tmp_path, SAMPLE, run, wrong, "--part", "test")
    tables = {file.name for file in (tmp_path / "out" / "tables").iterdir()}
    curves = {"reliability", "risk-coverage"}
    names = {"scores", "comparison", "pictures", "agreement", "differing"} | curves
    names |= {
        f"{kind}-{run}"
        for kind in ("species", "confusions", "matrix")
        for run in ("run", "other")
    }
    drawings = {f"matrix-{run}.svg" for run in ("run", "other")}
    drawings |= {f"{curve}.svg" for curve in curves}
    assert (
        tables
        == {f"{name}.{ending}" for name in names for ending in ("csv", "tex")}
        | drawings
    )
    with (tmp_path / "out" / "tables" / "comparison.csv").open() as comparison:
        rows = [*csv.DictReader(comparison)]
    assert all(f"{float(row['p']):.3f}" in page.words for row in rows)
    # The second run names another species for birches and ginkgos; both lack 5.jpg.
    with (tmp_path / "out" / "tables" / "differing.csv").open() as differing:
        pictures = {row["picture"]: row for row in csv.DictReader(differing)}
    assert {row["species"] for row in pictures.values()} == {
        "Betula pendula",
        "Ginkgo biloba",
    }
    assert "The first answers to 11 of 72 pictures differ" in page.words
    agreement = (tmp_path / "out" / "tables" / "agreement.csv").read_text()
    assert agreement.splitlines()[1] == "run,other,60,5,0,1,6"
    words = page.words.partition("the first answers with their scores")[2]
    differ, agree = words.split("Pictures on which the runs agree")
    assert set(re.findall(r"\w+\.jpg", differ)) == {*pictures}
    assert len({*re.findall(r"\w+\.jpg", agree)}) == 72 - 11
    # What a row has no value of, as of a species without confusions, is a dash.
    assert ">None<" not in page.html
    with (tmp_path / "out" / "tables" / "matrix-run.csv").open() as matrix:
        counts = {row.pop("species"): row for row in csv.DictReader(matrix)}
    assert counts["Betula pendula"]["Ginkgo biloba"] == "6"
    assert sum(int(count) for row in counts.values() for count in row.values()) == 71
    assert (tmp_path / "out" / "tables" / "pictures.csv").read_text().count("\n") == 73
    assert str(tmp_path) not in page.html


def test_unknown_species_have_a_section_of_their_own(cli, tmp_path, run):
    truth = tmp_path / "truth"
    shutil.copytree(SAMPLE / "TestXmlWithGroundTruth", truth)
    for file in truth.glob("*.xml"):
        text = file.read_text()
        if "biloba" in text:
            file.write_text(
                re.sub(
                    "<(Genus|Species)>[^<]*",
                    lambda tag: f"<{tag[1]}>{UNKNOWN[tag[1]]}",
                    text,
                )
            )
    page = report(cli, tmp_path, truth, run, "--pictures", SAMPLE)
    assert "66 pictures, and 6 of unknown species" in page.words
    with (tmp_path / "out" / "tables" / "open-set.csv").open() as curve:
        last = [*csv.DictReader(curve)][-1]
    # The answer to every picture is accepted, but 5.jpg has none.
    assert float(last["false positive rate"]) == 1
    assert "share of unknown ones that get a name" in page.words
    assert "oscr" in (tmp_path / "out" / "tables" / "open-world.csv").read_text()
