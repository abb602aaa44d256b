"""Scores and compares runs from Python: of any system, from files or from objects."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from numbers import Real
from typing import Any, Literal

from leafid.checking import PositiveInt, Seed, check_arguments
from leafid.errors import (
    InputError,
    UsageError,
    naming_what_to_install,
)
from leafid.files import StrPath, open_output, write_files
from leafid.grouping import count_noun
from leafid.pictures.columns import (
    Labelled,
    TypeName,
    list_values,
)
from leafid.scoring.answers import make_confusion_table, make_picture_score_table
from leafid.scoring.judging import JudgedRun, judge_runs, warn_of_families
from leafid.scoring.metrics import (
    OPEN_WORLD_METRICS,
    SET_METRICS,
    find_metrics,
)
from leafid.scoring.official import format_official_files
from leafid.scoring.plants import make_plant_table
from leafid.scoring.reading.inputs import RunLike, to_ground_truth, to_runs
from leafid.scoring.reading.run_formats import write_qrels
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.score_table import (
    GROUPS,
    Intervals,
    ScoreOptions,
    make_group_table,
)
from leafid.scoring.sets import make_average_table
from leafid.scoring.tables import FORMATS, Table, render

TruthLike = Labelled | GroundTruth
RunsLike = RunLike | Sequence[StrPath | Run] | Mapping[str, RunLike]
Part = Literal["train", "val", "test"]
#: What the rows of a table may be.
ROWS = ("type", *GROUPS, "picture", "confusion")
logger = logging.getLogger(__name__)


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

    @property
    def all_tables(self) -> list[Table]:
        """The table and the further ones, as commands print them."""
        return [self.table, *(records.table for records in self.tables.values())]

    def render(self, form: str = "text", digits: int = 3) -> str:
        """Write the table as the command does.

        Parameters
        ----------
        form : {"text", "latex", "markdown", "csv", "json"}, default "text"
        digits : int, default 3
            Number of decimals of scores in text, LaTeX and Markdown, from 1.

        Returns
        -------
        str

        Raises
        ------
        InputError
            When there is no such form, or `digits` is no such number.
        """
        if form not in FORMATS or type(digits) is not int or digits < 1:
            raise InputError(
                f"expected one of {', '.join(FORMATS)} and digits from 1, found "
                f"{form!r} and {digits!r}"
            )
        return render([self.table], form, digits)

    def to_frame(self) -> Any:
        """Make a `pandas.DataFrame`, for which pandas has to be installed."""
        with naming_what_to_install():
            return import_module("pandas").DataFrame(list(self))


@check_arguments
def evaluate(
    truth: TruthLike,
    runs: RunsLike,
    metrics: Iterable[str] | None = None,
    *,
    by: str | Iterable[str] = "type",
    intervals: Intervals = "none",
    bootstrap: Bootstrap | None = None,
    part: Part | None = None,
    only_type: TypeName | None = None,
    taxonomy: Labelled | None = None,
    official: bool = False,
    leave_out_missing: bool = False,
    sets: bool = False,
    average: float | Iterable[float] = (),
    validation: RunsLike | None = None,
    plants: bool = False,
    qrels: StrPath | None = None,
    output: StrPath | None = None,
) -> Records:
    """Score runs of the plant task, as ``leafid evaluate`` does.

    Parameters
    ----------
    truth : path-like, Collection, iterable of Picture, mapping or data frame
        A folder of XML, a collection, a table or a ``…GroundTruth.txt``, as a path or
        as `leafid.read_collection` reads it; or the species of each picture by its
        name; or, as a mapping or a data frame, the columns of a table.
    runs : path-like, a run, a sequence of path-like, or a mapping of these by name
        A run is one of `leafid.crossval`, a mapping of pictures to rankings, a tuple
        (scores, pictures, species) of float (n, n_species) and names, or a data frame
        of scores. A ranking is a mapping of species to scores (equal ones are taken in
        the order of the names), a list of species, or of (species, score), the best
        first, or a single species. A picture that a run lacks, or whose ranking is
        empty, counts 0.
    metrics : str or several, optional
        By default S, top-1 and top-5; names that ``leafid evaluate --list`` lists.
    by : str or several, default "type"
        What the rows are: "type", "species", "genus", "family", "author", "plant",
        "picture", or "confusion" (which species were taken for which). By type there
        are two more: "mean of types" and "all pictures". Of several, each further one
        is a table by its name.
    intervals : {"none", "bounds", "error"}, default "none"
        Adds the ends of an interval, as "S low" and "S high", or a standard error, as
        "S error", to every score that is a mean over pictures.
    bootstrap : Bootstrap, optional
        How often plants are resampled, and for which confidence; by default as in the
        command.
    part : {"train", "val", "test"}, optional
        The part to score; by default the test part if it has labels, else all.
    only_type : {"scan", "scan-like", "photo"}, optional
        Score only pictures of this type.
    taxonomy : as `truth`, optional
        A collection with more species that the runs may name, and their families.
    official : bool, default False
        Reproduce the official scorer: pictures that a run lacks are left out, the last
        of several lines of one rank counts, species may be repeated, ranks may have
        gaps.
    leave_out_missing : bool, default False
        Leave the pictures that a run lacks out of its means, as the official scorer
        does.
    sets : bool, default False
        Score the runs as set-valued predictions as well: the table "sets".
    average : float or several, optional
        Score the sets that a run's scores form above a threshold that gives this number
        of species on average: the table "average".
    validation : as `runs`, optional
        With `average`, the runs on validation pictures that the thresholds are fitted
        on, one for each run, of the same name or in the same order; by default the runs
        that are scored.
    plants : bool, default False
        Score plants that are identified from several pictures: the table "plants".
    qrels : path-like, optional
        The file to write the ground truth to as qrels of TREC, which trec_eval reads.
    output : path-like, optional
        The folder to write the files of the official scorer to.

    Returns
    -------
    list of dict
        A record for each group and run, with the group's name under `by`, "run",
        "pictures", "missing", "left out", "plants", and each metric by its name (NaN
        where there is none). Of several runs also the "letter" of each and, by type and
        metric such as "S": whether it is the "S best", the letters of runs that it is
        "S better than", "S p a" as the corrected p of the difference from run a, and
        the "S smallest difference" that the plants show. It can be written with
        `render`. Its `tables` has the further tables by their names; "open world" is
        there if some pictures are of ``Unknown species``.

    Raises
    ------
    LeafidError
        When there is no such metric or group, nothing to score against, or something is
        wrong with a run or value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from leafid.pictures.picture import Picture, Taxon
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
    groups = list_values("by", by, str)
    if not groups:
        raise UsageError("by: expected at least one group, found none")
    for group in groups:
        if group not in ROWS:
            raise UsageError(f"expected a group ({', '.join(ROWS)}), found {group!r}")
    sizes = list_values("average", average, Real)
    if not all(0 < size < math.inf for size in sizes):
        raise InputError(f"average: expected numbers above 0, found {sizes}")
    options = make_options(metrics, intervals, bootstrap, official or leave_out_missing)
    full_truth = to_ground_truth(
        truth, part=part, only_type=only_type, taxonomy=taxonomy
    )
    answers, judged = read_and_judge(
        runs,
        full_truth,
        official=official,
        leave_out_missing=options.leave_out_missing,
    )
    fitted = [] if validation is None else to_runs(validation, None)
    if fitted and not (sizes and len(fitted) == len(answers)):
        raise UsageError(
            "expected --average, and --validation once for each run, found "
            f"{count_noun(len(fitted), 'validation run')} for "
            f"{count_noun(len(answers), 'run')}"
        )
    by_name = {run.name: run for run in fitted}
    if by_name.keys() == {run.name for run in answers}:
        fitted = [by_name[run.name] for run in answers]
    names = [metric.name for metric in options.metrics]
    if "S-family" in names or output is not None:
        warn_of_families(judged)
    known = full_truth.select_known()
    tables = {
        group: _make_table(group, full_truth, judged, options)
        for group in dict.fromkeys(groups)
    }
    if sets:
        set_options = options.with_metrics(SET_METRICS)
        tables["sets"] = make_group_table(full_truth, judged, set_options, title="Sets")
    if n_unknown := len(full_truth) - len(known):
        pictures = count_noun(n_unknown, "picture")
        logger.info("in the open world: %s of unknown species", pictures)
        open_world = options.with_metrics(OPEN_WORLD_METRICS)
        tables["open world"] = make_group_table(
            full_truth, judged, open_world, title="Open world"
        )
    if sizes:
        tables["average"] = make_average_table(known, answers, sizes, fitted)
    if plants:
        tables["plants"] = make_plant_table(answers, known)
    if qrels is not None:
        with open_output(qrels) as stream:
            write_qrels(known.pictures, known.species, stream)
    if output is not None:
        files = format_official_files(
            known,
            [run.select(run.is_known) for run in judged],
            leave_out_missing=options.leave_out_missing,
        )
        write_files(output, files)
        logger.info("%s written to %s", count_noun(len(files), "file"), output)
    return Records(tables.pop(groups[0]), tables)


