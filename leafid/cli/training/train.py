"""Train a model on collections: one classifier for each acquisition type.

If a collection has a training part, only that part is used. The scores on held-out
plants, which training computes to calibrate the model, are printed and kept in the
model file. An interrupted training is started again, and finds its features in the
cache.

Of several collections, species of the same name are one species, and plants are
different plants. Where the plants of a collection are unknown, its pictures of a
species count as one plant. Types that are unknown are recognised in each collection by
itself.

--unknown names pictures of species that the model is not to know. From them it learns
to answer "unknown".

With --extend, the species of the collection are added to a model, which needs neither
its training pictures nor much time. Its codebooks and thresholds stay the same, and so
do its scores, which tell nothing of new species.

examples:
  leafid train imageclef2011 --output clef11.leafid
  leafid train imageclef2011 --only-type scan --recipe baseline-bow --output bow.leafid
  leafid train garden --layout species-folders --output garden.leafid
  leafid train plants --output plants.leafid --cluster tcp://head-node:8786
  leafid train imageclef2011 garden --unknown weeds --output both.leafid
  leafid train garden --extend bundled --output trees-and-garden.leafid
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from leafid.api import extend, train
from leafid.cli.arguments import (
    SEED,
    CacheOptions,
    list_type,
    nonempty_word,
    option,
    positional,
    switch,
)
from leafid.cli.computing import TrainingOptions, open_loader
from leafid.cli.outputs import Console, check_output
from leafid.errors import LeafidError, UsageError
from leafid.grouping import count_noun
from leafid.model.bundled import find_bundled_model
from leafid.model.held_out import HELD_OUT_METRICS
from leafid.model.model import Model
from leafid.pictures.picture import Collection, EmptyClass, group_by_collection
from leafid.pictures.reading import read_and_warn


class Options(TrainingOptions, CacheOptions):
    collections: list[str] = positional(
        "COLLECTION", "a folder of labelled pictures", nargs="+"
    )
    output: str = option("the model file to write", required=True, metavar="MODEL")
    extend: str | None = option(
        "add the species to this model, or to the 'bundled' one, with the model's "
        "recipes",
        metavar="MODEL",
    )
    unknown: str | None = option(
        "a folder of pictures of species that the model is not to know", metavar="DIR"
    )
    no_thumbnails: bool = switch(
        "keep no pictures in the model; by default it has up to three small ones of "
        "each species and type, with their authors, for 'leafid explain' and the field "
        "guide of 'leafid info'",
        group="thumbnails",
    )
    thumbnails_of: list[str] | None = option(
        "keep small pictures of these collections only, by the names of their folders",
        group="thumbnails",
        metavar="NAME,…",
        type=list_type(nonempty_word),
    )
    licence: str | None = option(
        "licence of the pictures whose metadata name none, for these small pictures",
        metavar="WORDS",
    )
    seed: int = SEED


def run(options: Options, console: Console) -> int:
    """Train; return 1 when any picture could not be read or is left out."""
    inputs = [*options.collections, options.recipe, options.extend, options.unknown]
    check_output(options.output, inputs)
    if options.extend and (options.recipe or options.only_type or options.unknown):
        raise UsageError(
            "--extend uses the recipes and the rejection of the model; leave out "
            "--recipe, --only-type and --unknown"
        )

    collection = options.read(options.collections, EmptyClass)
    _check_parts(collection)
    names = group_by_collection(collection.pictures)
    for name in options.thumbnails_of or ():
        if name not in names:
            raise UsageError(
                f"--thumbnails-of: expected collections ({', '.join(names)}), found "
                f"{name!r}"
            )
    if options.licence:
        pictures = [
            replace(picture, licence=picture.licence or options.licence)
            for picture in collection.pictures
        ]
        collection = replace(collection, pictures=tuple(pictures))
    work = _extend if options.extend else _train
    with open_loader(options, console) as loader:
        model, lines = work(
            options,
            collection,
            assume_type=options.assume_type,
            cache=loader,
            thumbnails=options.thumbnails_of or not options.no_thumbnails,
        )
    model.save(options.output)
    for line in lines:
        console.print(line)
    if loader.unreadable:
        count = count_noun(len(loader.unreadable), "picture")
        console.note(f"leafid: left out {count} that could not be read")
    return int(bool(loader.unreadable) or collection.is_incomplete)


def _check_parts(collection: Collection) -> None:
    """Refuse test parts alone: scores on them would mean nothing."""
    pictures = collection.select_labelled().pictures
    parts = {picture.part for picture in pictures}
    if parts and parts.isdisjoint({None, "train"}):
        names = " and ".join(sorted(map(str, parts)))
        raise LeafidError(
            f"{collection.root}: expected pictures to learn from, found "
            f"{len(pictures)} of part {names} only; put those to learn from into a "
            "folder called train beside it"
        )


def _train(
    options: Options, collection: Collection, **arguments: Any
) -> tuple[Model, list[str]]:
    """Train a model; also give the lines that report it."""
    model = train(
        collection,
        options.recipe or "default",
        unknown=read_and_warn(options.unknown) if options.unknown else (),
        only_type=options.only_type,
        seed=options.seed,
        **arguments,
    )
    # These are fewer than were read if the recipes use some types only.
    n_used = sum(info.n_pictures for info in model.species.values())
    count = count_noun(n_used, "picture")
    lines = [f"{options.output}: trained on {count}", "on held-out plants:"]
    lines += [
        f"  {type_:<10} {_format_scores(type_model.scores)}"
        for type_, type_model in model.types.items()
    ]
    if model.recogniser.accuracy is not None:
        lines.append(
            f"  acquisition type recognised: {model.recogniser.accuracy:.3f} of the "
            "pictures"
        )
    return model, lines


def _extend(
    options: Options, collection: Collection, **arguments: Any
) -> tuple[Model, list[str]]:
    """Add species to a model; also give the line that reports it."""
    file = Path(str(options.extend))
    if options.extend == "bundled":
        file = find_bundled_model()
    old = Model.read(file)
    model = extend(old, collection, **arguments)
    new = [model.species[name] for name in model.species.keys() - old.species.keys()]
    pictures = count_noun(sum(info.n_pictures for info in new), "picture")
    return model, [
        f"{options.output}: {len(new)} species of {pictures} added to "
        f"{len(old.species)}"
    ]


def _format_scores(scores: Mapping[str, float]) -> str:
    if "S" not in scores:
        return (
            "no picture of a species with another plant to learn from; probabilities "
            "are not calibrated"
        )
    values = "   ".join(f"{name} {scores[name]:.3f}" for name in HELD_OUT_METRICS)
    return (
        f"{values}   ({scores['pictures']:.0f} pictures, {scores['unseen']:.0f} left "
        "out)"
    )
