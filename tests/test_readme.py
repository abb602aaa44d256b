"""README.md and the docs show what the program prints.

Each ``console`` block of `PAGES` is run in a folder with `data/`, which all blocks
share, in the order of the pages. A comment above a block says how its output is
compared:

    (none)                      exactly
    <!-- test: numbers -->      numbers may differ
    <!-- test: answers -->      numbers, and the species behind the first, may differ:
                                processors round differently
    <!-- test: own model -->    as answers; needs the bundled model
    <!-- test: not run: … -->   not at all, with the reason

With LEAFID_UPDATE_README=1 in the environment, the output in the page is replaced by
the output of this run.
"""

import importlib
import importlib.util
import io
import os
import re
import runpy
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from leafid.cli.main import COMMANDS, GROUPS, main
from leafid.cli.outputs import Console
from leafid.errors import LeafidError
from leafid.model.bundled import find_bundled_model
from leafid.scoring.tables import RAISED

REPOSITORY = Path(__file__).parents[1]
DOCS = sorted(
    str(file.relative_to(REPOSITORY)) for file in (REPOSITORY / "docs").rglob("*.md")
)
# Later pages use what the commands of earlier ones wrote.
PAGES = [
    "README.md",
    "docs/quickstart.md",
    "docs/howto/score.md",
    "docs/howto/recipe.md",
    "docs/howto/measure.md",
    "docs/howto/study.md",
    "docs/howto/folder-of-pictures.md",
    "docs/howto/extend.md",
    "docs/ablation.md",
    "docs/commands.md",
]
#: The commands of docs/quickstart.md that train a model with the recipe `fast`, and
#: score it on the test part.
QUICKSTART = [
    "leafid train data/sample --recipe fast --output sample.leafid",
    "leafid predict data/sample --model sample.leafid --output run.txt",
    "leafid evaluate data/sample run.txt --part test --output scores",
]
QUICKSTART_FLOORS = {"scan": 0.95, "scan-like": 0.95, "photo": 0.62}
_BLOCK = re.compile(
    r"(?:<!-- test: (?P<how>[^>]*?) -->\n)?```console\n(?P<text>.*?)```\n", re.DOTALL
)
_FILE = re.compile(
    r"```(?:toml|python)\n# (?P<name>[\w.-]+)\n(?P<text>.*?)```\n", re.DOTALL
)
_NUMBER = re.compile(r"\.?\d+(?:[.,]\d+)*")
_SHARE = re.compile(r"(?:over |under |[<>])?\d+(?:\.\d+)?%")
# In answers: a species behind the first, the one that is most like an unknown leaf,
# what an expert ranks behind its first, how sure the answer is, what its details are,
# and what tells the first species from the second.
_UNCERTAIN = re.compile(
    r"(?<=^  )(?P<rank>(?!1 )\d+ +#%  ).*"
    r"|(?<=the most similar is ).*"
    r"|(?<= #%)(?:, [^,%\n]+ #%)+$"
    r"|(?<=^  )(?:Sure:|Probably|Perhaps)"
    r"|(?<= #%), or [^.\n]*"
    r"|(?<=; if both are true, )[^.]*"
    r"|^  (?P<head>trait +this leaf +\w+(?: \w+)*)(?P<rows>  .*\n(?:  .*\n)*)",
    re.MULTILINE,
)


@dataclass
class Block:
    page: str
    how: str
    text: str
    line: int

    def calls(self) -> list[tuple[str, str]]:
        """The commands with the output that the page shows."""
        parts = re.split(r"^\$ (.*)\n", self.text, flags=re.MULTILINE)
        assert parts[0] == "", (
            f"{self.page}:{self.line}: expected a line '$ command' first"
        )
        return list(zip(parts[1::2], parts[2::2], strict=True))


def find_blocks() -> list[Block]:
    """List the blocks of all pages."""
    blocks = []
    for page in PAGES:
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            blocks.append(
                Block(
                    page,
                    match["how"] or "",
                    match["text"],
                    text[: match.start()].count("\n") + 1,
                )
            )
    return blocks


BLOCKS = find_blocks()


def comparable(text: str, how: str) -> list[str]:
    lines = text.splitlines()
    if how == "numbers":
        # Columns move with the width of a number, and a ruler under them with the
        # columns; the raised letters of runs that a score is better than come and go.
        unmarked = [
            re.sub(f"(?<=[]0-9])[{''.join(map(chr, RAISED.values()))}]+", "", line)
            for line in lines
        ]
        return [
            re.sub(r"-{3,}", "---", " ".join(_NUMBER.sub("#", line).split()))
            for line in unmarked
        ]
    if how in {"answers", "own model"}:
        certain = _NUMBER.sub("#", _keep_certain(text))
        # Sentences are wrapped where the width of their numbers allows.
        return [" ".join(paragraph.split()) for paragraph in certain.split("\n\n")]
    return lines


