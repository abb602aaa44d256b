"""Traits of real leaves against what a person sees in them.

`leaf_traits.csv` is that person's table: to correct it, look at the picture (its path is below $LEAFID_REAL_DATA) and
change the word. `|` separates words that are all right; an empty cell is not plain to see, and not judged. The margin
of a lobed leaf is that of its lobes.
"""

import csv
from collections import Counter
from pathlib import Path

from leafid.descriptors.traits import measure_reliable_traits
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.pages.trait_statements import state_traits
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType

TABLE = Path(__file__).with_name("leaf_traits.csv")
# By trait: its column of the table.
COLUMNS = {"compound": "leaf"} | {
    name: name for name in ("leaflets", "lobes", "margin", "form", "base", "apex")
}
# Terms that the table has no word for.
VAGUE = {"lobed", "right"}


def name_traits(row, folder):
    """Name the traits of a picture by the words of the table."""
    image = read_image(folder / row["picture"], LONGEST_SIDE)
    traits, _ = measure_reliable_traits(
        segment_as_type(image, AcquisitionType(row["type"]))
    )
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
