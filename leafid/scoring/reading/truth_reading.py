"""Reads a ground truth: a collection, XML files, or ``…GroundTruth.txt``."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from leafid.errors import LeafidError, UsageError
from leafid.files import StrPath
from leafid.grouping import count_noun
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.names import normalise_name
from leafid.pictures.picture import Picture, XmlOmission, to_run_name
from leafid.pictures.readers import tables
from leafid.pictures.reading import read_and_warn
from leafid.pictures.summary import warn_of_shared_pictures
from leafid.scoring.reading.runs import KnownNames
from leafid.scoring.reading.truth import (
    GroundTruth,
    collect_known_names,
    make_ground_truth,
)
from leafid.textfiles import LineProblems, read_first_line, read_text

logger = logging.getLogger(__name__)


_PICTURE_NAME = re.compile(
    rf"\S+(?:{'|'.join(map(re.escape, PICTURE_ENDINGS))})", re.IGNORECASE
)


def read_ground_truth(
    path: StrPath,
    *,
    part: str | None = None,
    more: Sequence[Picture] = (),
    **reading: str | None,
) -> GroundTruth:
    """Read a ground truth from a collection, XML files or ``…GroundTruth.txt``.

    The XML files of a ``…GroundTruth.txt`` are in its folder. A collection may be a CSV
    table of pictures that aren't there. `part` selects a part of a collection (see
    `select_scored`); a text file lists what is scored, so that both together raise a
    `UsageError`. Runs may also name species of `more` pictures. `reading` are
    options of `read_collection`. A `LeafidError` is raised when there is nothing to
    score against, or text file and XML disagree.
    """
    source = Path(path)
    folder = find_collection(source)
    scored_names: dict[str, list[str]] = {}
    if folder != source:
        if part is not None:
            raise UsageError(
                f"expected a collection with --part, found the file {source}, which "
                "lists what is scored"
            )
        scored_names = read_ground_truth_file(source)
    collection = read_and_warn(folder, **reading)
    everything = collection.pictures
    warn_of_shared_pictures(everything)
    n_omitted = sum(isinstance(p, XmlOmission) for p in collection.problems)
    if scored_names:
        pictures: Sequence[Picture] = _select_by_name(everything, scored_names, source)
    elif n_omitted:
        raise LeafidError(
            f"{folder}: expected a ground truth whose XML can all be used, found "
            f"{n_omitted} left out (see the warnings), whose pictures the means would "
            "lack; correct or remove them"
        )
    else:
        pictures = select_scored(everything, part, source=str(source))
    everything = (*more, *everything)
    species = [*_read_species_list(folder), *scored_names]
    known = collect_known_names(everything, species)
    return make_ground_truth(pictures, known, source=str(source))


def read_known_names(path: StrPath, **reading: str | None) -> KnownNames:
    """Read which pictures, of all parts, and which species a run may name.

    The pictures need not be labelled. Path and options are as in `read_ground_truth`; a
    text file needs no XML, and takes no options.
    """
    source = Path(path)
    folder = find_collection(source)
    species = _read_species_list(folder)
    if folder == source:
        return collect_known_names(read_and_warn(source, **reading).pictures, species)
    pictures = read_ground_truth_file(source)
    names = frozenset(chain(*pictures.values()))
    return KnownNames(names, frozenset([*pictures, *species]))


def find_collection(source: Path) -> Path:
    """Find the collection of a ground truth: its path, or its file's folder."""
    if source.is_file() and not tables.detect(source):
        return source.parent
    return source


def select_scored(
    pictures: Sequence[Picture], part: str | None = None, *, source: str
) -> Sequence[Picture]:
    """Select the pictures of a part; by default of "test" if it has labels, else all.

    A note says if other pictures are left out; a `LeafidError` is raised when other
    parts are labelled, but not this one.
    """
    labelled = {picture.part for picture in pictures if picture.species}
    if part is None and "test" not in labelled:
        return pictures
    if part is not None and labelled and part not in labelled:
        others = ", ".join(sorted(name or "no part" for name in labelled))
        raise LeafidError(
            f"{source}: expected labelled pictures of part {part}, found only "
            f"pictures of {others}"
        )
    selected = [p for p in pictures if p.part == (part or "test")]
    if part is None and len(selected) < len(pictures):
        count = sum(picture.species is not None for picture in selected)
        logger.info(
            "only the test part is scored (%s); name another with --part",
            count_noun(count, "picture"),
        )
    return selected


def read_ground_truth_file(path: StrPath) -> dict[str, list[str]]:
    """Read ``…GroundTruth.txt``: the names of pictures by species.

    A line has a species: ``Genus species 666.jpg 2071.jpg …``. A `ProblemsError` has
    the lines of another form, and pictures that are named twice. A file that is empty,
    or a run file, raises a `LeafidError`.
    """
    file = Path(path)
    if read_first_line(file) is None:
        raise LeafidError(
            f"{file}: expected a collection, a …GroundTruth.txt or a CSV table with "
            "the columns picture and species, as UTF-8 text, found another kind of file"
        )
    species: dict[str, list[str]] = {}
    with LineProblems(file) as problems:
        for number, line in enumerate(read_text(file).split("\n"), 1):
            words = line.split()
            pictures = [*filter(_PICTURE_NAME.fullmatch, words)]
            label = words[: len(words) - len(pictures)]
            names = [*map(to_run_name, pictures)]
            if words and not (label and words == label + pictures):
                problems.add(
                    number,
                    "expected a ground truth (named before the runs) of lines '<Genus "
                    f"species> <picture> …', found {line.strip()!r:.100}",
                )
            elif words and all(
                problems.check_unique(number, "every picture", name) for name in names
            ):
                name = normalise_name(" ".join(label))
                species.setdefault(name, []).extend(names)
    if not any(species.values()):
        raise LeafidError(
            f"{file}: expected lines '<Genus species> <picture> …', found no picture"
        )
    return species


def _select_by_name(
    pictures: Iterable[Picture], names_by_species: Mapping[str, list[str]], file: Path
) -> list[Picture]:
    """Select the pictures that the text file names, which the XML has to describe."""
    # A package has a test picture twice: with and without its label.
    by_name = {picture.name: picture for picture in pictures if picture.species}
    with LineProblems(file) as problems:
        for species, names in names_by_species.items():
            for name in names:
                if name not in by_name:
                    problems.add(
                        None,
                        f"expected the XML of {name!r} with its taxon in "
                        f"{file.parent}, found none",
                    )
                elif (label := by_name[name].species) != species:
                    problems.add(
                        None,
                        f"picture {name!r} is {species!r} here and {label!r} in its "
                        "XML",
                    )
    return [by_name[name] for name in chain(*names_by_species.values())]


def _read_species_list(folder: Path) -> list[str]:
    """Read the names of a ``SpeciesIDList`` in or beside the folder, if it has one."""
    for file in (folder / "SpeciesIDList", folder.resolve().parent / "SpeciesIDList"):
        if file.is_file():
            lines = read_text(file).split("\n")
            return [normalise_name(line) for line in lines if line.strip()]
    return []
