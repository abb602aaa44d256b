"""Score recipes on a collection: cross-validate by plants, authors, places or days, or follow another protocol.

Every picture is named by a model whose training set had no picture of its plant. Pictures of a species without another
plant in the fold's training part are left out of the scores and counted. Scores are means over the seeds, which assign
plants to other folds; ± is the standard deviation over all folds.

--reliability says how far the probabilities of first species agree with how often these are correct. --sessions scores
the answers of 'leafid predict --group-by session'.

--by place makes folds of whole places (plants within 5 km of each other, or joined by a chain of such plants), --by
author and --by day folds of whole authors and days. --leave-one-out tests on each plant in turn, --parts on the test
part of a collection. --shots trains on few pictures, or plants, of each species: several numbers give a learning curve.
--test-type tests on one type what was trained on another.

--open-world also holds 28 % of the species out of each fold's training. It prints how well leaves of known species are
distinguished from others, and how often pictures without a leaf are rejected.

--output writes the rankings of all held-out pictures, a run file for each seed (and number of shots): 'leafid report'
shows which species are taken for which.

examples:
  leafid crossval imageclef2011
  leafid crossval imageclef2011 --only-type scan --recipe fast --repeats 1
  leafid crossval imageclef2011 --by place
  leafid crossval scans --shots 1,3,5,10 --format latex
  leafid crossval imageclef2011 --only-type scan --test-type scan-like --output runs
  leafid crossval benchmark --parts --output runs
  leafid crossval imageclef2011 --open-world
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from leafid.cli.arguments import (
    SEED,
    TYPES,
    CacheOptions,
    TableOptions,
    option,
    positional,
    positive_int,
    positive_ints,
    switch,
)
from leafid.cli.computing import on_workers, open_loader
from leafid.cli.environment import Environment
from leafid.cli.outputs import print_tables
from leafid.cli.training.input import (
    TrainingOptions,
    complete_pictures,
    load_recipes,
    read_training_pictures,
)
from leafid.errors import LeafidError, UsageError
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.model.validation import (
    FoldAnswers,
    cross_validate,
    cross_validate_open_world,
    cross_validated_scores,
    share_fold_answers,
)
from leafid.pictures import Picture
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.protocols import UNITS, Kind, Protocol, Split, Unit
from leafid.scoring import crossvalidation as report
from leafid.scoring.crossvalidation import collect_runs
from leafid.scoring.open_world import make_open_world_tables
from leafid.scoring.runs import write_run
from leafid.scoring.tables import render


class Options(TrainingOptions, TableOptions, CacheOptions):
    """The options of crossval."""

    collection: str = positional("COLLECTION", "a folder of labelled pictures")
    folds: int = option("number of folds (default: 5)", metavar="N", type=positive_int, default=5)
    repeats: int = option("number of seeds (default: 3)", metavar="N", type=positive_int, default=3)
    shared_codebooks: bool = switch("learn codebooks once, without labels, from the pictures of all folds: much faster")
    by: Unit = option(
        "what folds keep together (default: plant; with place, plants within 5 km of each other)",
        choices=UNITS,
        default="plant",
    )
    leave_one_out: bool = switch("test on each plant in turn, once", group="other")
    parts: bool = switch("train on the training part and test on the test part, with each seed", group="other")
    shots: list[int] | None = option(
        "train on so few pictures of each species and type", metavar="N,…", type=positive_ints
    )
    shots_of: Literal["pictures", "plants"] = option(
        "what --shots counts (default: pictures)", choices=("pictures", "plants"), default="pictures"
    )
    test_type: str | None = option(
        "test on this type what is trained on another one, that of --only-type", choices=TYPES
    )
    output: str | None = option("write a run file of all held-out answers for each seed there", metavar="DIR")
    reliability: bool = switch("also score how reliable probabilities are")
    sessions: bool = switch("score the answers of predict --group-by session")
    open_world: bool = switch("score how unknown species and pictures without a leaf are rejected")
    seed: int = SEED


def run(options: Options, environment: Environment) -> int:
    """Cross-validate; 1 when any picture could not be read."""
    _check_options(options)
    pictures, _ = read_training_pictures(options.collection, options, all_parts=options.parts)
    with on_workers(options, [options.collection]), open_loader(options, environment) as loader:
        pictures = complete_pictures(pictures, loader, environment)
        recipes = load_recipes(options, pictures)
        if options.test_type:
            recipes = {
                type_: replace(recipe, types=(type_,), training_types=(type_,)) for type_, recipe in recipes.items()
            }
        if options.open_world:
            _score_open_world(pictures, recipes, loader, options, environment)
            return 1 if loader.unreadable else 0
        answers = []
        folds = cross_validate(
            pictures,
            recipes,
            loader,
            _make_splits(options, pictures),
            shared_codebooks=options.shared_codebooks,
            test_type=AcquisitionType(options.test_type) if options.test_type else None,
        )
        for answer in folds:
            setting = f", {answer.setting}" if answer.setting else ""
            environment.note(f"seed {answer.seed}, fold {answer.fold + 1}{setting}: {answer.type} done")
            answers.append(answer)
    if options.sessions:
        answers = share_fold_answers(answers)
    by_type = {}
    # By the number of training pictures that a setting begins with.
    ordered = sorted(answers, key=lambda own: int(own.setting.split()[0]) if own.setting else 0)
    for setting, type_ in dict.fromkeys((own.setting, own.type) for own in ordered):
        name = f"{type_}, {setting}" if setting else str(type_)
        of_type = [own for own in answers if (own.setting, own.type) == (setting, type_)]
        by_type[name] = cross_validated_scores(of_type)
    if options.output:
        _write_runs(answers, Path(options.output), environment)
    tables = [report.make_reliability_table(answers)] if options.reliability else []
    if options.format != "text":
        print_tables([report.make_score_table(by_type), *tables], options, environment)
    else:
        environment.print(report.format_scores(by_type))
        for table in tables:
            environment.print()
            environment.stdout.write(render([table], digits=3))
    return 1 if loader.unreadable else 0


def _check_options(options: Options) -> None:
    if options.folds < 2:
        raise UsageError(f"--folds: expected at least 2, found {options.folds}; see 'leafid crossval --help'")
    if options.test_type and (not options.only_type or options.only_type == options.test_type):
        raise UsageError("expected --only-type with --test-type, the other type to train on")
    if options.table and options.format == "text":
        raise UsageError("expected --format with --table: text shows all tables")
    for name in ("reliability", "sessions") if options.open_world else ():
        if getattr(options, name):
            raise UsageError(f"expected --open-world or --{name}, found both; see 'leafid crossval --help'")


def _make_splits(options: Options, pictures: Sequence[Picture]) -> Iterator[Split]:
    kind: Kind = "parts" if options.parts else "leave-one-out" if options.leave_one_out else "folds"
    shots = tuple(options.shots or ())
    protocol = Protocol("", kind, options.by, options.folds, shots, options.shots_of)
    return protocol.make_splits(pictures, range(options.seed, options.seed + options.repeats))


def _write_runs(answers: Sequence[FoldAnswers], folder: Path, environment: Environment) -> None:
    for name, predictions in collect_runs(answers).items():
        write_run(folder / f"{name}.txt", predictions)
        environment.note(f"{folder / name}.txt: {len(predictions)} pictures")


def _score_open_world(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    options: Options,
    environment: Environment,
) -> None:
    splits, shared = _make_splits(options, pictures), options.shared_codebooks
    folds = []
    for fold in cross_validate_open_world(pictures, recipes, loader, splits, shared_codebooks=shared):
        environment.note(f"seed {fold.seed}, fold {fold.fold + 1}: {fold.type} done")
        folds.append(fold)
    if not folds:
        raise LeafidError(f"{options.collection}: expected more species to hold some out, found too few")
    tables = make_open_world_tables(folds)
    print_tables(tables, options, environment, digits=3)
