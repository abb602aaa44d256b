"""Check a run file and list the first 20 problems with their lines, and how many more there are.

Without --against only the file itself is checked: its format, ranks, scores, repeated species. With a collection or
ground truth (a folder of XML, a …GroundTruth.txt) its pictures and species have to be those of the collection.

The exit status is 1 when anything is wrong.

examples:
  leafid check run.txt
  leafid check run.txt --against imageclef2011/Test
"""

from leafid.cli.arguments import ReadingOptions, option, positional
from leafid.cli.outputs import Environment
from leafid.errors import ProblemsError, UsageError
from leafid.grouping import count_noun
from leafid.scoring.run_reading import read_run
from leafid.scoring.truth import read_known_names


class Options(ReadingOptions):
    run: str = positional("RUN", "run file")
    against: str | None = option(
        "the collection or ground truth whose pictures and species the run may name", metavar="COLLECTION"
    )


def run(options: Options, environment: Environment) -> int:
    reading = options.as_keywords()
    if any(reading.values()) and not options.against:
        raise UsageError("expected --against with options of reading a collection")
    known = read_known_names(options.against, **reading) if options.against else None
    try:
        checked = read_run(options.run, known)
    except ProblemsError as error:
        environment.print(str(error))
        return 1
    if known is not None and (n_missing := len(known.pictures - set(checked.pictures))):
        environment.warn(f"{options.run}: {n_missing} of {len(known.pictures)} pictures are missing")
    environment.print(f"ok: {count_noun(len(checked.pictures), 'picture')}, {count_noun(len(checked), 'prediction')}")
    return 0
