"""The parser of a command's arguments: a short usage, and help in which the command's own options come first."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from leafid.cli.arguments import nonempty_word
from leafid.errors import UsageError

#: Headings of the help below a command's own options, with the options that belong there.
HEADINGS = {
    "sets of species": ("--sets", "--macro", "--average", "--validation", "--exclude-ties", "--training"),
    "reading the input": ("--layout", "--metadata", "--label-from", "--plants-from", "--part", "--xml"),
    "statistics": ("--intervals", "--confidence", "--resamples"),
    "computing": ("--seed", "--jobs", "--cluster", "--cache", "--no-cache", "--cache-limit"),
    "general": ("--help", "--debug"),
}
_HEADING_OF = {option: heading for heading, options in HEADINGS.items() for option in options}
_POSITION = {heading: position for position, heading in enumerate(HEADINGS, 1)}


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as one line that names the help, and accepts no empty words."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)
        self.register("type", None, nonempty_word)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise UsageError(f"{message}; see '{self.prog} --help'")

    def format_help(self) -> str:
        """Format the help, with optional arguments under headings and not in the usage."""
        self._action_groups.sort(key=lambda group: _POSITION.get(group.title or "", 0))
        formatter = self._get_formatter()
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter.add_usage(None, shown, [])
        usage = formatter.format_help().removeprefix("usage: ").strip()
        self.usage = usage.replace(self.prog, f"{self.prog} [options]", 1).replace("%", "%%")
        return super().format_help()

    def _add_action(self, action: argparse._ActionT) -> argparse._ActionT:
        heading = _HEADING_OF.get(action.option_strings[-1]) if action.option_strings else None
        if heading is None:
            return super()._add_action(action)
        group = next((group for group in self._action_groups if group.title == heading), None)
        return (group or self.add_argument_group(heading))._add_action(action)
