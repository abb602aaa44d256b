"""A label is its whole name, wherever it comes from.

Authors are left out where no other label is then the same.
"""

import pytest

from leafid.errors import LeafidError
from leafid.pictures.reading import read_collection
from leafid.pictures.splitting.selection import select_training_pictures
from leafid.scoring.reading.inputs import to_ground_truth

DISTINCT = [
    ("Mangifera indica Kesar", "Mangifera indica Alphonso"),
    ("Brassica oleracea var. italica", "Brassica oleracea var. capitata"),
    ("Pinus nigra", "Pinus nigra subsp. laricio", "Pinus nigra subsp. salzmannii"),
    ("Tomato leaf (healthy)", "Tomato leaf (blight)", "Tomato leaf (Healthy)"),
    ("Leaf type A", "Leaf type B", "Leaf type a", "Leaf type II", "Leaf type III"),
    ("Tilia cordata", "Tilia cordata M", "Tilia cordata F", "Tilia cordata 2"),
    ("Malus domestica 'Gala'", "Malus domestica 'Red Fuji'", "Malus domestica ‘Gala’"),
    ("Acer rubrum cv. Scanlon", "Acer rubrum cv. Bowhall", "Acer rubrum"),
    ("Fagus sylvatica f. purpurea", "Fagus sylvatica f. pendula"),
    ("Leaf-1", "Leaf_1", "Leaf 1", "leaf 1"),
    ("Acer A", "Acer a", "Acer", "acer"),
    ("Клён татарский А", "Клён татарский Б", "槭 树", "槭 木"),
]


def list_labels(pictures):
    return {picture.species for picture in pictures}


@pytest.mark.parametrize("names", DISTINCT, ids=lambda names: names[0])
def test_distinct_names_are_distinct_labels(tmp_path, draw, names):
    files = [f"{name}+{number}.jpg" for number, name in enumerate(names)]
    for name, file in zip(names, files, strict=True):
        draw(tmp_path / "folders" / name / file)
        draw(tmp_path / "flat" / file)
    rows = [f'{file},"{name}"' for name, file in zip(names, files, strict=True)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["file,label", *rows]), encoding="utf-8")
    for collection in (
        read_collection(tmp_path / "folders"),
        read_collection(table),
        read_collection(tmp_path / "flat", metadata=table),
        read_collection(tmp_path / "flat", label_from=r"^(.*)\+"),
    ):
        assert list_labels(collection.pictures) == {*names}
        # Only the labels of one row differ by signs alone.
        assert len(collection.problems) == ("Leaf_1" in names)
    truth = to_ground_truth(dict(zip(files, names, strict=True)))
    assert {*truth.species} == {*names}


def test_classes_of_xml_are_whole_names(tmp_path, add):
    names = ["Tilia cordata Mill.", "Tilia cordata Kesar", "Celtis australis L."]
    for number, name in enumerate(names):
        add(tmp_path, number, ClassId=name)
    assert list_labels(read_collection(tmp_path).pictures) == {
        *names[:2],
        "Celtis australis",
    }


AUTHORS = {
    "Quercus robur L.": "Quercus robur",
    "Betula_pendula_Roth": "Betula pendula",
    "Platanus ×hispanica Mill. ex Münchh.": "Platanus x hispanica",
    "Picea abies (L.) H.Karst.": "Picea abies",
    "Cornus florida L. f.": "Cornus florida",
    "Pinus nigra subsp. salzmannii (Dunal) Franco": "Pinus nigra subsp. salzmannii",
    "Malus domestica Borkh. 'Gala'": "Malus domestica 'Gala'",
}


def test_authors_are_left_out_where_no_other_label_is_then_the_same(tmp_path, draw):
    for name in AUTHORS:
        draw(tmp_path / "a" / name / f"{name}.jpg")
    pictures = read_collection(tmp_path / "a").pictures
    assert {p.file.parent.name: p.species for p in pictures} == AUTHORS
    assert all(picture.taxon.family for picture in pictures)
    # In several collections that are read together there may be another.
    draw(tmp_path / "b" / "Quercus robur" / "1.jpg")
    draw(tmp_path / "b" / "Betula pendula Dalecarlica" / "2.jpg")
    both = read_collection([tmp_path / "a", tmp_path / "b"])
    apart = ["Quercus robur L.", "Betula pendula Roth"]
    more = ["Quercus robur", "Betula pendula Dalecarlica"]
    assert list_labels(both.pictures) == {*[*AUTHORS.values()][2:], *apart, *more}
    assert both.problems == (
        f"{tmp_path}: 'Quercus robur L.' and 'Quercus robur' count as 2 labels",
    )


def test_two_spellings_of_one_label_are_told(tmp_path, draw):
    for name in ("Acer_campestre", "Acer campestre", "acer campestre", "Ilex"):
        draw(tmp_path / name / f"{name}.jpg")
    collection = read_collection(tmp_path)
    assert list_labels(collection.pictures) == {"Acer campestre", "Ilex"}
    names = "'Acer campestre' and 'Acer_campestre' and 'acer campestre'"
    assert collection.problems == (f"{tmp_path}: {names} count as 1 label",)


def test_the_label_of_unknown_species_is_not_trained(cli, tmp_path, draw):
    draw(tmp_path / "test" / "Unknown_species" / "1.jpg")
    for name in ("Acer campestre", "Quercus robur"):
        draw(tmp_path / "train" / name / f"{name}.jpg")
    # A ground truth may have it.
    assert len(select_training_pictures(read_collection(tmp_path).pictures)) == 2
    unknown = draw(tmp_path / "train" / "Unknown_species" / "2.jpg")
    with pytest.raises(LeafidError, match=f"{unknown}: expected the label of a class"):
        select_training_pictures(read_collection(tmp_path).pictures)
    for words in (
        ("train", tmp_path, "--output", tmp_path / "model"),
        ("crossval", tmp_path, "--parts"),
    ):
        result = cli(*words)
        assert (result.status, result.out) == (1, "")
        assert f"{unknown}: expected the label of a class, found 'Unk" in result.err
