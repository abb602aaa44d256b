"""Score recipes on collections by cross-validation, or on their test parts.

Folds have whole plants, authors, places or days.

Every picture is named by a model whose training set had no picture of its plant.
Pictures of a species without another plant in the fold's training part are left out of
the scores and counted. Scores are means over the seeds, which assign plants to other
folds. --sessions scores the answers of 'leafid predict --group-by session'.

--hold-out collection tests on each of several collections in turn, with models of the
others: it tells how a model does on a camera that it never saw. Several collections
have a row for each type of each.

--by place makes folds of whole places (plants within 5 km of each other, or joined by a
chain of such plants), --by author and --by day folds of whole authors and days. --parts
tests on the test part of a collection. --shots trains on few pictures of each species:
several numbers give a learning curve. 'leafid experiment' knows further protocols.

--open-world also holds 28 % of the species out of each fold's training. It prints how
well leaves of known species are distinguished from others, and how often pictures
without a leaf are rejected.

--output writes the rankings of all held-out pictures, a run file for each seed (and
number of shots), and folds.csv with the fold of each picture. --folds reads such a
file, so that another system is tested on the same folds; 'leafid evaluate' and 'leafid
report' show the runs of both.

examples:
  leafid crossval imageclef2011
  leafid crossval imageclef2011 --only-type scan --recipe fast --repeats 1
  leafid crossval imageclef2011 --by place
  leafid crossval imageclef2011 garden --hold-out collection
  leafid crossval scans --shots 1,3,5,10 --format latex
  leafid crossval benchmark --parts --output runs
  leafid crossval imageclef2011 --open-world
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from leafid.api import load_recipes
from leafid.cli.arguments import (
    CacheOptions,
    TableOptions,
    nonempty_word,
    option,
    positional,
    positive_int,
    positive_ints,
    switch,
)
from leafid.cli.computing import (
    TrainingOptions,
    assign_types_and_warn,
    open_loader,
    read_training_pictures,
)
from leafid.cli.outputs import Console, check_output, print_tables
from leafid.cli.scoring_options import ScoringOptions
from leafid.errors import LeafidError, UsageError
from leafid.features.loader import FeatureLoader
from leafid.files import open_output, write_text
from leafid.grouping import group_by
from leafid.pictures.fold_files import format_folds
from leafid.pictures.picture import Picture
from leafid.pictures.splits import UNITS, Kind, Split, SplitProtocol, Unit
from leafid.scoring.reading.run_formats import WRITERS
from leafid.scoring.reading.runs import check_picture_names
from leafid.scoring.score_table import ScoreOptions
from leafid.scoring.tables import Table, format_csv
from leafid.studies.cross_validation import (
    FoldAnswers,
    cross_validate,
    cross_validate_open_world,
    pool_evidence_of_folds,
)
from leafid.studies.held_out_runs import make_cross_validation_table, make_held_out_run
from leafid.studies.open_world import make_open_world_tables


class Options(TrainingOptions, ScoringOptions, TableOptions, CacheOptions):
    collections: list[str] = positional(
        "COLLECTION", "a folder of labelled pictures", nargs="+"
    )
    folds: int | str = option(
        "number of folds (default: 5), or a CSV table with the columns picture, fold "
        "and, for several seeds, repeat",
        metavar="N|FILE",
        type=lambda word: positive_int(word) if word.isdigit() else nonempty_word(word),
        default=5,
    )
    repeats: int | None = option(
        "number of seeds (default: 3, or those of a file of folds)",
        metavar="N",
        type=positive_int,
    )
    shared_codebooks: bool = switch(
        "learn codebooks once, without labels, from the pictures of all folds: much "
        "faster"
    )
    by: Unit = option(
        "what folds keep together (default: plant; with place, plants within 5 km of "
        "each other)",
        choices=UNITS,
        default="plant",
    )
    hold_out: Unit | None = option(
        "test on each of these in turn, with a model of the others (plant: as many "
        "models as plants)",
        choices=UNITS,
    )
    parts: bool = switch(
        "train on the training part and test on the test part, with each seed"
    )
    shots: list[int] | None = option(
        "train on so few pictures of each species and type",
        metavar="N,…",
        type=positive_ints,
    )
    output: str | None = option(
        "write a run file of all held-out answers for each seed, and folds.csv, there",
        metavar="DIR",
    )
    sessions: bool = switch("score the answers of predict --group-by session")
    open_world: bool = switch(
        "score how unknown species and pictures without a leaf are rejected"
    )


def run(options: Options, console: Console) -> int:
    """Cross-validate; 1 when any picture could not be read."""
    _check_options(options)
    scoring = options.as_score_options()
    folds: list[Any] = []
    with open_loader(options, console) as loader:
        pictures = _read_pictures(options, loader, console)
        splits = _make_splits(options, pictures)
        recipes = load_recipes(options.recipe or "default", pictures, options.only_type)
        validate: Any = cross_validate
        if options.open_world:
            validate = cross_validate_open_world
        for fold in validate(
            pictures, recipes, loader, splits, options.shared_codebooks
        ):
            where = [f"seed {fold.seed}", f"fold {fold.fold + 1}", fold.setting]
            console.note(f"{', '.join(filter(None, where))}: {fold.type} done")
            folds.append(fold)
    if options.sessions:
        folds = pool_evidence_of_folds(folds)
    tables = _tabulate(folds, options, scoring)
    if options.output:
        folder = Path(options.output)
        _write_runs(folder, folds, console)
        _write_folds(folder, pictures, splits)
    print_tables(tables, options, console, options.digits)
    return int(bool(loader.unreadable))


def _check_options(options: Options) -> None:
    """Refuse options that don't go together, and an output that can't be written."""
    if options.folds == 1:
        raise UsageError(
            "--folds: expected at least 2, found 1; see 'leafid crossval --help'"
        )
    has_file = isinstance(options.folds, str)
    if has_file or options.hold_out:
        others = [options.repeats, options.parts, options.by != "plant"]
        if any(others) or (has_file and options.hold_out):
            raise UsageError(
                "expected --folds FILE, or --hold-out, without --repeats, --parts and "
                "--by, which it settles"
            )
    if options.open_world and (options.sessions or options.output or options.metrics):
        raise UsageError(
            "expected --open-world without --sessions, --output and --metrics"
        )
    if options.output:
        inputs = [options.folds] if isinstance(options.folds, str) else []
        check_output(options.output, inputs, file="folds.csv")


def _read_pictures(
    options: Options, loader: FeatureLoader, console: Console
) -> list[Picture]:
    """Read the pictures; a run file must be able to hold their names."""
    pictures, _ = read_training_pictures(
        options.collections, options, all_parts=options.parts
    )
    if options.output:
        tested = pictures
        if options.parts:
            tested = [picture for picture in pictures if picture.part == "test"]
        check_picture_names(tested)
    return assign_types_and_warn(pictures, loader, console)


def _make_splits(options: Options, pictures: Sequence[Picture]) -> list[Split]:
    kind: Kind = "parts" if options.parts else "folds"
    if options.hold_out:
        kind = "leave-one-out"
    protocol = SplitProtocol(
        name="",
        kind=kind,
        by=options.hold_out or options.by,
        folds=options.folds,
        shots=tuple(sorted(options.shots or ())),
    )
    seeds = range(options.seed, options.seed + (options.repeats or 3))
    return list(protocol.make_splits(pictures, seeds))


def _tabulate(folds: list[Any], options: Options, scoring: ScoreOptions) -> list[Table]:
    """Make the tables of the answers, or raise a `LeafidError` where there are none."""
    if not folds:
        expected = "pictures to test on"
        if options.open_world:
            expected = "more species to hold some out"
        source = " ".join(options.collections)
        raise LeafidError(f"{source}: expected {expected}, found too few")
    if options.open_world:
        return make_open_world_tables(folds)
    title = Path(options.recipe or "default").stem
    return [make_cross_validation_table(title, folds, scoring)]


def _write_runs(folder: Path, answers: Sequence[FoldAnswers], console: Console) -> None:
    """Write a run file of the answers to all pictures for each setting and seed."""
    runs = group_by(answers, lambda fold: (fold.setting, fold.seed))
    for (setting, seed), folds in runs.items():
        file = folder / f"{setting.replace(' ', '-')}-seed-{seed}.txt".lstrip("-")
        pictures = chain(*(fold.held_out.pictures for fold in folds))
        names = {picture.file: picture.name for picture in pictures}
        with open_output(file) as stream:
            WRITERS["run"](make_held_out_run(file.name, folds, names), stream)
        console.note(f"{file}: {len(names)} pictures")


def _write_folds(
    folder: Path, pictures: Sequence[Picture], splits: Sequence[Split]
) -> None:
    # Settings differ in their training pictures, and test on the same pictures.
    tested = {(split.seed, split.fold): split.test for split in splits}
    folds = [(seed, fold, test) for (seed, fold), test in tested.items()]
    table = format_folds(pictures, folds)
    write_text(folder / "folds.csv", format_csv(table))
