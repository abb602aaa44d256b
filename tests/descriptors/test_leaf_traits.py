"""Traits of real leaves against what a person sees in them.

`leaf_traits.csv` is that person's table, written without a look at what leafid says: to
correct it, look at the picture (its path is below $LEAFID_REAL_DATA) and change the
word. `|` separates words that are all right. What is in parentheses is true, but not
plain to see: leafid need not say it, and whatever else it says is false; of `()`
nothing can be known from this picture. An empty cell is not judged. The margin of a
lobed leaf is that of its lobes, and a petiole is measured in lengths of the blade.

`kind` is what makes a picture difficult, and `change` what is done to it first:
`light 0.25` leaves a quarter of its light, `side 224` reduces its longer side to 224
pixels, `top 0.2` and `bottom 0.2` cut off a fifth of its height.
"""

import csv
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import cv2
import pytest

from leafid.descriptors.traits import measure_reliable_traits
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.pages.trait_statements import state_traits
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.pixels import shrink

TABLE = Path(__file__).with_name("leaf_traits.csv")
# The columns of the table that aren't what a person sees.
GIVEN = ("picture", "type", "kind", "change")
# Terms that the table has no word for.
VAGUE = {"lobed", "right", ""}
# Largest errors of a number, below and above what is seen: its share, and in any case.
# The number of leaflets is a lower bound.
TOLERANCES = {
    "leaflets": (0.25, 0, 0),
    "length_width": (0.15, 0.15, 0),
    "petiole": (0.25, 0.25, 0.05),
}

# What holds of all kinds of statements and of pictures that are there so often.
MANY = 20
TRUE_SHARE = 0.95
SAID_SHARE = 0.75
# Kinds that do not reach these goals yet, or by less than two statements: what they
# reach, less two statements.
REACHED_TRUE = {
    "form": 0.92,
    "leaflets": 0.86,
    "base": 0.94,
    "apex": 0.93,
    "cut": 0.87,
    "dark": 0.88,
}
REACHED_SAID = {
    "leaflets": 0.63,
    "dark": 0.7,
    "margin": 0.73,
    "small": 0.7,
}

# Species in pictures of 224 pixels, all with teeth or none; bipinnate leaves, whose
# leaflets merge there.
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


class Judgement(NamedTuple):
    """A cell of the table beside what leafid says."""

    picture: str
    # Those of the statement and of the picture, and "all".
    kinds: tuple[str, str, str]
    said: str | float | None
    seen: str

    @property
    def is_said(self):
        return self.said is not None

    @property
    def is_plain(self):
        return not self.seen.startswith("(")

    @property
    def is_true(self):
        seen = self.seen.strip("()").split("|")
        if seen == [""] or self.kinds[0] not in TOLERANCES:
            return self.said in seen
        below, above, always = TOLERANCES[self.kinds[0]]
        numbers = list(map(float, seen))
        least, most = min(numbers), max(numbers)
        return (
            least - max(below * least, always)
            <= self.said
            <= most + max(above * most, always)
        )


def read_table():
    with TABLE.open(newline="") as stream:
        return list(csv.DictReader(stream))


def change_image(image, change):
    """Change a picture as the table says."""
    if not change:
        return image
    action, number = change.split()
    cut = round(float(number) * len(image)) if action in ("top", "bottom") else 0
    match action:
        case "light":
            return cv2.convertScaleAbs(image, alpha=float(number))
        case "side":
            return shrink(image, int(number))
        case "top":
            return image[cut:].copy()
        case "bottom":
            return image[:-cut].copy()
    raise ValueError(f"{TABLE.name}: nobody knows how to change a picture by {change}")


def name_statement(statement):
    """Name what a statement says, by columns of the table."""
    match statement.trait:
        case "compound":
            return {"leaf": statement.term}
        case "lobes" if statement.number:
            return {"lobes": statement.term, "lobe_number": f"{statement.number:.0f}"}
        case "margin":
            return {"margin": statement.term, "tooth_size": statement.detail}
        case "length_width" if statement.term == "wide":
            return {"length_width": 1 / statement.number}
        case "leaflets" | "length_width" | "petiole":
            return {statement.trait: statement.number}
    return {statement.trait: statement.term}


def name_traits(image, type_):
    """Name the traits of a picture by the words of the table."""
    leaf = segment_as_type(image, AcquisitionType(type_))
    traits, _ = measure_reliable_traits(leaf)
    words = {"lobes": "no"} if traits.get("lobes") == 0 else {}
    for statement in state_traits(traits):
        words |= name_statement(statement)
    return {column: word for column, word in words.items() if word not in VAGUE}


@pytest.fixture(scope="module")
def judgements(real_data):
    judgements = []
    for row in read_table():
        image = read_image(real_data / row["picture"], LONGEST_SIDE)
        words = name_traits(change_image(image, row["change"]), row["type"])
        judgements += [
            Judgement(
                row["picture"], (column, row["kind"], "all"), words.get(column), seen
            )
            for column, seen in row.items()
            if seen and column not in GIVEN
        ]
    return judgements


def assert_share_by_kind(judgements, quality, goal, reached):
    """Assert that of each kind that is there often, a share has a quality."""
    numbers = Counter(kind for judgement in judgements for kind in judgement.kinds)
    without = [judgement for judgement in judgements if not getattr(judgement, quality)]
    numbers_without = Counter(kind for judgement in without for kind in judgement.kinds)
    shares = {
        kind: 1 - numbers_without[kind] / number
        for kind, number in numbers.items()
        if number >= MANY
    }
    low = {
        kind: share for kind, share in shares.items() if share < reached.get(kind, goal)
    }
    others = [judgement for judgement in without if low.keys() & judgement.kinds]
    assert not low, (low, others)


def test_nearly_all_that_is_said_is_true(judgements):
    said = [judgement for judgement in judgements if judgement.is_said]
    assert_share_by_kind(said, "is_true", TRUE_SHARE, REACHED_TRUE)


def test_most_of_what_is_plain_is_said(judgements):
    plain = [judgement for judgement in judgements if judgement.is_plain]
    assert_share_by_kind(plain, "is_said", SAID_SHARE, REACHED_SAID)


def list_words(folder, column):
    """List what is said of every third picture of a folder, where something is said."""
    words = (
        name_traits(read_image(file), "scan-like").get(column)
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
    rows = [row for row in read_table() if row["margin"] and row["kind"] == "home"]
    for row in rows:
        image = read_image(real_data / row["picture"], LONGEST_SIDE)
        for altered in (
            shrink(image, 200),
            shrink(image, 40),
            cv2.blur(image, (21, 21)),
        ):
            words = name_traits(altered, row["type"])
            for column in ("leaf", "margin"):
                if column in words:
                    is_true = words[column] in row[column].split("|")
                    said[column] += 1
                    true[column] += is_true
                    wrong += [] if is_true else [f"{row['picture']}: {words[column]}"]
    for column, number in said.items():
        assert true[column] >= 0.95 * number > 0.3 * len(rows), wrong
