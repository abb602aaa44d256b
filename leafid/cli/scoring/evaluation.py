"""What evaluate does: reads runs, scores them, and prints tables."""

import argparse
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from leafid.cli.environment import Environment
from leafid.cli.outputs import check_output_file, print_tables, refuse_inputs
from leafid.cli.scoring.common import check_names_differ, load_ground_truth, load_judged_runs
from leafid.errors import LeafidError, UsageError
from leafid.evaluation import hierarchy_summary
from leafid.evaluation.average_sets import score_average_k
from leafid.evaluation.official import ALL_RUNS, MEAN_OF_RUNS, SCORES, format_official_files
from leafid.evaluation.open_world import score_open_world
from leafid.evaluation.plant_scores import collect_run_plants
from leafid.evaluation.reliability import collect_first_species
from leafid.evaluation.resampling import Bootstrap
from leafid.files import write_text
from leafid.grouping import count_noun
from leafid.metrics import calibration, open_world, plant_task, set_valued
from leafid.metrics.plant_task import list_plant_metrics
from leafid.metrics.registry import Metric
from leafid.pictures import read_and_warn
from leafid.report import probability_tables as report
from leafid.report import scores
from leafid.report.tables import Table
from leafid.runs import read_run
from leafid.runs.ground_truth import GroundTruth
from leafid.tasks.annotation2016 import meteor
from leafid.tasks.annotation2016 import metrics as annotation
from leafid.tasks.interpretation import localisation, metric
from leafid.tasks.irma import metrics as irma


def score_runs(arguments: argparse.Namespace, environment: Environment) -> int:
    """Score the runs of evaluate, or list the metrics."""
    if arguments.list:
        listed = list_metrics()
        tables = (
            scores.make_metrics_tables(listed) if arguments.format == "text" else [scores.make_metrics_table(listed)]
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
    options = scores.TableOptions(
        metrics=list_plant_metrics(arguments.top),
        leave_out_missing=arguments.official,
        bootstrap=Bootstrap(arguments.resamples, arguments.confidence, arguments.seed),
        intervals=arguments.intervals,
    )
    tables = [scores.make_score_table(truth, runs, options, by) for by in dict.fromkeys(["type", *arguments.by])]
    training_pictures = _count_training_pictures(arguments.training, truth, environment)
    if arguments.macro:
        tables += scores.make_macro_tables(truth, runs, arguments.top, training_pictures)
    if arguments.sets:
        tables += scores.make_set_tables(truth, runs, training_pictures)
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
        set_valued,
        hierarchy_summary,
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
        tables.append(report.make_reliability_table(named, bootstrap, "run"))
    if arguments.plants:
        plants = {f"{run.name}, {kind}": own for run in runs for kind, own in collect_run_plants(run, truth).items()}
        tables.append(report.make_plant_table(plants, "run"))
    if has_unknown:
        tables.append(report.make_open_world_table({run.name: score_open_world(run, full_truth) for run in runs}))
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
            source=validation or file,
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
    return scores.make_average_table(found, "the validation run" if arguments.validation else "the run itself")


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
