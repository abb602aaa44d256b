"""Score run files against a ground truth with the plant task's metrics.

The ground truth is a folder of ImageCLEF XML, a collection in any layout, or a …GroundTruth.txt together with the
XML of its pictures. A picture that a run lacks counts 0, with a warning; a run with any error is refused.

S is the official score: the mean over authors of the mean over their plants of the mean over each plant's pictures.
inverse-rank is the same with 1 / rank of the correct species. Intervals are bootstrapped over plants, whoever
photographed them. --output writes all files of the official scorer. --list shows every metric.

--sets scores runs that name a set of species for each picture. --average makes such sets of a run with scores of all
species: those above a threshold, fitted on a run on validation pictures or, to compare systems at one mean size, on the
run itself. --reliability says how far the scores of first species, taken for probabilities, agree with how often these
are correct. --plants multiplies the scores of several pictures of a plant.

Pictures whose species is 'Unknown species' in the ground truth are left out of all other scores, and a table says how
well each run tells them from the others by a picture's highest score.

examples:
  leafid evaluate imageclef2011/TestXmlWithGroundTruth run.txt
  leafid evaluate imageclef2011/testGroundTruth.txt a.txt b.txt --output scores
  leafid evaluate collection run.txt --by species --table 2 --format csv > species.csv
  leafid evaluate PlantNet-300K run.txt --part test --macro --average 1,2,3,5,10 --validation run-on-val.txt
  leafid evaluate --list
"""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from textwrap import fill

from leafid.cli.arguments import (
    IntervalOptions,
    TableOptions,
    number_type,
    option,
    positional,
    positive_ints,
    switch,
)
from leafid.cli.environment import Environment
from leafid.cli.outputs import check_output_file, print_tables, refuse_inputs
from leafid.cli.scoring.common import (
    TruthOptions,
    check_names_differ,
    load_ground_truth,
    load_judged_runs,
)
from leafid.errors import LeafidError, UsageError
from leafid.files import write_text
from leafid.grouping import count_noun, group_by
from leafid.pictures import read_and_warn
from leafid.scoring import calibration, open_world, plants, sets
from leafid.scoring.calibration import collect_first_species
from leafid.scoring.official import ALL_RUNS, MEAN_OF_RUNS, SCORES, format_official_files
from leafid.scoring.open_world import score_open_world
from leafid.scoring.plant_task import GROUPS, ScoreOptions, list_plant_metrics, make_score_table
from leafid.scoring.plants import collect_run_plants
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.run_reading import read_run
from leafid.scoring.sets import score_average_k
from leafid.scoring.tables import Table, read_metrics
from leafid.scoring.truth import GroundTruth

_parse_size = number_type("a mean size above 0", lambda size: size > 0)


def _parse_sizes(word: str) -> list[float]:
    return [_parse_size(size) for size in word.split(",")]


class Options(TruthOptions, IntervalOptions, TableOptions):
    """The options of evaluate."""

    truth: str = positional("GROUND-TRUTH", "folder of XML, collection, or …GroundTruth.txt", nargs="?")
    runs: list[str] = positional("RUN", "run file", nargs="*")
    output: str | None = option("write the official scorer's files there", metavar="DIR")
    official: bool = switch(
        "reproduce the official scorer: missing pictures are left out of the means, the last of several lines "
        "of one rank counts, unknown species are wrong answers"
    )
    top: list[int] = option("top-K accuracies (default: 1,5)", metavar="K,…", type=positive_ints, default=[1, 5])
    by: list[str] = option("score groups of pictures as well", choices=GROUPS, action="append", default=[])
    reliability: bool = switch("score how reliable probabilities are as well")
    plants: bool = switch("score plants identified from several pictures as well")
    sets: bool = switch("score the runs as set-valued predictions as well")
    macro: bool = switch("average the top-K accuracies over the species as well, each counting the same")
    average: list[float] = option(
        "score the sets that the run's scores form above a threshold, K species on average",
        metavar="K,…",
        type=_parse_sizes,
        default=[],
    )
    validation: list[str] = option(
        "with --average: the run on validation pictures that the threshold is fitted on; once for each run "
        "(default: the run that is scored)",
        metavar="RUN",
        action="append",
        default=[],
    )
    exclude_ties: bool = switch(
        "with --average: leave out scores equal to the threshold where the sets would exceed K on average"
    )
    training: str | None = option(
        "with --sets or --macro: count each species' training pictures there, for the bins", metavar="COLLECTION"
    )
    intervals: str = option("scores to show intervals of (default: S)", choices=("S", "all", "none"), default="S")
    list: bool = switch("list every metric by the command that prints it")


