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

from leafid.api import assign_types_and_warn, load_recipes, select_pictures
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
from leafid.features.loader import FeatureLoader
from leafid.model.bundled import assign_types, find_bundled_model
from leafid.model.held_out import SCORE_TITLES
from leafid.model.model import Model
from leafid.pictures.picture import EmptyClass, Picture, group_by_collection
from leafid.pictures.reading import read_and_warn
from leafid.pictures.splits import select_unknown_pictures
from leafid.training.extending import check_extension, extend
from leafid.training.model import train


class Options(TrainingOptions, CacheOptions):
    collections: list[str] = positional(
        "COLLECTION", "a folder of labelled pictures", nargs="+"
    )
    output: str = option("the model file to write", required=True, metavar="MODEL")
    extend: str | None = option(
        "add the species to those of this model, or of the 'bundled' one, with the "
        "model's recipes",
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
    pictures = select_pictures(collection.pictures, source=str(collection.root))
    parts = {picture.part for picture in pictures}
    # Scores on a test part would mean nothing.
    if parts.isdisjoint({None, "train"}):
        names = " and ".join(sorted(map(str, parts)))
        raise LeafidError(
            f"{' '.join(options.collections)}: expected pictures to learn from, found "
            f"{len(pictures)} of part {names} only; put those to learn from into a "
            "folder called train beside it"
        )
    collections = group_by_collection(pictures)
    for name in options.thumbnails_of or ():
        if name not in collections:
            expected = f"expected collections ({', '.join(collections)})"
            raise UsageError(f"--thumbnails-of: {expected}, found {name!r}")
    if options.licence:
        pictures = [replace(p, licence=p.licence or options.licence) for p in pictures]
    with open_loader(options, console) as loader:
        work = _extend if options.extend else _train
        model, lines = work(options, pictures, loader, console)
    model.save(options.output)
    for line in lines:
        console.print(line)
    if loader.unreadable:
        console.note(
            f"leafid: {len(loader.unreadable)} pictures could not be read and were "
            "left out"
        )
    return int(bool(loader.unreadable) or collection.is_incomplete)


def _train(
    options: Options,
    pictures: list[Picture],
    loader: FeatureLoader,
    console: Console,
) -> tuple[Model, list[str]]:
    """Train a model; also give the lines that report it."""
    unknown: list[Picture] = []
    if options.unknown:
        further = options.assume(read_and_warn(options.unknown).pictures)
        unknown = select_unknown_pictures(further, pictures)
    pictures = assign_types_and_warn(pictures, loader)
    recipes = load_recipes(options.recipe or "default", pictures, options.only_type)
    model = train(
        pictures,
        recipes,
        loader,
        options.seed,
        thumbnails=options.thumbnails_of or not options.no_thumbnails,
        unknown=assign_types(unknown, loader),
    )
    # These are fewer than were read if the recipes use some types only.
    n_used = sum(info.n_pictures for info in model.species.values())
    lines = [f"{options.output}: trained on {n_used} pictures", "on held-out plants:"]
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
    options: Options,
    pictures: list[Picture],
    loader: FeatureLoader,
    console: Console,
) -> tuple[Model, list[str]]:
    """Add species to a model; also give the line that reports it."""
    file = Path(str(options.extend))
    if options.extend == "bundled":
        file = find_bundled_model()
    old = Model.read(file)
    check_extension(old, pictures, str(file))
    pictures = assign_types_and_warn(pictures, loader, old.recogniser)
    thumbnails = options.thumbnails_of or not options.no_thumbnails
    model = extend(old, pictures, loader, thumbnails=thumbnails)
    n_added = len(model.species) - len(old.species)
    return model, [
        f"{options.output}: {n_added} species of {len(pictures)} pictures added to "
        f"{len(old.species)}"
    ]


def _format_scores(scores: Mapping[str, float]) -> str:
    if "S" not in scores:
        return (
            "no picture of a species with another plant to learn from; probabilities "
            "are not calibrated"
        )
    values = "   ".join(
        f"{title} {scores[key]:.3f}" for key, title in SCORE_TITLES.items()
    )
    return (
        f"{values}   ({scores['pictures']:.0f} pictures, {scores['unseen']:.0f} left "
        "out)"
    )