def _keep_certain(text: str) -> str:
    """Leave out of answers what differs where another processor trained the model."""

    def shorten(match: re.Match[str]) -> str:
        if match["head"]:
            cells = {
                len(re.split(r" {2,}", row.strip()))
                for row in match["rows"].splitlines()[1:]
            }
            return f"{match['head']} … {sorted(cells)}\n"
        return "" if match[0].startswith(", or ") else f"{match['rank'] or ''}…"

    return _UNCERTAIN.sub(shorten, _SHARE.sub("#%", text))


def run(command: str) -> str:
    """Run `leafid …` or `python …` in this process.

    Show stdout and stderr as a terminal does, one after the other.
    """
    program, *words = shlex.split(command)
    shown = io.StringIO()
    if program == "python":
        with redirect_stdout(shown):
            runpy.run_path(*words, run_name="__main__")
        return shown.getvalue()
    assert program == "leafid", f"expected a leafid command, found {command!r}"
    main(
        words, Console(shown, shown, log_interval=1e6)
    )  # no progress, on a busy machine either
    return shown.getvalue()


def check(block: Block, shared: dict[str, str]) -> None:
    for command, expected in block.calls():
        if not command.startswith(("leafid ", "python ")):
            pytest.fail(
                f"{block.page}:{block.line}: only leafid and Python are run, found "
                f"{command!r}"
            )
        output = run(command)
        shared[command] = output
        if not os.environ.get("LEAFID_UPDATE_README"):
            assert comparable(output, block.how) == comparable(expected, block.how), (
                f"{block.page}:{block.line}: '{command}' prints:\n{output}"
            )


@pytest.fixture(scope="module")
def place(tmp_path_factory, default_cache):
    folder = tmp_path_factory.mktemp("readme")
    (folder / "cache").symlink_to(default_cache)
    for name in ("data", "examples"):
        (folder / name).symlink_to(REPOSITORY / name)
    for page in PAGES:
        for match in _FILE.finditer((REPOSITORY / page).read_text(encoding="utf-8")):
            (folder / match["name"]).write_text(match["text"], encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def shared():
    """The output of each command, for LEAFID_UPDATE_README."""
    outputs: dict[str, str] = {}
    yield outputs
    if os.environ.get("LEAFID_UPDATE_README"):
        for block in BLOCKS:
            file = REPOSITORY / block.page
            fresh = "".join(
                f"$ {command}\n{outputs.get(command, shown)}"
                for command, shown in block.calls()
            )
            text = file.read_text(encoding="utf-8")
            file.write_text(
                text.replace(f"```console\n{block.text}```", f"```console\n{fresh}```"),
                encoding="utf-8",
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}"
)
def test_a_command_prints_what_the_page_shows(block, place, shared, monkeypatch):
    if block.how.startswith("not run"):
        pytest.skip(f"{block.page}:{block.line}: {block.how}")
    monkeypatch.chdir(place)
    # Beside other tests, worker processes would only take time to start.
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    if block.how == "own model":
        try:
            find_bundled_model()
        except LeafidError as error:
            pytest.skip(str(error))
    check(block, shared)


@pytest.mark.slow
def test_the_model_of_the_quickstart_is_accurate(place, shared, monkeypatch):
    """Top-1 of the recipe `fast`: its floors are as in tests/test_accuracy.py."""
    monkeypatch.chdir(place)
    for command in QUICKSTART:
        if command not in shared:  # only this test is run
            shared[command] = run(command)
    rows = re.findall(
        r"^(\S+) +run .*?\] +(\d?\.\d+) \[", shared[QUICKSTART[-1]], re.MULTILINE
    )
    top1 = {name: float(score) for name, score in rows if name in QUICKSTART_FLOORS}
    assert set(top1) == set(QUICKSTART_FLOORS)
    below = {
        name: top1[name]
        for name, floor in QUICKSTART_FLOORS.items()
        if top1[name] < floor
    }
    assert not below, f"top-1 below its floor: {below}, floors {QUICKSTART_FLOORS}"


def test_every_main_command_is_shown():
    shown = {command.split()[1] for block in BLOCKS for command, _ in block.calls()}
    assert set(COMMANDS) - set(GROUPS["other tasks"]) - {"evaluate-hierarchy"} <= shown
    # The help, which the page shows, lists the others.
    assert "--help" in shown


