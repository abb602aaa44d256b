"""Print a script with which a shell completes commands, options and files.

Put the script where the shell looks for it, and start a new shell.

examples:
  leafid completion bash > ~/.local/share/bash-completion/completions/leafid
  leafid completion zsh > ~/.zfunc/_leafid
"""

import argparse

from leafid.console.environment import Environment
from leafid.console.parser import Parser
from leafid.errors import LeafidError

_SHELLS = ("bash", "zsh", "tcsh")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    from leafid.cli.main import COMMANDS, configure_parser

    try:
        import shtab
    except ImportError:
        raise LeafidError("completion needs the package shtab, found none; 'pip install shtab' gets it") from None
    whole = Parser(prog="leafid")
    commands = whole.add_subparsers(parser_class=Parser)
    for name, summary in COMMANDS.items():
        parser = commands.add_parser(name, help=summary)
        configure_parser(parser, name)
        for action in parser._actions:
            if action.nargs != 0 and action.choices is None and action.metavar not in {"N", "K", "K,…"}:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # the attribute is shtab's own
    environment.stdout.write(shtab.complete(whole, arguments.shell))
    return 0
