"""Score run files against a ground truth with the plant task's metrics.

The ground truth is a folder of ImageCLEF XML, a collection in any layout, or a …GroundTruth.txt together with the
XML of its pictures. A picture that a run lacks counts 0, with a warning; a run with any error is refused.

S is the official average classification score: the mean over authors of the mean over their plants of the mean over
each plant's pictures. inverse-rank is the same with 1 / rank of the correct species for each picture. Intervals are
bootstrapped over plants, whoever photographed them. --output writes all files of the official scorer, with the same
numbers. --list shows every metric and the command that prints it.

A set-valued run names, for each picture, any number of species that form its set: --sets scores such runs.
--average makes sets of a run that has scores of all species: the species above a threshold, fitted on a run on
validation pictures, or, to compare systems and people at one mean size, on the run itself.

Pictures whose species is 'Unknown species' in the ground truth show none that a system can know. They are left out of
all other scores, and a table says how well each run tells them from the others: mAP-open is the score of the open-world
task of LifeCLEF 2016. A picture's highest score says how surely its species is known; a run may leave a picture out, or
name 'Unknown species' first, to reject it.

--reliability says how far the scores of first species, taken for probabilities, agree with how often these are correct:
the expected calibration error (ECE), and what it is by chance where probabilities are calibrated.

--plants also scores plants that are identified from several pictures: the scores of these, taken for probabilities,
are multiplied. A run of 'leafid predict --group-by plant' has the answers of plants already: none of its scores can be
compared with those of runs of single pictures.

examples:
  leafid evaluate imageclef2011/TestXmlWithGroundTruth run.txt
  leafid evaluate imageclef2011/testGroundTruth.txt a.txt b.txt --output scores
  leafid evaluate collection run.txt --by species --table 2 --format csv > species.csv
  leafid evaluate PlantNet-300K run.txt --part test --macro --average 1,2,3,5,10 --validation run-on-val.txt
  leafid evaluate --list
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from leafid.cli.arguments import add_options, number_type, positive_ints
from leafid.cli.environment import Environment
from leafid.cli.outputs import check_output_file, print_tables, refuse_inputs
from leafid.cli.scoring.common import add_truth_and_runs, check_names_differ, load_ground_truth, load_judged_runs
from leafid.errors import LeafidError, UsageError
from leafid.files import write_text
from leafid.grouping import count_noun
from leafid.pictures import read_and_warn
from leafid.scoring import calibration, hierarchy, open_world, plant_task, plants, sets
from leafid.scoring import tables as metrics
from leafid.scoring.calibration import collect_first_species
from leafid.scoring.official import ALL_RUNS, MEAN_OF_RUNS, SCORES, format_official_files
from leafid.scoring.open_world import score_open_world
from leafid.scoring.plant_task import GROUPS, ScoreOptions, list_plant_metrics, make_score_table
from leafid.scoring.plants import collect_run_plants
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.run_reading import read_run
from leafid.scoring.sets import score_average_k
from leafid.scoring.tables import Metric, Table
from leafid.scoring.truth import GroundTruth
from leafid.tasks.annotation2016 import meteor
from leafid.tasks.annotation2016 import metrics as annotation
from leafid.tasks.interpretation import localisation, metric
from leafid.tasks.irma import metrics as irma

_parse_size = number_type("a mean size above 0", lambda size: size > 0)

# Copied from leafid.scoring.summary, whose import would slow the help down.


def configure(parser: argparse.ArgumentParser) -> None:
    add_truth_and_runs(parser, required=False)
    parser.add_argument(
        "--list",
        action="store_true",
        help="list every metric by the command that prints it",
    )
    parser.add_argument("--output", metavar="DIR", help="write the official scorer's files there")
    parser.add_argument(
        "--official",
        action="store_true",
        help="reproduce the official scorer: missing pictures are left out of the means, the last of several lines "
        "of one rank counts, unknown species are wrong answers",
    )
    parser.add_argument(
        "--top", metavar="K,…", type=positive_ints, default=[1, 5], help="top-K accuracies (default: 1,5)"
    )
    parser.add_argument("--by", choices=GROUPS, action="append", default=[], help="score groups of pictures as well")
    parser.add_argument("--reliability", action="store_true", help="score how reliable probabilities are as well")
    parser.add_argument("--plants", action="store_true", help="score plants identified from several pictures as well")
    parser.add_argument("--sets", action="store_true", help="score the runs as set-valued predictions as well")
    parser.add_argument(
        "--macro",
        action="store_true",
        help="average the top-K accuracies over the species as well, each counting the same",
    )
    parser.add_argument(
        "--average",
        metavar="K,…",
        type=_parse_sizes,
        help="score the sets that the run's scores form above a threshold, K species on average",
    )
    parser.add_argument(
        "--validation",
        metavar="RUN",
        action="append",
        default=[],
        help="with --average: the run on validation pictures that the threshold is fitted on; once for each run "
        "(default: the run that is scored)",
    )
    parser.add_argument(
        "--exclude-ties",
        action="store_true",
        help="with --average: leave out scores equal to the threshold where the sets would exceed K on average",
    )
    parser.add_argument(
        "--training",
        metavar="COLLECTION",
        help="with --sets or --macro: count each species' training pictures there, for the bins",
    )
    parser.add_argument(
        "--intervals", choices=("S", "all", "none"), default="S", help="scores to show intervals of (default: S)"
    )
    add_options(parser, "confidence", "resamples", "seed", "format", "table", "jobs")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    if arguments.list:
        listed = list_metrics()
        tables = (
            metrics.make_metrics_tables(listed) if arguments.format == "text" else [metrics.make_metrics_table(listed)]
        )
        print_tables(tables, arguments, environment)
        return 0
    if not arguments.runs:
        raise UsageError("expected a ground truth and at least one run; see 'leafid evaluate --help'")
    _check_options(arguments)
    check_names_differ(arguments.runs)
    if arguments.output:
        _check_files(arguments.runs, arguments.output)
    full_truth = load_ground_truth(arguments)
    truth, n_unknown = full_truth.split_known()
    if truth is None:
        raise LeafidError(f"{arguments.truth}: expected pictures of known species, found {n_unknown} unknown ones only")
    if n_unknown:
        environment.note(f"{arguments.truth}: {n_unknown} pictures of unknown species count in the last table only")
    runs = load_judged_runs(arguments.runs, truth, environment, official=arguments.official, jobs=arguments.jobs)
    options = ScoreOptions(
        list_plant_metrics(arguments.top),
        arguments.official,
        Bootstrap(arguments.resamples, arguments.confidence, arguments.seed),
    )
    tables = [
        make_score_table(truth, runs, options, by, arguments.intervals) for by in dict.fromkeys(["type", *arguments.by])
    ]
    training_pictures = _count_training_pictures(arguments.training, truth, environment)
    if arguments.macro:
        tables += sets.make_macro_tables(truth, runs, arguments.top, training_pictures)
    if arguments.sets:
        tables += sets.make_set_tables(truth, runs, training_pictures)
    if arguments.average:
        tables.append(_make_average_table(arguments, truth, environment))
    tables += _make_probability_tables(arguments, truth, full_truth)
    files = format_official_files(truth, runs, leave_out_missing=arguments.official) if arguments.output else {}
    for name in files:
        refuse_inputs(Path(arguments.output) / name, [arguments.truth, *arguments.runs, *arguments.validation])
    print_tables(tables, arguments, environment)
    for name, text in files.items():
        write_text(Path(arguments.output) / name, text)
    if files:
        environment.note(f"{len(files)} files written to {Path(arguments.output)}")
    return 0


def list_metrics() -> list[Metric]:
    """List the metrics of all tasks, in the order of their commands in the help."""
    modules = (
        plant_task,
        calibration,
        open_world,
        sets,
        hierarchy,
        irma,
        metric,
        localisation,
        annotation,
        meteor,
    )
    return [listed for module in modules for listed in module.METRICS]


def _check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""
    if arguments.training and not (arguments.sets or arguments.macro):
        raise UsageError("expected --sets or --macro with --training")
    if arguments.validation and not arguments.average:
        raise UsageError("expected --average with --validation")
    if arguments.exclude_ties and not arguments.average:
        raise UsageError("expected --average with --exclude-ties")
    if arguments.validation and len(arguments.validation) != len(arguments.runs):
        found = len(arguments.validation)
        raise UsageError(f"expected --validation once for each of {len(arguments.runs)} runs, found it {found} times")


def _make_probability_tables(arguments: argparse.Namespace, truth: GroundTruth, full_truth: GroundTruth) -> list[Table]:
    """Tabulate what scores tell that are probabilities; `full_truth` has the pictures of unknown species as well."""
    has_unknown = len(full_truth) > len(truth)
    if not (arguments.reliability or arguments.plants or has_unknown):
        return []
    runs = [read_run(file, truth.known, official=arguments.official) for file in arguments.runs]
    tables = []
    if arguments.reliability:
        named = {f"{run.name}, {kind}": own for run in runs for kind, own in collect_first_species(run, truth).items()}
        bootstrap = Bootstrap(arguments.resamples, arguments.confidence, arguments.seed)
        tables.append(calibration.make_reliability_table(named, bootstrap, "run"))
    if arguments.plants:
        own_plants = {
            f"{run.name}, {kind}": own for run in runs for kind, own in collect_run_plants(run, truth).items()
        }
        tables.append(plants.make_plant_table(own_plants, "run"))
    if has_unknown:
        tables.append(open_world.make_open_world_table({run.name: score_open_world(run, full_truth) for run in runs}))
    return tables


def _make_average_table(arguments: argparse.Namespace, truth: GroundTruth, environment: Environment) -> Table:
    found = {}
    files = zip_longest(arguments.runs, arguments.validation)
    for file, validation in files:
        run = read_run(file, truth.known, official=arguments.official)
        fitted = read_run(validation) if validation else None
        rows = score_average_k(
            truth,
            run,
            arguments.average,
            fitted,
            exclude_ties=arguments.exclude_ties,
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
    return sets.make_average_table(found, "the validation run" if arguments.validation else "the run itself")


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


def _parse_sizes(word: str) -> list[float]:
    return [_parse_size(size) for size in word.split(",")]