def run(options: Options, environment: Environment) -> int:
    if options.list:
        print_tables(_list_metrics(options.format), options, environment)
        return 0
    if not options.runs:
        raise UsageError("expected a ground truth and at least one run; see 'leafid evaluate --help'")
    _check_options(options)
    check_names_differ(options.runs)
    if options.output:
        _check_files(options.runs, options.output)
    full_truth = load_ground_truth(options)
    truth, n_unknown = full_truth.split_known()
    if truth is None:
        raise LeafidError(f"{options.truth}: expected pictures of known species, found {n_unknown} unknown ones only")
    if n_unknown:
        environment.note(f"{options.truth}: {n_unknown} pictures of unknown species count in the last table only")
    runs = load_judged_runs(options.runs, truth, environment, official=options.official)
    style = ScoreOptions(
        list_plant_metrics(options.top),
        options.official,
        Bootstrap(options.resamples, options.confidence, options.seed),
    )
    tables = [
        make_score_table(truth, runs, style, by, options.intervals) for by in dict.fromkeys(["type", *options.by])
    ]
    training_pictures = _count_training_pictures(options.training, truth, environment)
    if options.macro:
        tables += sets.make_macro_tables(truth, runs, options.top, training_pictures)
    if options.sets:
        tables += sets.make_set_tables(truth, runs, training_pictures)
    if options.average:
        tables.append(_make_average_table(options, truth, environment))
    tables += _make_probability_tables(options, truth, full_truth)
    print_tables(tables, options, environment)
    if options.output:
        folder = Path(options.output)
        files = format_official_files(truth, runs, leave_out_missing=options.official)
        for name in files:
            refuse_inputs(folder / name, [options.truth, *options.runs, *options.validation])
        for name, text in files.items():
            write_text(folder / name, text)
        environment.note(f"{len(files)} files written to {folder}")
    return 0


def _list_metrics(form: str) -> list[Table]:
    """Tabulate all metrics; for reading, a table for each command that prints some, with their sources below it."""
    metrics = read_metrics()
    if form != "text":
        return [Table("", [*metrics[0]], [[*metric.values()] for metric in metrics])]
    tables = []
    widths = {"metric": 100, "column": 22, "better": 100, "range": 100, "what it is": 30}
    for command, members in group_by(metrics, lambda metric: metric["command"]).items():
        rows = [[fill(own[name], width) for name, width in widths.items()] for own in members]
        sources = group_by(members, lambda metric: metric["citation"])
        notes = [
            fill(f"{', '.join(own['metric'] for own in found)}: {source}", 100) for source, found in sources.items()
        ]
        tables.append(Table(f"leafid {command}", [*widths], rows, notes))
    return tables


def _check_options(options: Options) -> None:
    """Refuse options that would have no effect."""
    if options.training and not (options.sets or options.macro):
        raise UsageError("expected --sets or --macro with --training")
    if options.validation and not options.average:
        raise UsageError("expected --average with --validation")
    if options.exclude_ties and not options.average:
        raise UsageError("expected --average with --exclude-ties")
    if options.validation and len(options.validation) != len(options.runs):
        found = len(options.validation)
        raise UsageError(f"expected --validation once for each of {len(options.runs)} runs, found it {found} times")


def _make_probability_tables(options: Options, truth: GroundTruth, full_truth: GroundTruth) -> list[Table]:
    """Tabulate what scores tell that are probabilities; `full_truth` has the pictures of unknown species as well."""
    has_unknown = len(full_truth) > len(truth)
    if not (options.reliability or options.plants or has_unknown):
        return []
    runs = [read_run(file, truth.known, official=options.official) for file in options.runs]
    tables = []
    if options.reliability:
        named = {f"{run.name}, {kind}": own for run in runs for kind, own in collect_first_species(run, truth).items()}
        bootstrap = Bootstrap(options.resamples, options.confidence, options.seed)
        tables.append(calibration.make_reliability_table(named, bootstrap, "run"))
    if options.plants:
        own_plants = {
            f"{run.name}, {kind}": own for run in runs for kind, own in collect_run_plants(run, truth).items()
        }
        tables.append(plants.make_plant_table(own_plants, "run"))
    if has_unknown:
        tables.append(open_world.make_open_world_table({run.name: score_open_world(run, full_truth) for run in runs}))
    return tables


def _make_average_table(options: Options, truth: GroundTruth, environment: Environment) -> Table:
    found = {}
    files = zip_longest(options.runs, options.validation)
    for file, validation in files:
        run = read_run(file, truth.known, official=options.official)
        fitted = read_run(validation) if validation else None
        rows = score_average_k(
            truth,
            run,
            options.average,
            fitted,
            exclude_ties=options.exclude_ties,
        )
        for row in rows:
            if row.cut:
                environment.warn(
                    f"{validation or file}: for K = {row.k:g}, {count_noun(row.cut, 'picture')} with a list that ends "
                    "at or above the threshold, so that it may be wrong; write more species to the run"
                )
            if row.fitted_size > row.k * (1 + 1e-9):
                environment.warn(
                    f"{validation or file}: sets of {row.k:g} species have {row.fitted_size:.4g} on average, as scores "
                    "equal the threshold; --exclude-ties leaves these out"
                )
        found[run.name] = rows
    return sets.make_average_table(found, "the validation run" if options.validation else "the run itself")


def _check_files(runs: Sequence[str], folder: str) -> None:
    """Check before the work that the official scorer's files can be written under different names."""
    for file in runs if len(runs) > 1 else ():
        if (name := Path(file).stem) in {ALL_RUNS, MEAN_OF_RUNS}:
            raise UsageError(f"--output: expected no run called {name}, as the files about all runs are; rename {file}")
    check_output_file(folder, SCORES, runs)


def _count_training_pictures(
    collection: str | None, truth: GroundTruth, environment: Environment
) -> dict[str, int] | None:
    if collection is None:
        return None
    pictures = read_and_warn(collection).pictures
    trained = [picture for picture in pictures if picture.part == "train"] or pictures
    counts = dict(Counter(picture.species for picture in trained if picture.species))
    untrained = sorted(set(truth.species) - counts.keys())
    if untrained:
        environment.warn(
            f"{collection}: expected training pictures of every species, found none of {len(untrained)} of "
            f"{len(set(truth.species))}, {untrained[0]!r} first; these are in the bin 0-10"
        )
    return counts
