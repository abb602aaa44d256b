"""The house rules of docs/architecture.md, held against the imports themselves."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "leafid"
# A room imports only rooms that stand before it: data flows downwards.
ROOMS = (
    "metrics",  # knows arrays alone
    "learning",  # knows no picture
    "pictures",
    "scoring",
    "segmentation",
    "descriptors",
    "features",
    "model",
    "training",
    "pages",
    "web",
    "api",
    "measurement",
    "sklearn",
    "studies",
    "tasks",
    "cli",
)
# The wing from a picture to its answer, which knows nothing of scoring.
IDENTIFYING = ("segmentation", "descriptors", "features", "model", "training")
# Small services that any room may use; they know none of the rooms.
SERVICES = (
    "checking",
    "errors",
    "files",
    "grouping",
    "notebook",
    "parallel",
    "permissions",
    "schema",
    "textfiles",
    "translation",
    "versions",
)
#: Words that say nothing of the thing that they name.
VAGUE_WORDS = {"own", "found", "ours", "rest", "every", "other"}
VAGUE_NAMES = {
    f"{before}{word}{after}"
    for word in VAGUE_WORDS
    for before in ("", "_", "__")
    for after in ("", "_")
}


@pytest.fixture(scope="module")
def trees():
    """The syntax tree of every file of leafid, by its path."""
    return {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@pytest.fixture(scope="module")
def library(trees):
    """List the files that don't print: all but the commands, with what they share."""
    return {
        path: tree
        for path, tree in trees.items()
        if not {"cli"} & set(path.relative_to(PACKAGE).parts)
    }


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def find_imports(tree: ast.Module) -> set[str]:
    """Find the modules that a file imports anywhere, with the names from them."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {
                f"{'.' * node.level}{node.module or ''}.{alias.name}"
                for alias in node.names
            }
    return names


def test_a_room_imports_only_earlier_rooms(trees):
    wrong = []
    for path, tree in trees.items():
        room, imports = room_of(path), find_imports(tree)
        wrong += [
            f"{path}: relative import" for name in imports if name.startswith(".")
        ]
        if room not in ("__init__", "__main__"):
            others = {
                name.split(".")[1] for name in imports if name.startswith("leafid.")
            } - {"__version__"}
            allowed = (
                {*SERVICES}
                if room in SERVICES
                else {*SERVICES, *ROOMS[: ROOMS.index(room) + 1]}
            )
            if room in IDENTIFYING:
                allowed.remove("scoring")
            wrong += [
                f"{path}: {room} must not import {name}"
                for name in sorted(others - allowed)
            ]
    assert not wrong


def test_no_files_import_each_other_in_a_circle(trees):
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
        for path in trees
    }
    modules = {
        name.removesuffix(".__init__"): trees[path] for name, path in names.items()
    }
    # What a file imports is a module, or a name in one.
    graph = {
        name: {
            module if module in modules else module.rpartition(".")[0]
            for module in find_imports(tree)
        }
        for name, tree in modules.items()
    }
    order = TopologicalSorter(
        {
            name: imports & modules.keys() - {"leafid", name}
            for name, imports in graph.items()
        }
    )
    assert set(order.static_order()) == modules.keys()


def test_every_room_is_known():
    folders = {
        path.name
        for path in PACKAGE.iterdir()
        if path.is_dir() and (path / "__init__.py").exists()
    }
    assert folders == {*ROOMS, "parallel"} - {"api", "measurement", "sklearn"}


def test_the_page_lists_every_room_in_order_and_only_files_that_exist():
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert listed == [room for room in ROOMS if (PACKAGE / room).is_dir()]
    folder = PACKAGE
    for name in re.findall(r"`([\w/]+\.py)`", page):
        # A bare name is in the folder of the file named before it.
        file = (
            folder / name
            if "/" not in name and (folder / name).exists()
            else PACKAGE / name
        )
        assert file.exists() or (PACKAGE.parent / name).exists(), (
            f"docs/architecture.md names {name}, which doesn't exist"
        )
        folder = file.parent


def test_names_say_what_they_name(trees):
    vague = set()
    for folder in ("leafid", "benchmarks", "tests"):
        for file in (PACKAGE.parent / folder).rglob("*.py"):
            for node in ast.walk(
                trees.get(file) or ast.parse(file.read_text(encoding="utf-8"))
            ):
                names = {
                    getattr(node, field, None)
                    for field in ("id", "arg", "attr", "name", "asname")
                }
                vague |= {f"{file}: {name}" for name in names & VAGUE_NAMES}
    assert not vague, "\n".join(sorted(vague))


def test_only_the_command_line_prints(library):
    calls = [
        (path, node)
        for path, tree in library.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]
    named = [
        (path, node.func.id) for path, node in calls if isinstance(node.func, ast.Name)
    ]
    assert not [
        (path, name) for path, name in named if name in {"print", "input", "exit"}
    ], "log or raise"


def test_only_one_place_reads_xml(library):
    parsers = ("defusedxml", "xml.sax", "xml.dom")
    readers = {
        path.name
        for path, tree in library.items()
        if any(
            name.startswith(parsers) and not name.startswith("xml.sax.saxutils.")
            for name in find_imports(tree)
        )
    }
    assert readers == {"textfiles.py"}
