"""The house rules of docs/architecture.md, held against the imports themselves."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "leafid"
# A room imports only rooms that stand before it: data flows downwards.
ROOMS = (
    "collection",
    "segmentation",
    "descriptors",
    "encoding",
    "recipes",
    "features",
    "metrics",
    "classifiers",
    "identification",
    "runs",
    "evaluation",
    "report",
    "explanation",
    "web",
    "synthetic",
    "api",
    "sklearn",
    "console",
    "tasks",
    "cli",
)
# Small services that any room may use; they know none of the rooms.
SERVICES = (
    "cluster",
    "errors",
    "files",
    "grouping",
    "images",
    "limited_process",
    "parallel",
    "resumable",
    "textfiles",
    "worker_calls",
    "worker_requirements",
    "xmlfiles",
)
# Who may use what, beside what stands before it, and why.
EXCEPTIONS: dict[tuple[str, str], str] = {}
# Those who print: the commands, with what they share, and the commands of other tasks.
LIBRARY = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not {"cli", "console"} & set(path.relative_to(PACKAGE).parts) and not path.name.endswith("command.py")
)


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(path: Path) -> set[str]:
    """The rooms and services of leafid that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("leafid.")} - {"__version__"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_earlier_rooms(path):
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    allowed = {*SERVICES} if room in SERVICES else {*SERVICES, *ROOMS[: ROOMS.index(room) + 1]}
    wrong = {other for other in imported(path) - allowed if (room, other) not in EXCEPTIONS}
    assert not wrong, f"{path}: {room} must not import {', '.join(sorted(wrong))}"


def test_every_room_is_known():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders == {*ROOMS, "images"} - {"api", "sklearn"}


def test_the_page_lists_every_room_in_order_and_only_files_that_exist():
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert listed == [room for room in ROOMS if (PACKAGE / room).is_dir()]
    folder = PACKAGE
    for name in re.findall(r"`([\w/]+\.py)`", page):
        # A bare name is in the folder of the file named before it.
        file = folder / name if "/" not in name and (folder / name).exists() else PACKAGE / name
        assert file.exists() or (PACKAGE.parent / name).exists(), (
            f"docs/architecture.md names {name}, which doesn't exist"
        )
        folder = file.parent


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_prints(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    named = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
    assert not named & {"print", "input", "exit"}, f"{path} must log or raise"


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_one_place_reads_xml(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    parsers = {name for name in modules - {"xml.sax.saxutils"} if name.startswith(("defusedxml", "xml.sax", "xml.dom"))}
    assert not parsers or room_of(path) == "xmlfiles", f"{path} must read XML through leafid.xmlfiles"
