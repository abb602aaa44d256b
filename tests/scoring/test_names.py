"""Every name that a command accepts is one that the next command can read."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.pictures.names import parse_species_name
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.runs import find_name_problem
from tests.scoring.run_files import write_run

HOSTILE = [
    " a.jpg",
    "\xa0a.jpg",
    "a\xa0.jpg",
    "<a.jpg",
    "a\u202e.jpg",
    "\ufeffa.jpg",
    "a\x1b[31m.jpg",
    "a\udce9.jpg",
    "a",
]
letters = st.characters(exclude_characters="/\0")


def with_examples(test):
    for name in HOSTILE:
        test = example(name)(test)
    return given(st.text(letters, min_size=1) | st.text(letters).map("{}.jpg".format))(test)


@with_examples
def test_a_picture_name_is_refused_or_read_back(tmp_path_factory, name):
    file = tmp_path_factory.mktemp("run") / "run.txt"
    if find_name_problem(name):
        with pytest.raises(LeafidError, match="rename the file"):
            write_run(file, {name: [("Acer campestre", 1.0)]})
        return
    write_run(file, {name: [("Acer campestre", 1.0)]})
    assert read_run(file).pictures == (name,)


@with_examples
def test_a_species_name_is_refused_or_read_back(tmp_path_factory, name):
    file = tmp_path_factory.mktemp("run") / "run.txt"
    try:
        species = parse_species_name(f"Acer {name}")
    except LeafidError:
        return
    write_run(file, {"1.jpg": [(species, 1.0)]})
    assert read_run(file).species == (species,)
