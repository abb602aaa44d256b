"""Reads a ground truth: a collection, or a ``…GroundTruth.txt`` together with the XML of its pictures."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from leafid.collection.picture import Picture
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.runs.checks import KnownNames
from leafid.runs.ground_truth import GroundTruth, make_ground_truth
from leafid.textfiles import read_text

logger = logging.getLogger(__name__)

_PICTURE_NAME = re.compile(r"\S+\.(?:jpe?g|png|tiff?|bmp|webp)", re.IGNORECASE)


def read_ground_truth(
    path: str | os.PathLike[str],
    *,
    xml: str | os.PathLike[str] | None = None,
    layout: str | None = None,
    part: str | None = None,
) -> GroundTruth:
    """Read a ground truth from a collection, a folder of XML, or a ``…GroundTruth.txt`` together with its XML.

    Parameters
    ----------
    path : path-like
        A folder, or a text file of lines ``Genus species 666.jpg 2071.jpg …``.
    xml : path-like, optional
        The folder with the XML of a text file's pictures; the file's own folder by default. Only for a text file.
    layout : str, optional
        How the collection is laid out; found out by default.
    part : {"train", "val", "test"}, optional
        Score only this part, see `select_scored`. Only for a folder: a text file lists what is scored.

    Returns
    -------
    GroundTruth

    Raises
    ------
    UsageError
        When `xml` is given with a folder, or `part` with a text file.
    LeafidError
        When there is nothing to score against, or text file and XML disagree.
    """
    from leafid.collection import read_and_warn

    place = Path(path)
    if not place.exists():
        raise LeafidError(f"{place}: no such file or folder; expected a ground truth")
    if place.is_dir() and xml is not None:
        raise UsageError(f"expected a …GroundTruth.txt with --xml, found the folder {place}; leave out --xml")
    if not place.is_dir() and part is not None:
        raise UsageError(f"expected a collection with --part, found the file {place}, which lists what is scored")
    listed = None if place.is_dir() else read_ground_truth_file(place)
    folder = place if listed is None else Path(xml) if xml is not None else place.parent
    pictures: Sequence[Picture] = read_and_warn(folder, layout).pictures
    species = {picture.species for picture in pictures if picture.species}
    whole = bool({picture.part for picture in pictures if picture.species} & {"train"})
    if listed is not None:
        species |= set(listed)
        whole = True
        pictures = _listed_pictures(pictures, listed, place, folder)
    else:
        pictures = select_scored(pictures, part, source=str(place))
    names = _species_list(folder)
    truth = make_ground_truth(
        pictures, species | set(names or ()), complete=whole or names is not None, source=str(place)
    )
    families = {p.taxon.genus: p.taxon.family for p in pictures if p.taxon and p.taxon.genus and p.taxon.family}
    return replace(truth, family_of={**families, **truth.family_of})


def select_scored(pictures: Sequence[Picture], part: str | None = None, *, source: str) -> Sequence[Picture]:
    """Choose the pictures of a collection that are scored.

    Parameters
    ----------
    pictures : sequence of Picture
    part : {"train", "val", "test"}, optional
        By default the test pictures where some are labelled, with a warning where that leaves any out; else all.
    source : str
        Named in messages.

    Returns
    -------
    sequence of Picture

    Raises
    ------
    LeafidError
        When other parts are labelled, but not this one.
    """
    labelled = {picture.part for picture in pictures if picture.species}
    chosen = [picture for picture in pictures if picture.part == (part or "test") and picture.species]
    if part is None:
        if chosen and len(chosen) < len(pictures):
            logger.warning("only the %d pictures of the test part are scored; name another with --part", len(chosen))
        return chosen or pictures
    if labelled and not chosen:
        others = ", ".join(sorted(name or "no part" for name in labelled))
        raise LeafidError(f"{source}: expected labelled pictures of part {part}, found only those of {others}")
    return chosen


def read_known_names(path: str | os.PathLike[str], *, layout: str | None = None) -> KnownNames:
    """Read which pictures and species a run may name; the pictures need not be labelled.

    Parameters
    ----------
    path, layout
        As for `read_ground_truth`; a text file needs no XML, and has no layout.

    Returns
    -------
    KnownNames
        All pictures of the collection, whatever their part.

    Raises
    ------
    UsageError
        When `layout` is given with a text file.
    LeafidError
        When nothing can be read there.
    """
    from leafid.collection import read_and_warn

    place = Path(path)
    if place.is_file():
        if layout is not None:
            raise UsageError(f"expected a collection with --layout, found the file {place}; leave out --layout")
        listed = read_ground_truth_file(place)
        pictures = frozenset(name for names in listed.values() for name in names)
        return KnownNames(pictures, frozenset(listed) | frozenset(_species_list(place.parent) or ()))
    collection = read_and_warn(place, layout)
    species = {picture.species for picture in collection.pictures if picture.species}
    names = _species_list(place)
    whole = names is not None or any(picture.part == "train" for picture in collection.pictures if picture.species)
    known = frozenset(species) | frozenset(names or ())
    return KnownNames(frozenset(picture.name for picture in collection.pictures), known, whole)


def read_ground_truth_file(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a ``…GroundTruth.txt``: ``Genus species 666.jpg 2071.jpg …``, a species a line.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict of str to list of str
        The picture names of each species; a species without a picture keeps its entry.

    Raises
    ------
    ProblemsError
        The first problem of each line: no species name, a picture named twice, text after the first picture that is
        none.
    LeafidError
        When the file can't be read, is empty, or is a run file.
    """
    file = Path(path)
    lines = read_text(file).split("\n")
    species: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    problems = []
    run_lines = 0
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        first = next((i for i, word in enumerate(words) if _PICTURE_NAME.fullmatch(word)), len(words))
        name, names = " ".join(words[:first]), words[first:]
        wrong = []
        if first == 0:
            run_lines += len(words) > 3 and words[-2].isdigit()
            wrong.append(f"expected a species name before the pictures, found {words[0]!r}")
        for word in names:
            if not _PICTURE_NAME.fullmatch(word):
                wrong.append(f"expected a picture's file name, found {word!r}")
            elif word in where:
                wrong.append(f"expected picture {word!r} once, found it in lines {where[word]} and {number}")
            where.setdefault(word, number)
        # Another file given by mistake has something wrong in every word.
        problems += [f"{file}:{number}: {problem}" for problem in wrong[:1]]
        species.setdefault(name, []).extend(names)
    if 2 * run_lines > sum(bool(line.strip()) for line in lines):
        raise LeafidError(
            f"{file}: expected a ground truth, found what looks like a run file; 'leafid evaluate' takes the ground "
            "truth first, then the runs"
        )
    if problems:
        raise ProblemsError(problems)
    if not where:
        raise LeafidError(f"{file}: expected lines '<Genus species> <picture> …', found no picture")
    return species


