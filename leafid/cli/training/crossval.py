"""Score recipes on a collection: cross-validate by plants, authors, places or days, or test on its test part.

Every picture is named by a model whose training set had no picture of its plant. Pictures of a species without another
plant in the fold's training part are left out of the scores and counted. Scores are means over the seeds, which assign
plants to other folds; ± is the standard deviation over all folds.

--reliability says how far the probabilities of first species agree with how often these are correct. --sessions scores
the answers of 'leafid predict --group-by session'.

--by place makes folds of whole places (plants within 5 km of each other, or joined by a chain of such plants), --by
author and --by day folds of whole authors and days. --parts tests on the test part of a collection. --shots trains on
few pictures of each species: several numbers give a learning curve. 'leafid experiment' knows further protocols.

--open-world also holds 28 % of the species out of each fold's training. It prints how well leaves of known species are
distinguished from others, and how often pictures without a leaf are rejected.

--output writes the rankings of all held-out pictures, a run file for each seed (and number of shots): 'leafid report'
shows which species are taken for which.

examples:
  leafid crossval imageclef2011
  leafid crossval imageclef2011 --only-type scan --recipe fast --repeats 1
  leafid crossval imageclef2011 --by place
  leafid crossval scans --shots 1,3,5,10 --format latex
  leafid crossval benchmark --parts --output runs
  leafid crossval imageclef2011 --open-world
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from leafid.cli.arguments import (
    SEED,
    CacheOptions,
    TableOptions,
    option,
    positional,
    positive_int,
    positive_ints,
    switch,
)
from leafid.cli.computing import (
    TrainingOptions,
    assign_types_and_warn,
    load_recipes,
    open_loader,
    read_training_pictures,
)
from leafid.cli.outputs import Environment, check_output, print_tables
from leafid.errors import LeafidError, UsageError
from leafid.grouping import group_by
from leafid.metrics.held_out import SCORE_TITLES, title_scores
from leafid.model.answer import rank_species
from leafid.pictures.splits import UNITS, Kind, Protocol, Unit
from leafid.scoring.calibration import make_reliability_table
from leafid.scoring.open_world import make_open_world_tables
from leafid.scoring.runs import check_picture_names, write_run
from leafid.scoring.tables import Table, render
from leafid.training.cross_validation import (
    FoldAnswers,
    cross_validate,
    cross_validate_open_world,
    cross_validated_scores,
    pool_evidence_of_folds,
)


class Options(TrainingOptions, TableOptions, CacheOptions):
    collection: str = positional("COLLECTION", "a folder of labelled pictures")
    folds: int = option("number of folds (default: 5)", metavar="N", type=positive_int, default=5)
    repeats: int = option("number of seeds (default: 3)", metavar="N", type=positive_int, default=3)
    shared_codebooks: bool = switch("learn codebooks once, without labels, from the pictures of all folds: much faster")
    by: Unit = option(
        "what folds keep together (default: plant; with place, plants within 5 km of each other)",
        choices=UNITS,
        default="plant",
    )
    parts: bool = switch("train on the training part and test on the test part, with each seed")
    shots: list[int] | None = option(
        "train on so few pictures of each species and type", metavar="N,…", type=positive_ints
    )
    output: str | None = option("write a run file of all held-out answers for each seed there", metavar="DIR")
    reliability: bool = switch("also score how reliable probabilities are")
    sessions: bool = switch("score the answers of predict --group-by session")
    open_world: bool = switch("score how unknown species and pictures without a leaf are rejected")
    seed: int = SEED


def run(options: Options, environment: Environment) -> int:
    """Cross-validate; 1 when any picture could not be read."""
    if options.folds < 2:
        raise UsageError(f"--folds: expected at least 2, found {options.folds}; see 'leafid crossval --help'")
    if options.table and options.format == "text":
        raise UsageError("expected --format with --table: text shows all tables")
    if options.open_world and (options.reliability or options.sessions or options.output):
        raise UsageError("expected --open-world without --reliability, --sessions and --output")
    if options.output:
        check_output(f"{options.output}/seed-{options.seed}.txt", [])
    kind: Kind = "parts" if options.parts else "folds"
    protocol = Protocol("", kind, options.by, options.folds, tuple(options.shots or ()))
    validate: Any = cross_validate_open_world if options.open_world else cross_validate
    folds: list[Any] = []
    with open_loader(options, environment) as loader:
        pictures, _ = read_training_pictures(options.collection, options, all_parts=options.parts)
        if options.output:
            check_picture_names([picture for picture in pictures if picture.part == "test" or not options.parts])
        pictures = assign_types_and_warn(pictures, loader, environment)
        splits = protocol.make_splits(pictures, range(options.seed, options.seed + options.repeats))
        recipes = load_recipes(options, pictures)
        for fold in validate(pictures, recipes, loader, splits, options.shared_codebooks):
            setting = f", {fold.setting}" if fold.setting else ""
            environment.note(f"seed {fold.seed}, fold {fold.fold + 1}{setting}: {fold.type} done")
            folds.append(fold)
    if not options.open_world:
        _report(pool_evidence_of_folds(folds) if options.sessions else folds, options, environment)
    elif folds:
        print_tables(make_open_world_tables(folds), options, environment, digits=3)
    else:
        raise LeafidError(f"{options.collection}: expected more species to hold some out, found too few")
    return 1 if loader.unreadable else 0


def _report(answers: list[FoldAnswers], options: Options, environment: Environment) -> None:
    # A setting begins with its number of training pictures; fewer come first.
    ordered = sorted(answers, key=lambda fold: int(fold.setting.split()[0]) if fold.setting else 0)
    groups = group_by(ordered, lambda fold: f"{fold.type}, {fold.setting}" if fold.setting else str(fold.type))
    scores = _make_score_table(groups)
    if options.output:
        for name, predictions in _collect_runs(answers).items():
            file = Path(options.output) / f"{name}.txt"
            write_run(file, predictions)
            environment.note(f"{file}: {len(predictions)} pictures")
    tables = [_make_reliability_table(answers)] if options.reliability else []
    if options.format != "text":
        print_tables([scores, *tables], options, environment)
        return
    environment.print(_format_scores(scores))
    for table in tables:
        environment.stdout.write(f"\n{render([table], digits=3)}")


def _make_score_table(groups: Mapping[str, Sequence[FoldAnswers]]) -> Table:
    """Tabulate `cross_validated_scores` by the name of the group; counts of pictures are means over the seeds."""
    titles = [title + word for title in SCORE_TITLES.values() for word in ("", " sd")]
    columns = ["type", *titles, "pictures", "left out"]
    rows = []
    for name, folds in groups.items():
        scores = cross_validated_scores(folds)
        repeats = scores.pop("repeats")
        means = {count: round(np.mean([repeat[count] for repeat in repeats])) for count in ("pictures", "unseen")}
        means |= {key: score["mean"] for key, score in scores.items()}
        record = title_scores(means, sd={key: score["fold_sd"] for key, score in scores.items()})
        rows.append([name, *(record.get(heading) for heading in columns[1:])])
    notes = ["means over seeds; sd: standard deviation over all folds", "left out: no training picture of the species"]
    return Table("Held-out scores", columns, rows, notes)


def _format_scores(table: Table) -> str:
    """Format scores for a terminal, as "mean ± standard deviation over folds", or "-" without one."""
    rows = []
    for name, *scores, n_pictures, n_left_out in table.rows:
        pairs = zip(scores[::2], scores[1::2], strict=True)
        cells = ["-" if mean is None else f"{mean:.3f} ± {deviation:.3f}" for mean, deviation in pairs]
        rows.append([name, *cells, n_pictures, n_left_out])
    titles = [title for title in table.columns if not title.endswith(" sd")]
    alignment = ("left", *["right"] * (len(titles) - 1))
    return tabulate(rows, titles, "plain", colalign=alignment, disable_numparse=True)


def _make_reliability_table(answers: Sequence[FoldAnswers]) -> Table:
    named = {}
    for type_, folds in group_by(answers, lambda fold: str(fold.type)).items():
        known = [fold.held_out.select_known() for fold in folds]
        confidence = np.concatenate([held_out.probabilities.max(axis=1) for held_out in known])
        is_correct = np.concatenate([held_out.probabilities.argmax(axis=1) == held_out.labels for held_out in known])
        plants = [picture.group for held_out in known for picture in held_out.pictures]
        named[type_] = confidence, is_correct, plants
    return make_reliability_table(named)


def _collect_runs(answers: Sequence[FoldAnswers]) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Collect the rankings of all pictures, of every type, by the name of their setting and seed."""
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for fold in answers:
        run = runs.setdefault(f"{fold.setting.replace(' ', '-')}-seed-{fold.seed}".lstrip("-"), {})
        for picture, row in zip(fold.held_out.pictures, fold.held_out.probabilities, strict=True):
            run[picture.name] = rank_species(row, fold.held_out.species)
    return runs
