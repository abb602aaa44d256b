"""Finds out which layout a collection has, and reads it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

from leafid.collection import imageclef, plain_pictures, plantnet300k, species_folders
from leafid.collection.collection import Collection, Omission
from leafid.collection.names import parse_genus
from leafid.collection.picture import Picture
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.images import PICTURE_ENDINGS

logger = logging.getLogger(__name__)


class Reader(Protocol):
    """What a module of a layout offers."""

    LAYOUT: str

    def detect(self, path: Path) -> bool:
        """Tell whether a path has this layout."""

    def read(self, path: Path) -> Collection:
        """Read a path as this layout."""


#: By name; detection asks in this order, the most particular layout first.
READERS: dict[str, Reader] = {
    module.LAYOUT: cast(Reader, module) for module in (plantnet300k, imageclef, species_folders, plain_pictures)
}


def read_collection(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    layout: str | None = None,
    *,
    unlabelled: bool = False,
) -> Collection:
    """Read a collection: list its pictures with all that is known of them.

    No picture is opened. What is wrong with single pictures goes to the collection's problems; they are left out.

    Parameters
    ----------
    path : path-like or sequence of path-like
        A folder, or a picture, or several of both, which are then read one by one and joined. Of several, a picture
        that isn't there is listed like the others, as one that can't be read; what holds no pictures is a problem.
    layout : {"imageclef", "plantnet300k", "species-folders", "pictures"}, optional
        By default it is found out.
    unlabelled : bool, default False
        Of species folders, list pictures of which no species is known too, wherever they are: to name them, no label
        is needed.

    Returns
    -------
    Collection
        Pictures in an order that doesn't depend on the file system.

    Raises
    ------
    UsageError
        When the layout isn't known.
    LeafidError
        When nothing is there, no layout fits, or no picture is left, of any of the paths.
    """
    if layout is not None and layout not in READERS:
        raise UsageError(f"expected a layout ({', '.join(READERS)}), found {layout!r}")
    if isinstance(path, (str, os.PathLike)):
        return _read_one(Path(path), layout, unlabelled)
    found: list[Collection] = []
    problems: list[str] = []
    for one in map(Path, path):
        try:
            found.append((len(path) > 1 and _missing_picture(one)) or _read_one(one, layout, unlabelled))
        except LeafidError as error:
            if len(path) == 1:
                raise
            # Among several, one that is of no use costs only itself.
            first, *others = error.problems if isinstance(error, ProblemsError) else [str(error)]
            problems += [Omission(f"{first}; it is left out"), *others]
    if problems and not found:
        raise ProblemsError(problems)
    if not found:
        raise UsageError("expected at least one picture or collection, found none")
    joined = found[0] if len(found) == 1 else _joined(found)
    return replace(joined, problems=(*joined.problems, *problems))


def read_and_warn(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    layout: str | None = None,
    *,
    unlabelled: bool = False,
) -> Collection:
    """Read a collection as `read_collection` does, and log a warning for each of its problems.

    For whoever only wants the pictures: none of them vanishes from a score unsaid.
    """
    collection = read_collection(path, layout, unlabelled=unlabelled)
    for problem in collection.problems:
        logger.warning("%s", problem)
    return collection


def _missing_picture(path: Path) -> Collection | None:
    """List a picture that isn't there as one that can't be read: among several that are named it costs only itself."""
    if path.exists() or path.suffix.lower() not in PICTURE_ENDINGS:
        return None
    return Collection(path, plain_pictures.LAYOUT, (Picture(path),))


def _read_one(path: Path, layout: str | None, unlabelled: bool) -> Collection:
    if not path.exists():
        raise LeafidError(f"{path}: no such file or folder")
    try:
        name = layout or _detected(path)
        reads_all = unlabelled and name == species_folders.LAYOUT
        collection = species_folders.read(path, unlabelled=True) if reads_all else READERS[name].read(path)
    except OSError as error:
        raise LeafidError(f"{error.filename or path}: can't be read: {error.strerror or error}") from error
    if not collection.pictures:
        said = f" in the layout {layout}; leave out --layout to have it found out" if layout else ""
        raise ProblemsError([f"{path}: expected pictures, found none that can be used{said}", *collection.problems])
    return replace(collection, pictures=_one_spelling(collection.pictures))


def _one_spelling(pictures: Sequence[Picture]) -> tuple[Picture, ...]:
    """Make species whose names differ in upper and lower case only one, of the spelling with the fewest capitals."""
    spelling: dict[str, str] = {}
    for species in {picture.taxon.species for picture in pictures if picture.taxon}:
        key = species.casefold()
        spelling[key] = max(spelling.get(key, ""), species)  # small letters sort after capitals
    return tuple(_respelt(picture, spelling) for picture in pictures)


def _respelt(picture: Picture, spelling: Mapping[str, str]) -> Picture:
    taxon = picture.taxon
    if taxon is None or (species := spelling[taxon.species.casefold()]) == taxon.species:
        return picture
    return replace(picture, taxon=replace(taxon, species=species, genus=parse_genus(species)))


def _detected(path: Path) -> str:
    for name, reader in READERS.items():
        if reader.detect(path):
            return name
    raise LeafidError(
        f"{path}: expected a collection, found no pictures of any known layout ({', '.join(READERS)}); "
        "name a folder that holds pictures itself, or folders of pictures named after species"
    )


def _joined(collections: Iterable[Collection]) -> Collection:
    first, *others = collections
    layouts = {first.layout, *(other.layout for other in others)}
    seen = {picture.file: picture for one in (first, *others) for picture in one.pictures}
    return Collection(
        Path(os.path.commonpath([str(one.root.absolute()) for one in (first, *others)])),
        first.layout if len(layouts) == 1 else "several",
        tuple(seen.values()),
        tuple(problem for one in (first, *others) for problem in one.problems),
    )
