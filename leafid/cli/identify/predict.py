"""Name the species of pictures.

For each picture, predict gives a verdict, how probable a leaf is, and a leaf of a species that the model knows, and how
probable each species is if there is one. If a collection has a test part, only that part is named. A picture that can't
be read is reported and skipped. --reject-at sets how many leaves of known species may be called 'unknown' or 'no leaf'.

--format text is for the screen. json (a list), jsonl (a line for each picture) and csv (a row for each species of the
ranking) have everything, also for pictures that can't be read. run is the run file of the ImageCLEF plant task, with
every picture; --open-world multiplies its probabilities by those of a leaf and of a known species, so that scores of
pictures can be compared. --output appears when it is complete.

--together makes one answer from all pictures, which show one plant, in any mix of types; --group-by makes one for each
plant of a collection, or for each folder. --group-by session keeps an answer for each picture, which is supported by
the other pictures that its author took on the same day at the same place: they show few species.

--set reports a set of species for each picture: the K likeliest (top-K), K on average (average-K), or as many as are
needed to include the correct one with probability P (coverage-P); it may be empty. --back-off reports one name: a
species or, where none is probable enough, a genus, family or order ('Quercus *'), or '*'. Both use thresholds learned
from held-out plants.

examples:
  leafid predict my-leaf.jpg
  leafid predict imageclef2011 --model clef11.leafid --output run.txt
  leafid predict holiday/*.jpg --assume-type photo --top 3
  leafid predict --together front.jpg back.jpg twig.jpg
  leafid predict holiday --format json --output holiday.json
  leafid predict imageclef2011 --set average-5 --output sets.txt
  leafid predict imageclef2011 --back-off --output backed-off.txt
  leafid predict plants --model plants.leafid --output run.txt --cluster tcp://head-node:8786
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import IO

from leafid.cli.arguments import (
    ASSUME_TYPE,
    MODEL,
    CacheOptions,
    ReadingOptions,
    nonempty_word,
    number_type,
    option,
    positional,
    positive_int,
    switch,
)
from leafid.cli.computing import assume_type, on_workers, open_loader
from leafid.cli.environment import Environment, advance
from leafid.cli.identify.answer_formats import FORMATS, AnswerFormat, Selector, make_format
from leafid.cli.outputs import refuse_inputs, text_output_path
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.files import check_writable, open_output
from leafid.learning.rejection import REJECTED_SHARE
from leafid.learning.thresholds import SetRule, select_set
from leafid.model.answer import Answer
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.model.model import Options as AnswerOptions
from leafid.model.sessions import find_session
from leafid.pictures import Picture, find_name_clashes, read_and_warn
from leafid.scoring.runs import find_name_problem


class Options(ReadingOptions, CacheOptions):
    """The options of predict."""

    pictures: list[str] = positional("PICTURE", "a picture, a folder of pictures, or a collection", nargs="+")
    model: str | None = MODEL
    assume_type: str | None = ASSUME_TYPE
    output: str | None = option(
        "write a file instead of printing (-: to stdout)", metavar="FILE", type=text_output_path
    )
    format: str = option("format of the answers (default: text, or with --output run)", choices=FORMATS)
    together: bool = switch("all pictures show one plant: one answer", group="plants")
    group_by: str | None = option(
        "one answer from all pictures of a plant, as the metadata tell, or of a folder; session: pictures of an "
        "author, day and place support one another",
        choices=("plant", "folder", "session"),
        group="plants",
    )
    top: int | None = option(
        "number of species for each picture (default: 5 in text, otherwise all)",
        metavar="K",
        type=positive_int,
        group="names",
    )
    set: SetRule | None = option(
        "a set of species for each picture: top-K, average-K, coverage-P",
        metavar="RULE",
        type=lambda word: SetRule.parse(nonempty_word(word)),
        group="names",
    )
    back_off: bool = switch("one name for each picture: a species, genus, family, order, or '*'", group="names")
    reject_at: float | None = option(
        "reject pictures as 'unknown' or 'no leaf' so that this share of the leaves of known species is rejected "
        "(default: 0.05)",
        metavar="SHARE",
        type=number_type("a share from 0 to 1", lambda value: 0 <= value <= 1),
    )
    open_world: bool = switch("in a run file, multiply probabilities by those of a leaf and of a known species")


def run(options: Options, environment: Environment) -> int:
    """Name the pictures; 1 when any could not be read or is left out."""
    _check_options(options)
    model_file = options.model or find_bundled_model()
    if options.output:
        # Checked before the work starts.
        refuse_inputs(options.output, [model_file, *options.pictures])
        check_writable(options.output)
    model = Model.read(model_file)
    pictures, is_incomplete = _read_pictures(options, environment)
    _check_thresholds(model, pictures, options)
    reject_at = REJECTED_SHARE if options.reject_at is None else options.reject_at
    rules = AnswerOptions(reject_at, options.back_off, options.group_by)
    own_format = make_format(
        options.format,
        _make_selector(options, model),
        open_world=options.open_world,
        rank_rejected=bool(options.top or options.set or options.back_off),
    )
    with on_workers(options, options.pictures), open_loader(options, environment) as loader:
        if not options.output:
            batches = model.predict_batches(pictures, loader, rules)
            n_answered, *_ = _write_answers(environment.stdout, batches, own_format, len(pictures))
        else:
            with open_output(options.output) as stream, environment.bar(len(pictures), "describe") as bar:
                batches = model.predict_batches(pictures, loader.with_progress(partial(advance, bar)), rules)
                n_answered, n_entries, n_empty = _write_answers(stream, batches, own_format, len(pictures))
            remark = f"; {n_empty} sets are empty and have no line" if n_empty else ""
            environment.note(f"{options.output}: {n_entries} {own_format.kind} for {n_answered} pictures{remark}")
    n_failed = len(pictures) - n_answered
    if n_failed:
        environment.note(f"leafid: {n_failed} of {len(pictures)} pictures could not be read")
    return 1 if n_failed or is_incomplete else 0


def _check_options(options: Options) -> None:
    """Refuse options that contradict one another, and complete the others."""
    options.group_by = "all" if options.together else options.group_by
    options.format = options.format or ("run" if options.output else "text")
    if options.reject_at is not None and options.format == "run":
        raise UsageError("expected --reject-at without --format run: a run file holds the ranking of every picture")
    if options.open_world and options.format != "run":
        raise UsageError(f"expected --format run with --open-world; {options.format} has the probabilities")
    if options.group_by and options.set and options.set.kind != "top":
        raise UsageError(
            "expected top-K sets with --together and --group-by: the thresholds of the others were learned from single "
            "pictures"
        )


def _check_thresholds(model: Model, pictures: Iterable[Picture], options: Options) -> None:
    """Raise before the work starts if the model lacks what ``--set``, ``--back-off`` or a rejection need."""
    types = {picture.type for picture in pictures}
    # A picture of unknown type may be recognised as any type of the model.
    for type_ in [type_ for type_ in model.types if type_ in types or None in types]:
        if options.set:
            select_set([], options.set, model[type_].thresholds)
        elif options.back_off:
            model.get_back_off_threshold(type_)
    is_needed = options.reject_at is not None or options.open_world
    if is_needed and all(own.identifier.rejection is None for own in model.types.values()):
        raise LeafidError(
            "the model has not learned to reject pictures: its training set had too few species; leave out "
            "--reject-at and --open-world"
        )


def _make_selector(options: Options, model: Model) -> Selector:
    """Make the selector that ``--set``, ``--back-off`` or ``--top`` ask for; a set may be empty."""
    rule = options.set
    if rule:
        return lambda answer: select_set(answer.ranking, rule, model[answer.type].thresholds) if answer.type else []
    if options.back_off:
        return lambda answer: [answer.backed_off] if answer.backed_off else []
    top = options.top or (5 if options.format == "text" else None)
    return lambda answer: answer.ranking[:top]


def _read_pictures(options: Options, environment: Environment) -> tuple[list[Picture], bool]:
    """List the pictures to name; also tell whether any of those on the command line are left out."""
    collection = read_and_warn(options.pictures, **options.as_keywords(), unlabelled=True)
    pictures = list(collection.pictures)
    if any(picture.part == "test" for picture in pictures):
        pictures = [picture for picture in pictures if picture.part == "test"]
    if options.group_by == "plant" and not any(picture.plant for picture in pictures):
        raise LeafidError(
            f"expected pictures whose metadata tell their plants, found none among {len(pictures)}; "
            "use --group-by folder, or --together for a single plant"
        )
    if options.group_by == "session" and all(find_session(picture) == picture.file for picture in pictures):
        raise LeafidError(
            f"expected pictures whose metadata tell the day, and the author or the coordinates, found none among "
            f"{len(pictures)}; leave out --group-by session"
        )
    n_found = len(pictures)
    if options.format == "run":
        pictures = _keep_writable(pictures, environment)
    return assume_type(options.assume_type, pictures), collection.is_incomplete or len(pictures) < n_found


def _keep_writable(pictures: Sequence[Picture], environment: Environment) -> list[Picture]:
    """Leave out, with a warning, the pictures whose names a run file can't hold.

    A `ProblemsError` is raised if none remains, or several have one name.
    """
    named = [(picture, find_name_problem(picture.name)) for picture in pictures]
    kept = [picture for picture, problem in named if problem is None]
    problems = [f"{picture.file}: {problem}; rename the file" for picture, problem in named if problem]
    if not kept:
        raise ProblemsError(problems)
    for line in problems:
        environment.warn(f"{line}; it is left out")
    clashes = find_name_clashes(kept)
    if clashes:
        raise ProblemsError(
            f"{name}: two pictures have this name ({', '.join(str(picture.file) for picture in same)}); "
            "a run file can't tell them apart: name them in two runs, or rename one"
            for name, same in clashes.items()
        )
    return kept


def _write_answers(
    stream: IO[str], batches: Iterable[list[Answer]], own_format: AnswerFormat, n_pictures: int
) -> tuple[int, int, int]:
    """Write the answers batch by batch; return the numbers of pictures answered, of entries, and of empty sets."""
    n_done = n_answered = n_entries = n_empty = 0
    for number, answers in enumerate(batches):
        entries = [own_format.format(answer) for answer in answers]
        expanded = [own for answer in answers for own in answer.expand()]
        n_done += len(expanded)
        n_answered += sum(not own.problem for own in expanded)
        n_entries += sum(map(len, entries))
        n_empty += sum(not own and not answer.problem for own, answer in zip(entries, answers, strict=True))
        text = own_format.join(list(chain(*entries)), is_first=number == 0, is_last=n_done == n_pictures)
        # A file name may hold bytes that are no text.
        stream.write(text.encode(errors="backslashreplace").decode())
        stream.flush()
    return n_answered, n_entries, n_empty
