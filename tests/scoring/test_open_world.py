import csv
import io

import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.open_world import score_open_world
from leafid.scoring.run_reading import read_run
from leafid.scoring.truth import UNKNOWN_SPECIES, make_ground_truth

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


def test_scores_that_are_no_probabilities(run_file):
    run_file.write_text(run_file.read_text().replace("0.95", "95"))
    truth = make_truth(SPECIES)
    assert np.isnan(score_open_world(read_run(run_file, truth.known), truth)[0].confident)


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


def test_nothing_but_unknown_pictures(cli, tmp_path, run_file):
    write_folders(tmp_path / "all", dict.fromkeys(SPECIES, UNKNOWN_SPECIES))
    found = cli("evaluate", tmp_path / "all", run_file)
    assert (found.status, found.out) == (1, "")
    assert "expected pictures of known species, found 5 unknown ones only" in found.err