def test_linked_files_exist():
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "data/README.md",
        "models/README.md",
        *DOCS,
    ):
        file = REPOSITORY / name
        for target in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)", file.read_text(encoding="utf-8")
        ):
            if not target.startswith(("http:", "https:", "mailto:")):
                assert (file.parent / target).exists(), (
                    f"{name} links {target}, which isn't there"
                )


def find_code_names(page):
    """The dotted names of leafid's code in a page: in backticks, and in imports."""
    names = set(re.findall(r"`(leafid(?:\.\w+)+)[`(]", page))
    for module, imported in re.findall(
        r"^(?:>>> )?from (leafid[\w.]*) import ([\w, ]+)$", page, re.MULTILINE
    ):
        names |= {f"{module}.{name.strip()}" for name in imported.split(",")}
    return sorted(names)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md", *DOCS]
)
def test_code_that_the_pages_name_exists(page):
    for name in find_code_names((REPOSITORY / page).read_text(encoding="utf-8")):
        module, _, attribute = name.rpartition(".")
        assert _exists(module, attribute), f"{page} names {name}, which doesn't exist"


def _exists(module, attribute):
    try:
        owner = importlib.import_module(module)
    except ModuleNotFoundError:
        # A class in between: leafid.features.loader.FeatureLoader.load
        return _exists(*module.rsplit(".", 1)) if "." in module else False
    if hasattr(owner, attribute):
        return True
    return (
        hasattr(owner, "__path__")
        and importlib.util.find_spec(f"{module}.{attribute}") is not None
    )


_TRAITS = (
    "  trait  this leaf  Acer  {}  speaks for\n  teeth  24         22    34   Acer\n"
)


@pytest.mark.parametrize(
    ("first", "second", "how", "same"),
    [
        ("a 1.50\n", "a 1.50\n", "", True),
        ("a 1.50\n", "a 1.51\n", "", False),
        ("a  1.50 MB\n---------\n", "a 12.5 MB\n----------\n", "numbers", True),
        ("a 1.50 MB\n", "b 1.50 MB\n", "numbers", False),
        (
            "  Sure: Acer opalus, 97%\n",
            "  Perhaps Acer opalus, 41%, or Ilex aquifolium, 9%\n",
            "answers",
            True,
        ),
        (
            "  Sure: Acer opalus, 97%\n",
            "  Sure: Ilex aquifolium, 97%\n",
            "answers",
            False,
        ),
        (
            "  Leaf 9%; if both are true, Acer 9%,\n  Ilex 1%.\n",
            "  Leaf 5%; if both are true, Acer 1%.\n",
            "answers",
            True,
        ),
        (
            "a.jpg  (scan)\n  Sure: Acer, 97%\n",
            "a.jpg  (photo)\n  Sure: Acer, 97%\n",
            "answers",
            False,
        ),
        (
            "  1   98.8%  Acer opalus  Maple\n",
            "  1  >99.9%  Acer opalus  Maple\n",
            "answers",
            True,
        ),
        (
            "  1   98.8%  Acer opalus  Maple\n",
            "  1   98.8%  Tilia cordata  Lime\n",
            "answers",
            False,
        ),
        (
            "  2   <0.1%  Acer opalus  Maple\n",
            "  2    1.2%  Platanus x hispanica\n",
            "answers",
            True,
        ),
        ("  2   <0.1%  Acer opalus  Maple\n", "", "answers", False),
        (
            "  2   <0.1%  Acer opalus  Maple\n",
            "  2   Acer opalus  Maple\n",
            "answers",
            False,
        ),
        (
            "Unknown: the most similar is Acer\n",
            "Unknown: the most similar is Tilia x europaea\n",
            "answers",
            True,
        ),
        (
            "  shape  5%   Acer 9%, Tilia 1%, Ilex 1%\n",
            "  shape  12%  Acer 9%, Fagus sylvatica 1%\n",
            "answers",
            True,
        ),
        (
            "  shape  5%   Acer 9%, Tilia 1%\n",
            "  shape  5%   Tilia 9%, Acer 1%\n",
            "answers",
            False,
        ),
        ("teeth 5,\n  1.0% high\n", "teeth 16, 10%\n  high\n", "answers", True),
        (
            _TRAITS.format("Tilia"),
            _TRAITS.format("Platanus x hispanica") + "  petiole  1    2     3    4\n",
            "answers",
            True,
        ),
        (
            _TRAITS.format("Tilia"),
            _TRAITS.format("Tilia") + "  petiole  1  2\n",
            "answers",
            False,
        ),
    ],
)
def test_outputs_are_compared_as_the_comment_says(first, second, how, same):
    assert (comparable(first, how) == comparable(second, how)) is same
