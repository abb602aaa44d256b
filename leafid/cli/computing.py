"""The work that commands share: pictures in workers, and the feature cache."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from leafid.cli.arguments import (
    TYPES,
    CacheOptions,
    ComputingOptions,
    PictureOptions,
    UnlabelledOptions,
    option,
)
from leafid.cli.outputs import Console
from leafid.errors import LeafidError
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader
from leafid.model.bundled import find_bundled_model, load_recogniser
from leafid.model.recogniser import MIN_COLLECTION, log_types
from leafid.parallel.cluster import on_cluster
from leafid.pictures.picture import Collection, Picture

T = TypeVar("T")


class PerPictureOptions(UnlabelledOptions, ComputingOptions):
    """Options of commands that measure pictures one by one."""

    @property
    def model_file(self) -> Path:
        """The file of the model, by default the bundled one."""
        return Path(self.model or find_bundled_model())


@contextmanager
def open_loader(options: CacheOptions, console: Console) -> Iterator[FeatureLoader]:
    """Open the feature cache, connect to the cluster, and yield a loader with both."""
    with on_cluster(options.cluster), ExitStack() as stack:
        folder = options.cache or choose_cache_folder()
        if options.no_cache:
            # A temporary cache keeps features that several types share from being
            # computed again.
            folder = stack.enter_context(TemporaryDirectory(prefix="leafid-"))
        cache = None
        try:
            cache = stack.enter_context(
                closing(FeatureCache(folder, round(options.cache_limit * 2**30)))
            )
        except LeafidError as error:
            console.warn(f"{error}; nothing is cached")
        yield FeatureLoader(cache, options.jobs)


def map_pictures(
    function: Callable[[Picture], T],
    collection: Collection,
    options: PerPictureOptions,
    console: Console,
    what: str,
) -> Iterator[tuple[Picture, T]]:
    """Call a function of each picture in workers.

    An unknown acquisition type is recognised first. Yield the pictures with the
    results. Pictures that can't be read are left out and reported.
    """
    pictures = collection.pictures
    loader = FeatureLoader(jobs=options.jobs)
    with_types = list(pictures)
    with on_cluster(options.cluster):
        if recogniser := load_recogniser(pictures, options.model):
            recognised = recogniser.recognise_pictures(
                pictures, loader.with_step("types")
            ).values()
            types = Counter(
                picture.require_type()
                for picture, probability in recognised
                if probability is not None
            )
            log_types(types, MIN_COLLECTION)
            with_types = [picture for picture, _ in recognised]
        results = loader.show_progress(
            loader.map_pictures(function, with_types), len(with_types), what
        )
        for picture, result in zip(with_types, results, strict=True):
            if result is not None:
                yield picture, result
    console.status = int(bool(loader.unreadable) or collection.is_incomplete)
    if loader.unreadable:
        console.note(
            f"leafid: {len(loader.unreadable)} of {len(pictures)} pictures left out"
        )


class TrainingOptions(PictureOptions):
    only_type: str | None = option(
        "train for this acquisition type only (default: all types)", choices=TYPES
    )
    recipe: str | None = option(
        "a shipped recipe (default, fast, small, baseline-bow), a .toml file, or a "
        "folder of such files (default: default)",
        metavar="R",
    )
