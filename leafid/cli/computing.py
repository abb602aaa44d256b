"""What commands that compute share: pictures and recipes to train on, the feature cache, and work on pictures."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TypeVar

from leafid.cli.arguments import TYPES, CacheOptions, ComputingOptions, PictureOptions, UnlabelledOptions, option
from leafid.cli.outputs import Environment
from leafid.errors import LeafidError
from leafid.features.extractor import TYPE_SIDE, measure_type_features
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader, get_type
from leafid.features.recipe import Recipe, choose_types_to_train, load_recipe
from leafid.model.bundled import assign_types, load_recogniser
from leafid.model.recogniser import TypeRecogniser, warn_of_mixed_types
from leafid.parallel.cluster import on_cluster
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, EmptyClass, Picture
from leafid.pictures.splits import select_training_pictures
from leafid.pictures.summary import warn_of_shared_pictures

T = TypeVar("T")


class MeasuringOptions(UnlabelledOptions, ComputingOptions):
    """Options of commands that measure pictures one by one."""


@contextmanager
def open_loader(options: CacheOptions, environment: Environment) -> Iterator[FeatureLoader]:
    """Open the feature cache, connect to the cluster, and yield the loader that uses both."""
    with on_cluster(options.cluster), ExitStack() as stack:
        folder = options.cache or choose_cache_folder()
        if options.no_cache:
            # A temporary cache keeps features that several types share from being computed again.
            folder = stack.enter_context(TemporaryDirectory(prefix="leafid-"))
        cache = None
        try:
            cache = FeatureCache(folder, round(options.cache_limit * 2**30))
            stack.callback(cache.close)
        except LeafidError as error:
            environment.warn(f"{error}; nothing is cached")
        yield FeatureLoader(cache, options.jobs, environment.progress)


def map_pictures(
    function: Callable[[Picture], T],
    pictures: Sequence[Picture],
    options: MeasuringOptions,
    environment: Environment,
    what: str,
) -> Iterator[tuple[Picture, T]]:
    """Call a function of each picture, whose type is recognised if it is unknown, in workers.

    Yield the pictures with the results, without those that could not be read, which are reported.
    """
    loader = FeatureLoader(jobs=options.jobs)
    task = partial(_recognise_and_call, load_recogniser(pictures, options.model), function)
    recognised: Counter[AcquisitionType] = Counter()
    with on_cluster(options.cluster):
        outcomes = environment.progress(loader.map_pictures(task, pictures), len(pictures), what)
        for picture, outcome in zip(pictures, outcomes, strict=True):
            if outcome is not None:
                recognised.update([] if picture.type else [get_type(outcome[0])])
                yield outcome
    warn_of_mixed_types(recognised)
    if loader.unreadable:
        environment.note(f"leafid: {len(loader.unreadable)} of {len(pictures)} pictures left out")


def _recognise_and_call(
    recogniser: TypeRecogniser | None, function: Callable[[Picture], T], picture: Picture
) -> tuple[Picture, T]:
    """Call the function of a picture in a worker; also return the picture with its type."""
    if picture.type is None and recogniser:
        row = measure_type_features(read_image(picture.file, TYPE_SIDE))
        picture = replace(picture, type=recogniser.recognise(row)[0])
    return picture, function(picture)


class TrainingOptions(PictureOptions):
    only_type: str | None = option("train for this acquisition type only (default: all types)", choices=TYPES)
    recipe: str | None = option(
        "a shipped recipe (default, fast, small, baseline-bow), a .toml file, or a folder of such files "
        "(default: default)",
        metavar="R",
    )


def read_training_pictures(
    path: str, options: PictureOptions, *, all_parts: bool = False
) -> tuple[list[Picture], bool]:
    """Read the labelled pictures of a collection's training part, or of all parts.

    Also tell whether the collection has pictures that can't be used.
    """
    collection = options.read(path, EmptyClass)
    warn_of_shared_pictures(collection.pictures)
    labelled = collection.select_labelled().pictures if all_parts else ()
    return [*labelled] or select_training_pictures(collection.pictures, source=path), collection.is_incomplete


def assign_types_and_warn(
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    environment: Environment,
    recogniser: TypeRecogniser | None = None,
) -> list[Picture]:
    """Recognise unknown acquisition types, and report them; warn that unknown plants make held-out scores too high.

    A model that is extended has a recogniser, and its scores stay as they are.
    """
    n_unknown = sum(picture.plant is None for picture in pictures)
    if n_unknown and recogniser is None:
        environment.warn(
            f"the plants of {n_unknown} of {len(pictures)} pictures are unknown: where several show one plant, "
            "held-out scores are too high (top-1 0.993 instead of 0.85 for scans of ImageCLEF 2011); "
            "say --plants-from, or look for pictures of one leaf with 'leafid info --similar'"
        )
    typed = assign_types(pictures, loader, recogniser)
    if untyped := {picture.file for picture in pictures if picture.type is None}:
        counts = Counter(picture.type for picture in typed if picture.file in untyped)
        recognised = ", ".join(f"{type_} {counts[type_]}" for type_ in AcquisitionType if type_ in counts)
        environment.note(f"acquisition types recognised: {recognised or 'none'}")
    return typed


def load_recipes(options: TrainingOptions, pictures: list[Picture]) -> dict[AcquisitionType, Recipe]:
    """Load the recipe of each type to train: those among the pictures, or the one of ``--only-type``."""
    only = AcquisitionType(options.only_type) if options.only_type else None
    return {type_: load_recipe(options.recipe or "default", type_) for type_ in choose_types_to_train(pictures, only)}
