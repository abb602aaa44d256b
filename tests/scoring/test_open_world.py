"""Pictures of unknown species, by hand and against scikit-learn."""

import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.open_world import (
    area_under_roc,
    average_precision_by_class,
    false_positive_rate,
    open_set_classification_rate,
    score_open_world,
)
from leafid.scoring.run_reading import read_run
from leafid.scoring.truth import UNKNOWN_SPECIES, make_ground_truth

# Few distinct values, so that there are ties.
scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@given(scores, scores)
def test_area_under_roc(known, unknown):
    labels = [1] * len(known) + [0] * len(unknown)
    assert area_under_roc(known, unknown) == pytest.approx(roc_auc_score(labels, known + unknown))


@given(scores, scores, st.randoms())
def test_area_under_the_curve_of_open_set_classification(known, unknown, random):
    is_correct = [random.random() < 0.6 for _ in known]
    # The curve, point by point, as the threshold falls.
    points = [(0.0, 0.0)]
    for threshold in sorted({*known, *unknown}, reverse=True):
        accepted = [own >= threshold for own in known]
        correct = sum(a and c for a, c in zip(accepted, is_correct, strict=True)) / len(known)
        points.append((sum(own >= threshold for own in unknown) / len(unknown), correct))
    expected = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))
    assert open_set_classification_rate(known, is_correct, unknown) == pytest.approx(expected)
    assert expected <= area_under_roc(known, unknown) + 1e-9


@given(scores, scores, st.floats(0.01, 1))
def test_false_positive_rate(known, unknown, share):
    labels = [1] * len(known) + [0] * len(unknown)
    false, true, _ = roc_curve(labels, known + unknown, drop_intermediate=False)
    assert false_positive_rate(known, unknown, share) == pytest.approx(false[true >= share - 1e-9].min())


@given(st.integers(1, 25), st.integers(1, 4), st.randoms())
def test_average_precision(n_pictures, n_classes, random):
    labels = np.array([random.randint(-1, n_classes - 1) for _ in range(n_pictures)])
    table = np.array([[random.randint(0, 6) / 6 for _ in range(n_classes)] for _ in range(n_pictures)])
    pictures, classes = map(np.ravel, np.indices(table.shape))
    order = np.array(random.sample(range(table.size), table.size))
    found = average_precision_by_class(labels, pictures[order], classes[order], table.ravel()[order], n_classes)
    for kind in range(n_classes):
        if (labels == kind).any():
            assert found[kind] == pytest.approx(average_precision_score(labels == kind, table[:, kind]))
        else:
            assert np.isnan(found[kind])


MAPLE, OAK = "Acer campestre", "Quercus ilex"


# Two maples (one found, one called an oak), an oak, and two unknown leaves, the second of which is rejected.
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


SPECIES = {"a.jpg": MAPLE, "b.jpg": MAPLE, "c.jpg": OAK, "d.jpg": UNKNOWN_SPECIES, "e.jpg": UNKNOWN_SPECIES}


@pytest.fixture
def run_file(tmp_path):
    (tmp_path / "run.txt").write_text(LINES.lstrip())
    return tmp_path / "run.txt"


def make_truth(pictures, folder=None):
    from pathlib import Path

    listed = [Picture(Path(name), AcquisitionType.SCAN, taxon=Taxon(species)) for name, species in pictures.items()]
    return make_ground_truth(listed)


def test_by_hand(run_file):
    truth = make_truth(SPECIES)
    scan, everything = score_open_world(read_run(run_file, truth.known), truth)
    assert (scan.name, scan.known, scan.unknown) == ("scan", 3, 2)
    assert scan.accuracy == pytest.approx(2 / 3)
    # Maple: d (unknown), a, b; oak: c, b (a maple), e (unknown), a. The oak comes first.
    assert scan.open_precision == pytest.approx(((1 / 2 + 2 / 3) / 2 + 1) / 2)
    assert scan.closed_precision == 1
    # Known pictures score 0.9, 0.6, 0.7, unknown ones 0.95 and nothing.
    assert scan.auroc == 0.5
    assert scan.oscr == pytest.approx(2 / 6)
    assert scan.false_positives == 0.5
    assert scan.confident == 0.5
    assert everything.name == "all pictures"
    assert everything.open_precision == scan.open_precision


def write_folders(folder, pictures):
    for name, species in pictures.items():
        (folder / species).mkdir(parents=True, exist_ok=True)
        (folder / species / name).write_bytes(b"")


def test_the_command_leaves_unknown_pictures_out_of_other_scores(cli, run_file, tmp_path):
    write_folders(tmp_path / "all", SPECIES)
    write_folders(tmp_path / "known", {name: own for name, own in SPECIES.items() if own != UNKNOWN_SPECIES})
    found = cli("evaluate", tmp_path / "all", run_file, "--table", 1, "--format", "csv")
    assert found.status == 0, found.err
    assert "2 pictures of unknown species count in the last table only" in found.err
    open_world = cli("evaluate", tmp_path / "all", run_file, "--table", 2, "--format", "csv").out
    for word in ("d.jpg", "e.jpg"):
        run_file.write_text("".join(line for line in run_file.open() if not line.startswith(word)))
    assert cli("evaluate", tmp_path / "known", run_file, "--format", "csv").out == found.out
    row = list(csv.DictReader(io.StringIO(open_world)))[-1]
    assert (row["type"], row["known"], row["unknown"]) == ("all pictures", "3", "2")
    assert float(row["mAP-open"]) == pytest.approx(((1 / 2 + 2 / 3) / 2 + 1) / 2)
