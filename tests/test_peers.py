"""The peers that leafid is compared with name drawn leaves better than by chance."""

import csv
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import leafid
from tests.drawing.collection import copy_sample

PEERS = Path(__file__).parents[1] / "examples" / "peers"
N_SPECIES = 3


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A folder with 3 species of the sample without the photos, and its folds."""
    folder = tmp_path_factory.mktemp("peers")
    copy_sample(folder / "sample", N_SPECIES, n_plants=6, types="Scan|pseudoscan")
    pictures = leafid.read_collection(folder / "sample").part("train").pictures
    plants = sorted({picture.plant for picture in pictures}, key=int)
    with (folder / "folds.csv").open("w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["picture", "plant", "fold", "repeat"])
        for repeat in (0, 1):
            rows.writerows(
                [p.name, p.plant, plants.index(p.plant) // (1 + repeat) % 2, repeat]
                for p in pictures
            )
    return folder


def test_the_page_lists_all():
    page = (PEERS / "README.md").read_text(encoding="utf-8")
    assert all(f"[{file.name}]({file.name})" in page for file in PEERS.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", ["hog_svm.py", "lbp_svm.py", "sift_bow_svm.py", "shape_forest.py"]
)
def test_peers_name_leaves_of_the_sample(
    script, collection, tmp_path, monkeypatch, capsys
):
    output = tmp_path / "scores.npz"
    words = [PEERS / script, collection / "sample", collection / "folds.csv", output]
    monkeypatch.setattr(sys, "argv", [str(word) for word in words])
    monkeypatch.syspath_prepend(PEERS)
    runpy.run_path(sys.argv[0], run_name="__main__")
    truth = {
        p.name: p.species
        for p in leafid.read_collection(collection / "sample").part("train").pictures
    }
    assert capsys.readouterr().out.startswith(f"{len(truth)} pictures, ")
    # Each repeat is answered, as an experiment asks for.
    for repeat in (0, 1):
        answers = np.load(tmp_path / f"scores-{repeat}.npz")
        assert sorted(answers["pictures"]) == sorted(truth)
        assert answers["scores"].shape == (len(truth), N_SPECIES)
        first = answers["species"][answers["scores"].argmax(axis=1)]
        are_correct = [
            truth[name] == species
            for name, species in zip(answers["pictures"], first, strict=True)
        ]
        assert np.mean(are_correct) > 1.2 / N_SPECIES
