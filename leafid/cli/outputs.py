"""Output of commands: tables, text, and checks that no input is overwritten."""

import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from leafid.cli.arguments import TableOptions
from leafid.cli.environment import Environment
from leafid.errors import UsageError
from leafid.files import check_writable, open_output, resolve_symlink
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.scoring.tables import Table, choose_tables, render


def print_tables(tables: Sequence[Table], options: TableOptions, environment: Environment, digits: int = 4) -> None:
    chosen = choose_tables(tables, options.format, options.table)
    environment.stdout.write(render(chosen, options.format, digits))


def open_text(path: str | None, environment: Environment) -> AbstractContextManager[IO[str]]:
    """Open a text file, which appears when it is complete, or stdout without a path."""
    return open_output(path) if path else nullcontext(environment.stdout)


def check_output(output: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Check before the work that an output can be written, isn't named like a picture, and overwrites no input."""
    target = resolve_symlink(output)
    # `leafid predict --output garden/*.jpg` would overwrite its first picture.
    if target.suffix.lower() in PICTURE_ENDINGS:
        raise UsageError(f"--output {output}: expected a name without the ending of a picture, found {target.suffix}")
    if target.is_file() and any(Path(path).exists() and target.samefile(path) for path in inputs):
        raise UsageError(f"--output {output}: expected a file of its own, found one that is read; name another")
    check_writable(output)
