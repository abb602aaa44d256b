"""Reads a ground truth: a collection, or a ``…GroundTruth.txt`` together with the XML of its pictures."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from leafid.collection.picture import Picture
from leafid.errors import LeafidError, ProblemsError
from leafid.runs.checks import Known
from leafid.runs.truth import Truth, make_truth
from leafid.textfiles import read_text

logger = logging.getLogger(__name__)

_PICTURE_NAME = re.compile(r"\S+\.(?:jpe?g|png|tiff?|bmp|webp)", re.IGNORECASE)


def read_truth(
    path: str | os.PathLike[str],
    *,
    xml: str | os.PathLike[str] | None = None,
    layout: str | None = None,
    part: str | None = None,
) -> Truth:
    """Read a ground truth from a collection, a folder of XML, or a ``…GroundTruth.txt`` together with its XML.

    Parameters
    ----------
    path : path-like
        A folder, or a text file of lines ``Genus species 666.jpg 2071.jpg …``.
    xml : path-like, optional
        Where `path` is a text file: the folder with the XML of its pictures; the file's own folder by default.
    layout : str, optional
        How the collection is laid out; found out by default.
    part : {"train", "val", "test"}, optional
        Score only this part. By default the test pictures where some are labelled, else all.

    Returns
    -------
    Truth

    Raises
    ------
    LeafidError
        When there is nothing to score against, or text file and XML disagree.
    """
    from leafid.collection import read_collection

    place = Path(path)
    if not place.exists():
        raise LeafidError(f"{place}: no such file or folder; expected a ground truth")
    listed = None if place.is_dir() else read_ground_truth_file(place)
    folder = place if listed is None else Path(xml) if xml is not None else place.parent
    collection = read_collection(folder, layout=layout)
    for problem in collection.problems:
        logger.warning("%s", problem)
    pictures: Sequence[Picture] = collection.pictures
    species = {picture.species for picture in pictures if picture.species}
    whole = bool({picture.part for picture in pictures if picture.species} & {"train"})
    if listed is not None:
        species |= set(listed)
        whole = True
        pictures = _listed_pictures(pictures, listed, place, folder)
    elif part is not None:
        pictures = [picture for picture in pictures if picture.part == part]
    else:
        pictures = _test_part(pictures)
    names = _species_list(folder)
    truth = make_truth(pictures, species | set(names or ()), complete=whole or names is not None, source=str(place))
    families = {p.taxon.genus: p.taxon.family for p in pictures if p.taxon and p.taxon.genus and p.taxon.family}
    return replace(truth, family_of={**families, **truth.family_of})


def read_known(path: str | os.PathLike[str], *, layout: str | None = None) -> Known:
    """Read which pictures and species a run may name; the pictures need not be labelled.

    Parameters
    ----------
    path, layout
        As for `read_truth`; a text file needs no XML.

    Returns
    -------
    Known
        All pictures of the collection, whatever their part.

    Raises
    ------
    LeafidError
        When nothing can be read there.
    """
    from leafid.collection import read_collection

    place = Path(path)
    if place.is_file():
        listed = read_ground_truth_file(place)
        pictures = frozenset(name for names in listed.values() for name in names)
        return Known(pictures, frozenset(listed) | frozenset(_species_list(place.parent) or ()))
    collection = read_collection(place, layout=layout)
    species = {picture.species for picture in collection.pictures if picture.species}
    names = _species_list(place)
    whole = names is not None or any(picture.part == "train" for picture in collection.pictures if picture.species)
    known = frozenset(species) | frozenset(names or ())
    return Known(frozenset(picture.name for picture in collection.pictures), known, whole)


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
        One line each: no species name, a picture named twice, text after the first picture that is none.
    LeafidError
        When the file can't be read or is empty.
    """
    file = Path(path)
    lines = read_text(file).split("\n")
    species: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        first = next((i for i, word in enumerate(words) if _PICTURE_NAME.fullmatch(word)), len(words))
        name, names = " ".join(words[:first]), words[first:]
        if first == 0:
            problems.append(f"{file}:{number}: expected a species name before the pictures, found {words[0]!r}")
        for word in names:
            if not _PICTURE_NAME.fullmatch(word):
                problems.append(f"{file}:{number}: expected a picture's file name, found {word!r}")
            elif word in where:
                problems.append(
                    f"{file}:{number}: expected picture {word!r} once, found it in lines {where[word]} and {number}"
                )
            where.setdefault(word, number)
        species.setdefault(name, []).extend(names)
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


def _test_part(pictures: Sequence[Picture]) -> Sequence[Picture]:
    test = [picture for picture in pictures if picture.part == "test" and picture.species]
    if test and len(test) < len(pictures):
        logger.warning("only the %d pictures of the test part are scored; name another with --part", len(test))
        return test
    return pictures


def _species_list(folder: Path) -> list[str] | None:
    """Read the names of a ``SpeciesIDList`` in the folder or beside it, or None where there is none."""
    for place in (folder / "SpeciesIDList", folder.resolve().parent / "SpeciesIDList"):
        if place.is_file():
            names = [" ".join(line.split()) for line in read_text(place).split("\n")]
            return [name for name in names if name]
    return None
