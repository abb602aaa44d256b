"""Checks runs, and writes them in another format."""

import logging
from collections.abc import Mapping
from typing import Literal

from leafid.checking import check_arguments
from leafid.errors import ProblemsError, UsageError
from leafid.files import StrPath, open_output
from leafid.pictures.columns import Labelled, are_all, is_path, to_pictures
from leafid.scoring.reading.inputs import RunLike, to_runs
from leafid.scoring.reading.run_formats import WRITERS
from leafid.scoring.reading.runs import KnownNames, Run
from leafid.scoring.reading.truth import collect_known_names
from leafid.scoring.reading.truth_reading import read_known_names

logger = logging.getLogger(__name__)


@check_arguments
def check(run: RunLike, against: Labelled | None = None) -> list[str]:
    """Check a run, as ``leafid check`` does.

    Parameters
    ----------
    run : path-like, or a run as in `evaluate`
    against : as `truth` in `evaluate`, optional
        The collection or ground truth whose pictures, and some of whose species, the
        run has to name. A warning counts the pictures that the run lacks.

    Returns
    -------
    list of str
        A line for each of the first 20 problems, and one for the others; none if the
        run is correct.

    Raises
    ------
    LeafidError
        When there is no such file, or something is wrong with `against`.
    """
    known = _find_known_names(against)
    try:
        check_run(run, known)
    except ProblemsError as error:
        return [*error.problems]
    return []


@check_arguments
def convert(
    run: RunLike,
    output: StrPath,
    form: Literal["run", "csv", "trec"] = "run",
    *,
    against: Labelled | None = None,
) -> None:
    """Check a run, and write it as a file, as ``leafid check --to`` does.

    Parameters
    ----------
    run, against
        As in `check`.
    output : path-like
        The file to write.
    form : {"run", "csv", "trec"}, default "run"
        The format: the run file of 2011, a CSV table, or TREC's.

    Raises
    ------
    ProblemsError
        When something is wrong with the run.
    LeafidError
        When a file can't be read or written.
    """
    write_run(check_run(run, _find_known_names(against)), output, form)


def _find_known_names(against: Labelled | None) -> KnownNames | None:
    if against is None:
        return None
    if is_path(against):
        return read_known_names(against)
    return collect_known_names(to_pictures(against, "against"))


def check_run(run: RunLike, known: KnownNames | None) -> Run:
    """Make a run of what a caller has.

    A `ProblemsError` has what is wrong with it; a warning counts missing pictures.
    """
    if isinstance(run, Mapping) and are_all([*run.values()], is_path):
        # Names of species, rather than paths of several runs.
        run = {"run": run}
    runs = to_runs(run, known)
    if len(runs) > 1:
        raise UsageError(f"run: expected one, found {len(runs)}")
    checked = runs[0]
    if known and (n_missing := len(known.pictures - {*checked.pictures})):
        logger.warning(
            "%s: %d of %d pictures are missing",
            checked.name,
            n_missing,
            len(known.pictures),
        )
    return checked


def write_run(run: Run, output: StrPath, form: str) -> None:
    """Write a run to a file in one of the formats of `WRITERS`."""
    with open_output(output) as stream:
        WRITERS[form](run, stream)