def _make_table(
    rows: str, truth: GroundTruth, runs: Sequence[JudgedRun], options: ScoreOptions
) -> Table:
    if rows == "picture":
        return make_picture_score_table(truth, runs, options)
    if rows == "confusion":
        return make_confusion_table(truth, runs)
    return make_group_table(truth, runs, options, rows)


def make_options(
    metrics: Iterable[str] | None,
    intervals: Intervals = "none",
    bootstrap: Bootstrap | None = None,
    leave_out_missing: bool = False,
) -> ScoreOptions:
    """Make options of arguments, or say what is wrong by a `UsageError`."""
    bootstrap = bootstrap or Bootstrap()
    _check_bootstrap(**asdict(bootstrap))
    names = None
    if metrics is not None:
        names = list_values("metrics", metrics, str)
    return ScoreOptions(
        metrics=find_metrics(names),
        intervals=intervals,
        bootstrap=bootstrap,
        leave_out_missing=leave_out_missing,
    )


@check_arguments
def _check_bootstrap(resamples: PositiveInt, confidence: float, seed: Seed) -> None:
    if not 0 < confidence < 1:
        raise InputError(
            f"confidence: expected a number between 0 and 1, found {confidence}"
        )


def read_and_judge(
    runs: RunsLike,
    truth: GroundTruth,
    *,
    official: bool = False,
    leave_out_missing: bool = False,
) -> tuple[list[Run], list[JudgedRun]]:
    """Make runs of what a caller has, and judge them."""
    answers = to_runs(runs, truth.known, official=official)
    return answers, judge_runs(answers, truth, leave_out_missing=leave_out_missing)
