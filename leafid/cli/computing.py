"""What commands that compute share: the feature cache, and work on pictures, in processes or on a cluster."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TypeVar

from leafid.cli.arguments import CacheOptions, ComputingOptions, UnlabelledOptions
from leafid.cli.environment import Environment
from leafid.errors import LeafidError
from leafid.features.extractor import TYPE_SIDE, measure_type_features
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader, get_type
from leafid.model.bundled import load_recogniser
from leafid.model.recogniser import TypeRecogniser, warn_of_mixed_types
from leafid.parallel.cluster import on_cluster
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, Picture

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
