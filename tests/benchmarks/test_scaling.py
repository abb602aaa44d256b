"""The growing collections of the scaling benchmark, and its tables."""

import pytest

from benchmarks import scaling
from leafid.pictures import read_collection


def test_collections_grow_by_whole_plants(drawn, tmp_path):
    every = [picture for picture in read_collection(drawn).pictures if picture.species]
    plants = {1: set(), 2: set()}
    for n_plants, found in plants.items():
        folder = tmp_path / str(n_plants)
        assert scaling.link_plants(drawn, folder, n_plants) == len(read_collection(folder).pictures)
        pictures = read_collection(folder).pictures
        found |= {picture.plant for picture in pictures}
        assert len(found) == n_plants * len({picture.species for picture in every})
        assert len(pictures) == sum(picture.plant in found for picture in every)
    assert plants[1] < plants[2]


@pytest.mark.slow
def test_the_tables_are_markdown(drawn, tmp_path, capsys, monkeypatch):
    scaling.print_ridge_table(40, 2, 8)
    monkeypatch.setattr(scaling, "COMMAND", ("-c", "import sys; open(sys.argv[-1] + '/x', 'w')"))
    monkeypatch.setattr(scaling, "link_plants", lambda *_: 7)
    (tmp_path / "store-2").mkdir()
    (tmp_path / "store-4").mkdir()
    scaling.print_train_table(2, 2, "fast", 1, False, tmp_path, drawn)
    lines = capsys.readouterr().out.splitlines()
    for table in (lines[:4], lines[4:]):
        assert len({line.count("|") for line in table}) == 1
    assert [line.split()[1] for line in lines if line[2].isdigit()] == ["40", "80", "7", "7"]
