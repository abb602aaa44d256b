"""The files of a report on runs, and ``leafid.report``, which writes them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leafid.checking import PositiveInt, check_arguments
from leafid.files import StrPath, write_files
from leafid.pages.report_page import make_report
from leafid.pictures.columns import Labelled, TypeName, is_path, to_pictures
from leafid.pictures.reading import read_collection
from leafid.scoring.evaluation import (
    Part,
    RunsLike,
    TruthLike,
    make_options,
    read_and_judge,
)
from leafid.scoring.reading.inputs import to_ground_truth
from leafid.scoring.reading.truth_reading import find_collection
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.score_table import Intervals
from leafid.scoring.tables import render

#: The name of the page.
FILE_NAME = "report.html"


@check_arguments
def report(
    truth: TruthLike,
    runs: RunsLike,
    output: StrPath,
    *,
    title: str | None = None,
    pictures: Labelled | None = None,
    metrics: Iterable[str] | None = None,
    intervals: Intervals = "bounds",
    bootstrap: Bootstrap | None = None,
    part: Part | None = None,
    only_type: TypeName | None = None,
    digits: PositiveInt = 3,
    jobs: int = 1,
) -> Path:
    """Write a report on runs, as ``leafid report`` does.

    Parameters
    ----------
    truth, runs, metrics, intervals, bootstrap, part, only_type
        As in `leafid.evaluate`.
    output : path-like
        The folder to write the page and its tables to.
    title : str, optional
        What the page calls the ground truth, by default after its file.
    pictures : as `truth`, optional
        The pictures to show; by default the ground truth's.
    digits : int, default 3
        The number of decimals in LaTeX.
    jobs : int, default 1
        The number of worker processes, as in `leafid.train`.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    LeafidError
        When something is wrong with the ground truth or a run, or a file can't be
        written.
    """
    options = make_options(metrics, intervals, bootstrap)
    ground_truth = to_ground_truth(truth, part=part, only_type=only_type)
    answers, judged = read_and_judge(runs, ground_truth)
    shown: Any = truth if pictures is None else pictures
    if is_path(shown):
        shown = read_collection(find_collection(Path(shown)))
    path: Any = truth if is_path(truth) else "truth"
    page, tables, drawings = make_report(
        ground_truth,
        answers,
        judged,
        to_pictures(shown, "pictures"),
        source=title or Path(path).resolve().name,
        options=options,
        jobs=jobs,
    )
    files = {FILE_NAME: page}
    for name, table in tables.items():
        files[f"tables/{name}.csv"] = render([table], "csv")
        files[f"tables/{name}.tex"] = render([table], "latex", digits)
    files |= {f"tables/{name}.svg": svg for name, svg in drawings.items()}
    write_files(output, files)
    return Path(output, FILE_NAME)
