"""Hooks of MkDocs: pages made from the code, and pages of files that are not in docs/.

- The marker ``<!-- commands -->`` in a page becomes the reference of all commands, made
  from their parsers.
- The marker ``<!-- examples -->`` becomes the text of all examples.
- The marker ``<!-- measures -->`` becomes the table of ``leafid measure --list``.
- The marker ``<!-- api -->`` becomes the reference of the public names, which
  mkdocstrings makes from the docstrings.
- `INCLUDED` files are pages, too. Links between all pages work in the repository as
  well as in the site; a link to another file of the repository becomes plain text.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import leafid
from leafid.cli.arguments import Parser
from leafid.cli.main import COMMANDS, GROUPS
from leafid.descriptors.measures import list_measures

REPOSITORY = Path(__file__).parents[1]
#: Files outside docs/, with the page that each becomes.
INCLUDED = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "data/README.md": "data.md",
    "examples/README.md": "examples.md",
    "models/README.md": "models.md",
    "models/imageclef2011.md": "imageclef2011.md",
}
_LANGUAGES = {".py": "python", ".sh": "sh", ".toml": "toml"}
_LINK = re.compile(
    r"(!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)"
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of files outside docs/."""
    for source, page in INCLUDED.items():
        files.append(
            File.generated(
                config, page, content=(REPOSITORY / source).read_text(encoding="utf-8")
            )
        )
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Make the generated parts of a page, and point its links to pages of the site."""
    markdown = markdown.replace("<!-- commands -->\n", "".join(_describe_commands()))
    markdown = markdown.replace("<!-- examples -->\n", "".join(_show_examples()))
    markdown = markdown.replace("<!-- measures -->\n", "".join(_list_measures()))
    markdown = markdown.replace(
        "<!-- api -->\n", "".join(f"::: {name}\n\n" for name in _list_public_names())
    )
    paths = {page: source for source, page in INCLUDED.items()}
    source = PurePosixPath(paths.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def point_to_page(match: re.Match[str]) -> str:
        target = match["target"]
        if not target or ":" in target:
            return match[0]
        path = os.path.normpath(source.parent / target)
        goal = INCLUDED.get(
            path, path.removeprefix("docs/") if path.startswith("docs/") else None
        )
        if goal is None:
            return match["text"]
        relative = os.path.relpath(goal, PurePosixPath(page.file.src_uri).parent)
        return f"{match[1]}[{match['text']}]({relative}{match['anchor'] or ''})"

    return _LINK.sub(point_to_page, markdown)


def _show_examples() -> Iterator[str]:
    for file in sorted((REPOSITORY / "examples").glob("*.*")):
        if file.suffix in _LANGUAGES:
            content = file.read_text(encoding="utf-8")
            yield f"## {file.name}\n\n```{_LANGUAGES[file.suffix]}\n{content}```\n\n"


def _list_measures() -> Iterator[str]:
    yield "| measure | unit | what it is | source | depends on |\n"
    yield "|---|---|---|---|---|\n"
    for name, row in list_measures().items():
        yield f"| `{name}` | {' | '.join(row.values())} |\n"


def _list_public_names() -> Iterator[str]:
    for name in sorted(leafid.__all__, key=lambda name: (name[0].isupper(), name)):
        yield f"{getattr(leafid, name).__module__}.{name}"
    yield from (
        f"leafid.sklearn.{name}" for name in ("LeafDescriptor", "LeafClassifier")
    )


def _describe_commands() -> Iterator[str]:
    for group, commands in GROUPS.items():
        yield f"## {group.capitalize()}\n\n"
        for name in commands:
            yield from _describe_command(name)


def _describe_command(name: str) -> Iterator[str]:
    module = importlib.import_module(f"leafid.cli.{COMMANDS[name]}")
    parser = Parser(module.Options, prog=f"leafid {name}", description=module.__doc__)
    usage = parser.format_help().partition("\n\n")[0]
    text, _, examples = (parser.description or "").partition("examples:\n")
    yield f"### leafid {name}\n\n```text\n{usage}\n```\n\n"
    yield f"```text\n{text.strip()}\n```\n\n"
    if examples:
        lines = "".join(f"{line.strip()}\n" for line in examples.splitlines())
        yield f"Examples:\n\n```sh\n{lines}```\n\n"
    for group in parser._action_groups:
        actions = [
            action
            for action in group._group_actions
            if action.dest not in ("help", "debug")
        ]
        if actions:
            yield f"| {group.title} | |\n|---|---|\n"
            yield from (_describe_action(parser, action) for action in actions)
            yield "\n"


def _describe_action(parser: Parser, action: argparse.Action) -> str:
    formatter = parser._get_formatter()
    words = formatter._format_action_invocation(action)
    meaning = formatter._expand_help(action) if action.help else ""
    return "| `{}` | {} |\n".format(
        words.replace("|", "\\|"), meaning.replace("|", "\\|").replace("<", "&lt;")
    )
