"""Scores and compares runs from Python: of any system, from files or from objects."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from leafid.errors import InputError, UsageError, naming_what_to_install
from leafid.files import StrPath
from leafid.pictures.picture import Collection, Picture
from leafid.scoring.answers import make_picture_score_table
from leafid.scoring.judging import JudgedRun, judge_runs
from leafid.scoring.metrics import DEFAULT_METRICS, find_metrics
from leafid.scoring.reading.inputs import (
    Rankings,
    list_values,
    to_ground_truth,
    to_runs,
)
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.score_table import (
    GROUPS,
    Intervals,
    ScoreOptions,
    make_comparison_table,
    make_group_table,
    make_groups,
)
from leafid.scoring.tables import FORMATS, Table, render

#: A `pandas.DataFrame`.
Frame = Any
Truth = StrPath | Collection | Iterable[Picture] | Mapping[str, str] | Frame
Scores = tuple[ArrayLike, Sequence[str], Sequence[str]] | Frame
RunsLike = (
    StrPath
    | Rankings
    | Scores
    | Sequence[StrPath]
    | Mapping[str, StrPath | Rankings | Scores]
)


class Records(list[dict[str, Any]]):
    """The rows of a table as dictionaries, to be written, or made a data frame.

    Attributes
    ----------
    table : Table
    tables : dict of str to Records
        Further tables, by their names.
    """

    def __init__(
        self, table: Table, further: Mapping[str, Table] | None = None
    ) -> None:
        super().__init__(table.to_records())
        self.table = table
        self.tables = {name: Records(table) for name, table in (further or {}).items()}

    @property
    def differences(self) -> "Records | None":
        """The differences between runs, where they were tested as well."""
        return self.tables.get("differences")

    def render(self, form: str = "text", digits: int = 3) -> str:
        """Write the table as the command does.

        Parameters
        ----------
        form : {"text", "latex", "csv", "json"}, default "text"
        digits : int, default 3
            Number of decimals of scores in text and LaTeX, from 1.

        Returns
        -------
        str

        Raises
        ------
        InputError
            When there is no such form, or `digits` is no such number.
        """
        if form not in FORMATS or not isinstance(digits, int) or digits < 1:
            raise InputError(
                f"expected one of {', '.join(FORMATS)} and digits from 1, found "
                f"{form!r} and {digits!r}"
            )
        return render([self.table], form, digits)

    def to_frame(self) -> Any:
        """Make a `pandas.DataFrame`, for which pandas has to be installed."""
        with naming_what_to_install():
            return import_module("pandas").DataFrame(list(self))


def evaluate(
    truth: Truth,
    runs: RunsLike,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    by: str = "type",
    intervals: Intervals = "none",
    bootstrap: Bootstrap | None = None,
    leave_out_missing: bool = False,
    per_picture: bool = False,
) -> Records:
    """Score runs of the plant task, as ``leafid evaluate`` does.

    Parameters
    ----------
    truth : path-like, Collection, iterable of Picture, mapping or data frame
        A folder of XML, a collection, a table or a ``…GroundTruth.txt``, as a path or
        as `leafid.read_collection` reads it; or the species of each picture by its
        name; or a data frame with the columns of a table.
    runs : path-like, a run, a sequence of path-like, or a mapping of these by name
        A run is a mapping of pictures to rankings, a tuple (scores, pictures, species)
        of float (n, n_species) and names, or a data frame of scores. A ranking is a
        mapping of species to scores (equal ones are taken in the order of the names), a
        list of species, or of (species, score), the best first, or a single species. A
        picture that a run lacks, or whose ranking is empty, counts 0.
    metrics : sequence of str, or one
        Names that ``leafid evaluate --list`` lists.
    by : {"type", "species", "genus", "family", "author", "plant"}, default "type"
        What the rows are. By type there are two more: "mean of types" and "all
        pictures".
    intervals : {"none", "bounds", "error"}, default "none"
        Adds the ends of an interval, as "S low" and "S high", or a standard error, as
        "S error", to every score that is a mean over pictures.
    bootstrap : Bootstrap, optional
        How often plants are resampled, and for which confidence; by default as in the
        command.
    leave_out_missing : bool, default False
        Leave the pictures that a run lacks out of its means, as the official scorer
        does.
    per_picture : bool, default False
        Return the scores of each picture instead: a record for each run and picture.

    Returns
    -------
    list of dict
        A record for each group and run, with the group's name under `by`, "run",
        "pictures", "missing", "left out", "plants", and each metric by its name (NaN
        where there is none). It can be written with `render`.

    Raises
    ------
    LeafidError
        When there is no such metric or group, nothing to score against, or something is
        wrong with a run or value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from leafid.pictures.picture import Taxon
    >>> maple = Picture(Path("1.jpg"), taxon=Taxon("Acer opalus"))
    >>> oak = Picture(Path("2.jpg"), taxon=Taxon("Quercus ilex"))
    >>> pictures = [maple, oak]
    >>> run = dict.fromkeys(["1.jpg", "2.jpg"], ["Acer opalus", "Quercus ilex"])
    >>> print(evaluate(pictures, run, ["top-1", "mrr"]).render(), end="")
    Scores by acquisition type
    type          run  pictures  top-1  mrr
    ------------  ---  --------  -----  ----
    all pictures  run         2  .500   .750
    """
    if by not in ("type", *GROUPS):
        raise UsageError(
            f"expected a group ({', '.join(('type', *GROUPS))}), found {by!r}"
        )
    if not isinstance(leave_out_missing, bool):
        raise InputError(
            f"leave_out_missing: expected True or False, found {leave_out_missing!r}"
        )
    options = make_options(metrics, intervals, bootstrap, leave_out_missing)
    ground_truth, judged = _judge(truth, runs, options.needs_families)
    if per_picture:
        return Records(make_picture_score_table(ground_truth, judged, options))
    return Records(make_group_table(ground_truth, judged, options, by))


def compare(
    truth: Truth,
    runs: RunsLike,
    metrics: Sequence[str] = ("S",),
    *,
    bootstrap: Bootstrap | None = None,
) -> Records:
    """Test whether runs differ, each with every other, as ``leafid compare`` does.

    Parameters
    ----------
    truth, runs, metrics, bootstrap
        As in `evaluate`, with at least two runs.

    Returns
    -------
    list of dict
        A record for each acquisition type (and their mean, and all pictures), metric
        and pair of runs: "A" and "B" are their scores, "A - B" the difference, "p" its
        two-sided probability by paired randomisation over plants if both were equally
        good, "p (Holm)" the same corrected for the number of pairs.

    Raises
    ------
    UsageError
        When there is one run only, or no such metric.
    LeafidError
        When something is wrong with the ground truth or a run.
    """
    options = make_options(metrics, bootstrap=bootstrap)
    ground_truth, judged = _judge(truth, runs, False)
    if len(judged) < 2:
        raise UsageError("expected at least two runs to compare, found one")
    groups = make_groups(ground_truth, [[run] for run in judged])
    return Records(make_comparison_table("type", groups, options))


def make_options(
    metrics: Any,
    intervals: Any = "none",
    bootstrap: Any = None,
    leave_out_missing: bool = False,
) -> ScoreOptions:
    """Check what a caller asks for.

    An `InputError` or a `UsageError` says what is wrong.
    """
    checked = find_metrics(list_values("metrics", metrics, str))
    if str(intervals) not in ("none", "bounds", "error"):
        raise InputError(
            f"intervals: expected 'none', 'bounds' or 'error', found {intervals!r}"
        )
    if not isinstance(bootstrap, Bootstrap | None):
        raise InputError(f"bootstrap: expected a Bootstrap, found {bootstrap!r}")
    return ScoreOptions(
        metrics=checked,
        intervals=intervals,
        bootstrap=bootstrap or Bootstrap(),
        leave_out_missing=leave_out_missing,
    )


def _judge(
    truth: Any, runs: Any, needs_families: bool
) -> tuple[GroundTruth, list[JudgedRun]]:
    ground_truth = to_ground_truth(truth)
    answers = to_runs(runs, ground_truth)
    judged = judge_runs(answers, ground_truth)
    if needs_families:
        ground_truth.warn_of_families(answers)
    return ground_truth, judged
