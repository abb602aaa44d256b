import pytest

from leafid.errors import LeafidError
from leafid.tasks.interpretation.class_distances import read_distances, read_taxonomy

TREE = """class,parent
animal,
plant,
cat,animal
dog,animal
oak,tree
tree,plant
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "classes.csv"


def test_distances(file):
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
        ("class,oak\nelm,0\n", ":2: expected each class of the first line once, found 'elm'"),
        ("class,oak\noak,0\noak,0\n", ":3: expected each class of the first line once, found 'oak'"),
        ("class,oak\noak,0,1\n", ":2: expected a class and 1 distances from 0 to 1, found"),
        ("class,oak\noak,nan\n", ":2: expected a class and 1 distances from 0 to 1, found .*nan"),
        ("class,oak,ash\noak,0,1\n", "expected a line for class 'ash', found none"),
    ],
)
def test_bad_distances_are_refused(file, content, message):
    file.write_text(content)
    with pytest.raises(LeafidError, match=message):
        read_distances(file)


@pytest.mark.parametrize(
    ("names", "edges"),
    [
        (("cat", "cat"), 0),
        (("cat", "dog"), 2),
        (("cat", "animal"), 1),
        (("cat", "oak"), 5),
        (("animal", "plant"), 2),
        (("oak", "plant"), 2),
    ],
)
def test_distances_in_a_tree(file, names, edges):
    file.write_text(TREE)
    distance = read_taxonomy(file)
    # The deepest class is three edges below the common root.
    assert distance(*names) == distance(*reversed(names)) == pytest.approx(edges / 6)


def test_a_single_top_is_the_root(file):
    file.write_text("class,parent\ncat,animal\ndog,animal\n")
    distance = read_taxonomy(file)
    assert distance("cat", "dog") == 1
    assert distance("cat", "animal") == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected the columns class and parent"),
        ("class,parent\n", "expected lines 'class,parent', found none"),
        ("class,parent\na,a\n", ": expected classes that are not below themselves, found 'a'"),
        ("class,parent\na,b,c\n", ":2: expected a class and its parent"),
        ("class,parent\na,b\na,c\n", ":3: expected every class once, found 'a', as in line 2"),
        ("class,parent\nc,\na,b\nb,a\n", ": expected classes that are not below themselves, found 'a'"),
    ],
)
def test_bad_trees_are_refused(file, text, message):
    file.write_text(text)
    with pytest.raises(LeafidError, match=message):
        read_taxonomy(file)


def test_a_class_that_the_tree_lacks(file):
    file.write_text(TREE)
    with pytest.raises(LeafidError, match="expected distances of every class, found none of 'elm'"):
        read_taxonomy(file)("oak", "elm")
