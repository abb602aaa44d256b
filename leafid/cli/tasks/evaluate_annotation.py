"""Score run files of the ImageCLEF 2016 annotation task.

The ground truth decides the subtask. It has the format of runs ('leafid
check-annotation --help' shows it), with one line per human description in subtasks 2
and 3. Scores: 1: mean average precision of localised concepts; 2: METEOR; 3: F1 of the
selection; 4: recall at k, the share of a document's pictures found, and success at k,
the share of documents with a picture found; 5: great circle distance. A picture or
document that a run lacks counts as the worst answer. METEOR needs Java and 'pip install
pycocoevalcap'.

examples:
  leafid evaluate-annotation truth1.txt mine.txt yours.txt
  leafid evaluate-annotation --by-concept --table 2 --format csv truth1.txt mine.txt
  leafid evaluate-annotation --pictures all-ids.txt truth4.txt mine.txt
"""

from dataclasses import replace
from pathlib import Path

from leafid.cli.arguments import TableOptions, positional, switch
from leafid.cli.outputs import Console, print_tables
from leafid.cli.tasks.check_annotation import KnownOptions
from leafid.errors import UsageError
from leafid.scoring.tables import Rows, Table
from leafid.tasks.annotation2016.files import Subtask, read_annotations
from leafid.tasks.annotation2016.scoring import score_annotation


class Options(KnownOptions, TableOptions):
    truth: str = positional("GROUND-TRUTH", "a file in the format of runs")
    runs: list[str] = positional("RUN", "run files", nargs="+")
    by_picture: bool = switch(
        "subtasks 2 to 5: show the scores of every picture or document"
    )
    by_concept: bool = switch("subtask 1: show the precision of every concept")


def run(options: Options, console: Console) -> None:
    names = options.read()
    truth = read_annotations(options.truth, names, is_truth=True)
    if options.by_picture if truth.subtask is Subtask.CONCEPTS else options.by_concept:
        raise UsageError(
            "--by-concept is for subtask 1, --by-picture for the others, found "
            f"subtask {truth.subtask}"
        )
    if names.ids is None:
        names = replace(names, ids=frozenset(truth.results))
    kind = "id"
    title = "scores by picture or document"
    if options.by_concept:
        kind = "concept"
        title = "average precision by concept and overlap"
    rows: Rows = []
    details: list[Table] = []
    for path in options.runs:
        answers = read_annotations(path, names, subtask=truth.subtask)
        if missing := len(truth.results.keys() - answers.results.keys()):
            share = f"{missing} of {len(truth.results)} pictures or documents"
            console.warn(f"{path}: lacks {share}; each counts as the worst answer")
        scores, values = score_annotation(truth, answers)
        run = Path(path).name
        rows.append([run, *scores.values()])
        columns = [kind, *next(iter(values.values()))]
        cells: Rows = [[name, *numbers.values()] for name, numbers in values.items()]
        details.append(Table(f"{run}: {title}", columns, cells))
    notes = [f"{len(truth.results)} pictures or documents"]
    tables = [Table("Scores", ["run", *scores], rows, notes)]
    if options.by_picture or options.by_concept:
        tables += details
    print_tables(tables, options, console)