def _listed_pictures(
    pictures: Iterable[Picture], listed: Mapping[str, list[str]], file: Path, folder: Path
) -> list[Picture]:
    """Choose the pictures that the text file names, which must be those that the XML knows."""
    found: dict[str, Picture] = {}
    for picture in pictures:
        # A package has a test picture twice: with and without its label.
        if picture.name not in found or picture.species:
            found[picture.name] = picture
    problems = list(_disagreements(found, listed, file, folder))
    if problems:
        raise ProblemsError(problems)
    return [found[name] for names in listed.values() for name in names]


def _disagreements(
    found: Mapping[str, Picture], listed: Mapping[str, list[str]], file: Path, folder: Path
) -> Iterator[str]:
    for species, names in listed.items():
        for name in names:
            if name not in found:
                yield f"{file}: expected the XML of {name!r} in {folder}, found none; name its folder with --xml"
            elif found[name].species not in {species, None}:
                yield f"{file}: picture {name!r} is {species!r} here and {found[name].species!r} in its XML"
            elif found[name].species is None:
                yield f"{file}: expected the full XML of picture {name!r} in {folder}, found one without its taxon"


def _species_list(folder: Path) -> list[str] | None:
    """Read the names of a ``SpeciesIDList`` in the folder or beside it, or None where there is none."""
    for place in (folder / "SpeciesIDList", folder.resolve().parent / "SpeciesIDList"):
        if place.is_file():
            names = [" ".join(line.split()) for line in read_text(place).split("\n")]
            return [name for name in names if name]
    return None
