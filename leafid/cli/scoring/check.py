"""Check a run file and list its first 20 problems with their lines.

Without --against only the file itself is checked: its format, ranks, scores, repeated
species. With a collection or ground truth (a folder of XML, a …GroundTruth.txt, a CSV
table) its pictures have to be of the collection, and some of its species; a warning
counts other species. --to writes the run in another format: run (of 2011), csv or trec.

The exit status is 1 when anything is wrong.

examples:
  leafid check run.txt
  leafid check run.txt --against imageclef2011/Test
  leafid check scores.npz --against truth.csv --to run run.txt
"""

from leafid.cli.arguments import ReadingOptions, option, positional
from leafid.cli.outputs import Console, check_output
from leafid.errors import ProblemsError, UsageError
from leafid.grouping import count_noun
from leafid.scoring.reading.checking import check_run, write_run
from leafid.scoring.reading.run_formats import WRITERS
from leafid.scoring.reading.truth_reading import read_known_names


class Options(ReadingOptions):
    run: str = positional("RUN", "run file")
    against: str | None = option(
        "the collection or ground truth whose pictures, and some of whose species, the "
        "run has to name",
        metavar="COLLECTION",
    )
    to: list[str] | None = option(
        f"write the run in another format ({', '.join(WRITERS)}) to a file",
        nargs=2,
        metavar=("FORMAT", "OUT"),
    )


def run(options: Options, console: Console) -> int:
    reading = options.as_keywords()
    if any(reading.values()) and not options.against:
        raise UsageError("expected --against with options of reading a collection")
    form, output = options.to or ("run", None)
    if form not in WRITERS:
        raise UsageError(
            f"--to: expected a format ({', '.join(WRITERS)}), found {form!r}"
        )
    if output:
        check_output(output, [options.run, options.against], "--to")
    names = read_known_names(options.against, **reading) if options.against else None
    try:
        answers = check_run(options.run, names)
    except ProblemsError as error:
        console.print(str(error))
        return 1
    if output:
        write_run(answers, output, form)
    pictures = count_noun(len(answers.pictures), "picture")
    console.print(f"ok: {pictures}, {count_noun(len(answers), 'prediction')}")
    return 0
