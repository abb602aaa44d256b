"""Name the species of pictures.

For each picture, predict gives a verdict in words, and how probable it is that it shows
a leaf of each species, calibrated on pictures held out of training. If a collection has
a test part, only that part is named.

--format text is for the screen; json and csv have everything, also for pictures that
can't be read. run is the run file of the ImageCLEF plant task, with every picture.
--output appears when it is complete.

--together makes one answer from all pictures, which show one plant, in any mix of
types; --group-by makes one for each plant of a collection, or for each folder.
--group-by session keeps an answer for each picture, which is supported by the other
pictures that its author took on the same day at the same place: they show few species.

Of several leaves on a sheet the largest is named; --each-leaf makes a picture of each,
called as <name>-leaf-1.

--set reports a set of species for each picture: the K likeliest (top-K), K on average
(average-K), or as many as are needed to include the correct one with probability P
(coverage-P); it may be empty. --back-off reports one name: a species or, where none is
probable enough, a genus, family or order ('Quercus *'), or '*'.

examples:
  leafid predict my-leaf.jpg
  leafid predict imageclef2011 --model clef11.leafid --output run.txt
  leafid predict holiday/*.jpg --assume-type photo --top 3
  leafid predict --together front.jpg back.jpg twig.jpg
  leafid predict holiday --format json --output holiday.json
  leafid predict imageclef2011 --set average-5 --output sets.txt
  leafid predict plants --model plants.leafid --output run.txt --cluster tcp://head-node:8786
"""

from dataclasses import replace

import cv2

from leafid.cli.arguments import (
    LANGUAGE,
    CacheOptions,
    number_type,
    option,
    positive_int,
    switch,
)
from leafid.cli.computing import PerPictureOptions, map_pictures, open_loader
from leafid.cli.identify.answer_formats import FORMATS, Ranking, Selector, format_answer
from leafid.cli.outputs import Console, check_output, open_text
from leafid.errors import ImageError, UsageError
from leafid.grouping import count_noun
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.groups import GROUPINGS
from leafid.model.model import Model
from leafid.model.thresholds import SetRule, select_set
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import Collection, Picture
from leafid.scoring.reading.runs import check_picture_names
from leafid.segmentation.leaves import isolate_leaf, segment_leaves


class Options(PerPictureOptions, CacheOptions):
    output: str | None = option("write a file instead of printing", metavar="FILE")
    format: str = option(
        "format of the answers (default: text, or with --output run)", choices=FORMATS
    )
    language: str = LANGUAGE
    together: bool = switch("all pictures show one plant: one answer", group="plants")
    group_by: str | None = option(
        "one answer from all pictures of a plant, as the metadata say, or of a "
        "folder; session: pictures of an author, day and place support one another",
        choices=("plant", "folder", "session"),
        group="plants",
    )
    each_leaf: bool = switch(
        "name every leaf of a picture on a sheet by itself", group="plants"
    )
    top: int | None = option(
        "number of species for each picture (default: 5 in text, otherwise all)",
        type=positive_int,
        group="names",
    )
    set: SetRule | None = option(
        "a set of species for each picture: top-K, average-K, coverage-P",
        metavar="RULE",
        type=SetRule.parse,
        group="names",
    )
    back_off: bool = switch(
        "one name for each picture: a species, genus, family, order, or '*'",
        group="names",
    )
    reject_at: float = option(
        "reject pictures as 'unknown' or 'no leaf' so that this share of the leaves of "
        "known species is rejected (default: 0.05)",
        metavar="SHARE",
        type=number_type(0, 1),
        default=REJECTED_SHARE,
    )
    open_world: bool = switch(
        "in a run file, give the calibrated probability of a leaf of the species, as "
        "in text"
    )


