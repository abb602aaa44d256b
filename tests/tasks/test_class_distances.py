import pytest

from leafid.errors import LeafidError
from leafid.tasks.interpretation.metric import read_distances


def test_distances(tmp_path):
    file = tmp_path / "classes.csv"
    file.write_text("class,oak,ash\nash,0.4,0\noak,0,0.5\n")
    distance = read_distances(file)
    assert [distance("oak", "ash"), distance("ash", "oak"), distance("ash", "ash")] == [0.5, 0.4, 0]
    with pytest.raises(LeafidError, match="found none of 'elm'"):
        distance("oak", "elm")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("class,oak,oak\n", ":1: expected an empty cell and the classes, each once"),
        ("", ":1: expected an empty cell and the classes"),
        ("class,oak\nelm,0\n", ":2: expected a class of the first line and 1 distances from 0 to 1, found .*elm"),
        ("class,oak\noak,0\noak,0\n", ":3: expected every class once, found 'oak', as in line 2"),
        ("class,oak\noak,0,1\n", ":2: expected a class of the first line and 1 distances from 0 to 1, found"),
        ("class,oak\noak,nan\n", ":2: expected a class of the first line and 1 distances from 0 to 1, found .*nan"),
        ("class,oak,ash\noak,0,1\n", "expected a line for each of 2 classes, found 1"),
    ],
)
def test_bad_distances_are_refused(tmp_path, content, message):
    file = tmp_path / "classes.csv"
    file.write_text(content)
    with pytest.raises(LeafidError, match=message):
        read_distances(file)
