"""Pictures of unknown species, by hand and against scikit-learn."""

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from leafid.metrics.confidence import false_positive_rate, open_set_classification_rate
from leafid.pictures.names import UNKNOWN_SPECIES
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.evaluation import evaluate

# Few distinct values, so that there are ties.
scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@given(scores, scores, st.randoms())
def test_area_under_the_curve_of_open_set_classification(known, unknown, random):
    is_correct = [random.random() < 0.6 for _ in known]
    # The curve, point by point, as the threshold falls.
    points = [(0.0, 0.0)]
    for threshold in sorted({*known, *unknown}, reverse=True):
        accepted = [score >= threshold for score in known]
        correct = sum(a and c for a, c in zip(accepted, is_correct, strict=True)) / len(
            known
        )
        points.append(
            (sum(score >= threshold for score in unknown) / len(unknown), correct)
        )
    expected = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))
    assert open_set_classification_rate(known, unknown, is_correct) == pytest.approx(
        expected
    )


@given(scores, scores, st.floats(0.01, 1))
def test_false_positive_rate(known, unknown, share):
    labels = [1] * len(known) + [0] * len(unknown)
    false, true, _ = roc_curve(labels, known + unknown, drop_intermediate=False)
    assert false_positive_rate(known, unknown, share) == pytest.approx(
        false[true >= share - 1e-9].min()
    )


MAPLE, OAK = "Acer campestre", "Quercus ilex"


# Two maples (one found, one called an oak), an oak, and two unknown leaves, the second
# of which is rejected.
LINES = f"""
a.jpg {MAPLE} 1 0.9
a.jpg {OAK} 2 0.05
b.jpg {OAK} 1 0.6
b.jpg {MAPLE} 2 0.3
c.jpg {OAK} 1 0.7
d.jpg {MAPLE} 1 0.95
e.jpg {UNKNOWN_SPECIES} 1 0.8
e.jpg {OAK} 2 0.1
"""


SPECIES = {
    "a.jpg": MAPLE,
    "b.jpg": MAPLE,
    "c.jpg": OAK,
    "d.jpg": UNKNOWN_SPECIES,
    "e.jpg": UNKNOWN_SPECIES,
}


@pytest.fixture
def run_file(tmp_path):
    (tmp_path / "run.txt").write_text(LINES.lstrip())
    return tmp_path / "run.txt"


def test_by_hand(run_file):
    pictures = [
        Picture(Path(name), AcquisitionType.SCAN, taxon=Taxon(species))
        for name, species in SPECIES.items()
    ]
    metrics = ["top-1", "auroc", "oscr", "fpr-95", "confident-unknown"]
    [scan] = evaluate(pictures, run_file, metrics)
    assert (scan["run"], scan["type"], scan["pictures"], scan["left out"]) == (
        "run",
        "scan",
        3,
        2,
    )
    assert scan["top-1"] == pytest.approx(2 / 3)
    # Known pictures score 0.9, 0.6, 0.7, unknown ones 0.95 and nothing.
    assert scan["oscr"] == pytest.approx(2 / 6)
    assert scan["auroc"] == scan["fpr-95"] == scan["confident-unknown"] == 0.5


def write_folders(folder, pictures):
    for name, species in pictures.items():
        (folder / species).mkdir(parents=True, exist_ok=True)
        (folder / species / name).write_bytes(b"")


def test_a_ground_truth_of_unknown_species_alone_is_named(cli, run_file, tmp_path):
    write_folders(
        tmp_path / "all",
        {
            name: species
            for name, species in SPECIES.items()
            if species == UNKNOWN_SPECIES
        },
    )
    result = cli("evaluate", tmp_path / "all", run_file)
    assert (result.status, result.out) == (1, "")
    assert (
        f"{tmp_path / 'all'}: expected pictures of known species, found 2 unknown ones "
        "only" in result.err
    )


def test_the_command_leaves_unknown_pictures_out_of_other_scores(
    cli, run_file, tmp_path
):
    write_folders(tmp_path / "all", SPECIES)
    write_folders(
        tmp_path / "known",
        {
            name: species
            for name, species in SPECIES.items()
            if species != UNKNOWN_SPECIES
        },
    )
    result = cli(
        "evaluate", tmp_path / "all", run_file, "--table", 1, "--format", "csv"
    )
    assert result.status == 0, result.err
    assert "in the open world: 2 pictures of unknown species" in result.err
    open_world = cli(
        "evaluate", tmp_path / "all", run_file, "--table", 2, "--format", "csv"
    ).out
    for word in ("d.jpg", "e.jpg"):
        run_file.write_text(
            "".join(line for line in run_file.open() if not line.startswith(word))
        )
    known = cli("evaluate", tmp_path / "known", run_file, "--format", "csv").out
    assert known == result.out.replace(",3,2,0,3,", ",3,0,0,3,")
    row = list(csv.DictReader(io.StringIO(open_world)))[-1]
    assert (row["type"], row["pictures"], row["left out"]) == ("all pictures", "3", "2")
    assert float(row["oscr"]) == pytest.approx(2 / 6)
