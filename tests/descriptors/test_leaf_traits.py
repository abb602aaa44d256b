"""Traits of real leaves against what a person sees in them.

`leaf_traits.csv` is that person's table: to correct it, look at the picture (its path is below $LEAFID_REAL_DATA) and
change the word. `|` separates words that are all right; an empty cell is not plain to see, and not judged. The margin
of a lobed leaf is that of its lobes.
"""

import csv
from collections import Counter
from pathlib import Path

import cv2

from leafid.descriptors.traits import measure_reliable_traits
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.pages.trait_statements import state_traits
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.pixels import shrink

TABLE = Path(__file__).with_name("leaf_traits.csv")
# By trait: its column of the table.
COLUMNS = {"compound": "leaf"} | {
    name: name for name in ("leaflets", "lobes", "margin", "form", "base", "apex")
}
# Terms that the table has no word for.
VAGUE = {"lobed", "right"}


# Species in pictures of 224 pixels, all with teeth or none; bipinnate leaves, whose leaflets merge there.
MARGINS = {
    "Acer pseudoplatanus": "toothed",
    "Broussonetia papyrifera": "toothed",
    "Carpinus betulus": "toothed",
    "Prunus serotina": "toothed",
    "Tilia cordata": "toothed",
    "Cornus mas": "entire",
    "Magnolia grandiflora": "entire",
}
BIPINNATE = ("Albizia julibrissin", "Gleditsia triacanthos")


def name_traits(row, folder):
    """Name the traits of a picture by the words of the table."""
    image = read_image(folder / row["picture"], LONGEST_SIDE)
    return name_traits_of_image(image, row["type"])


def name_traits_of_image(image, type_):
    leaf = segment_as_type(image, AcquisitionType(type_))
    traits, _ = measure_reliable_traits(leaf)
    statements = {statement.trait: statement for statement in state_traits(traits)}
    words = {
        column: statements[trait].term
        for trait, column in COLUMNS.items()
        if trait in statements and statements[trait].term not in VAGUE
    }
    if "leaflets" in words:
        words["leaflets"] = f"{statements['leaflets'].number:.0f}"
    return words | ({"lobes": "no"} if traits.get("lobes") == 0 else {})


def test_most_of_what_is_plain_is_said_and_nearly_all_that_is_said_is_true(real_data):
    plain, answered, said, true = Counter(), Counter(), Counter(), Counter()
    wrong = []
    with TABLE.open(newline="") as stream:
        for row in csv.DictReader(stream):
            words = name_traits(row, real_data)
            for column in COLUMNS.values():
                is_plain = bool(row[column])
                # A compound leaf has neither lobes nor the form of a simple one.
                is_judged = is_plain or (
                    row["leaf"] == "compound" and column in ("lobes", "form")
                )
                plain[column] += is_plain
                if column in words and is_judged:
                    answered[column] += is_plain
                    said[column] += 1
                    is_true = words[column] in row[column].split("|")
                    true[column] += is_true
                    wrong += (
                        []
                        if is_true
                        else [f"{row['picture']}: {words[column]} for {row[column]}"]
                    )
    assert true.total() >= 0.9 * said.total(), wrong
    assert answered.total() >= 0.7 * plain.total(), (answered, plain)
    for column, number in said.items():
        assert number < 10 or true[column] >= 0.85 * number, (column, wrong)


def list_words(folder, column):
    """List what is said of every third picture of a folder, where something is said."""
    words = (
        name_traits_of_image(read_image(file), "scan-like").get(column)
        for file in sorted(folder.iterdir())[::3]
    )
    return list(filter(None, words))


def test_teeth_and_leaflets_that_a_small_picture_cannot_show_are_not_denied(real_data):
    folder = real_data / "leafsnap-224" / "known"
    margins = [
        (word == margin, species)
        for species, margin in MARGINS.items()
        for word in list_words(folder / species, "margin")
    ]
    true = sum(is_true for is_true, _ in margins)
    assert len(margins) >= 15, margins
    assert true >= 0.95 * len(margins), margins
    kinds = Counter(
        word for species in BIPINNATE for word in list_words(folder / species, "leaf")
    )
    assert kinds["compound"] >= 0.95 * kinds.total() > 0, kinds


def test_what_is_seen_in_a_reduced_or_blurred_picture_is_true(real_data):
    said, true = Counter(), Counter()
    wrong = []
    with TABLE.open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["margin"]]
    for row in rows:
        image = read_image(real_data / row["picture"], LONGEST_SIDE)
        for altered in (
            shrink(image, 200),
            shrink(image, 40),
            cv2.blur(image, (21, 21)),
        ):
            words = name_traits_of_image(altered, row["type"])
            for column in ("leaf", "margin"):
                if column in words:
                    is_true = words[column] in row[column].split("|")
                    said[column] += 1
                    true[column] += is_true
                    wrong += [] if is_true else [f"{row['picture']}: {words[column]}"]
    for column, number in said.items():
        assert true[column] >= 0.95 * number > 0.3 * len(rows), wrong