def run(options: Options, console: Console) -> int:
    """Name the pictures; return 1 when any could not be read or is left out."""
    form = options.format or ("run" if options.output else "text")
    _check_options(options, form)
    if options.output:
        inputs = [options.model_file, *options.pictures, options.metadata]
        check_output(options.output, inputs)
    model = Model.read(options.model_file).in_language(options.language)
    collection = options.read(options.pictures)
    pictures = _choose_pictures(options, collection, console)
    if form == "run":
        check_picture_names(pictures)
    group_by = "all" if options.together else options.group_by
    select = _make_selector(options, model, form)
    rank_rejected = bool(options.top or options.set or options.back_off)
    before, between, after = FORMATS[form]
    n_answered = 0
    with (
        open_loader(options, console) as loader,
        open_text(options.output, console) as stream,
    ):
        for answer in model.predict(
            pictures,
            loader,
            options.reject_at,
            back_off=options.back_off,
            group_by=group_by,
        ):
            entries = format_answer(
                form,
                answer,
                select,
                open_world=options.open_world,
                rank_rejected=rank_rejected,
            )
            n_answered += sum(not part.problem for part in answer.expand())
            for entry in entries:
                stream.write(before + entry)
                before = between
        stream.write(after)
    if options.output:
        console.note(
            f"{options.output}: answers to {count_noun(n_answered, 'picture')}"
        )
    n_failed = len(pictures) - n_answered
    if n_failed:
        console.note(
            f"leafid: {n_failed} of {len(pictures)} pictures could not be read"
        )
    return int(n_failed > 0 or collection.is_incomplete)


def _choose_pictures(
    options: Options, collection: Collection, console: Console
) -> tuple[Picture, ...]:
    """Choose the test part or all pictures, or make a picture of each leaf of them."""
    tested = collection.part("test")
    if tested.pictures:
        collection = tested
    pictures = collection.pictures
    if options.each_leaf:
        split = map_pictures(_split_leaves, collection, options, console, "leaves")
        pictures = tuple(leaf for _, leaves in split for leaf in leaves)
    if options.group_by:
        groups = set(map(GROUPINGS[options.group_by], pictures))
        if len(groups) == len(pictures):
            console.warn(
                f"no two pictures are of one {options.group_by}, as far as is known; "
                "each is answered alone"
            )
    return pictures


def _split_leaves(picture: Picture) -> list[Picture]:
    """Make a picture of each of several leaves on a sheet.

    Any other picture is returned as it is.
    """
    try:
        image = read_image(picture.file)
    except ImageError:
        return [picture]
    leaves = segment_leaves(image, picture.require_type())
    if len(leaves) < 2:
        return [picture]
    pictures = []
    for index in range(len(leaves)):
        name = picture.file.with_name(f"{picture.file.stem}-leaf-{index + 1}.png")
        content = cv2.imencode(".png", isolate_leaf(image, leaves, index))[1]
        pictures.append(replace(picture, file=name, data=content.tobytes()))
    return pictures


def _check_options(options: Options, form: str) -> None:
    if options.reject_at != REJECTED_SHARE and form == "run":
        raise UsageError(
            "expected --reject-at without --format run: a run file holds the ranking "
            "of every picture"
        )
    if options.open_world and form != "run":
        raise UsageError(
            f"expected --format run with --open-world; {form} has the probabilities"
        )
    if (
        (options.group_by or options.together)
        and options.set
        and options.set.kind != "top"
    ):
        raise UsageError(
            "expected top-K sets with --together and --group-by: others are learned "
            "from single pictures"
        )


def _make_selector(options: Options, model: Model, form: str) -> Selector:
    """Make the selector that ``--set``, ``--back-off`` or ``--top`` ask for.

    A set may be empty.
    """
    rule = options.set
    top = options.top or (5 if form == "text" else None)

    def select(answer: Answer) -> Ranking:
        if options.back_off:
            return [answer.backed_off] if answer.backed_off else []
        if not rule:
            return answer.ranking[:top]
        thresholds = model[answer.picture.require_type()].thresholds
        return select_set(answer.ranking, rule, thresholds)

    return select
