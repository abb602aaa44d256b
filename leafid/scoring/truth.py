"""The ground truth that runs are scored against: what is known of each labelled picture, in columns; and reading it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.pictures import read_and_warn
from leafid.pictures.collection import XmlOmission
from leafid.pictures.names import parse_label
from leafid.pictures.picture import Picture
from leafid.scoring.runs import KnownNames
from leafid.textfiles import LineProblems, read_text

logger = logging.getLogger(__name__)

_PICTURE_NAME = re.compile(r"\S+\.(?:jpe?g|png|tiff?|bmp|webp)", re.IGNORECASE)

#: The entry of a column where the collection has none.
UNKNOWN = "unknown"
#: The species of pictures that show none of the species that a system can know, whatever they show.
UNKNOWN_SPECIES = "Unknown species"


@dataclass(frozen=True)
class GroundTruth:
    """The labelled pictures, sorted by name; every column has one entry for each picture."""

    #: File names, each once.
    pictures: tuple[str, ...]
    #: `species`, `genus`, `family`: the correct answer and the taxa above it.
    species: tuple[str, ...]
    genus: tuple[str, ...]
    family: tuple[str, ...]
    #: ``scan``, ``scan-like``, ``photo``.
    type: tuple[str, ...]
    author: tuple[str, ...]
    #: Of S: as in the official scorer, an author's pictures of unknown plants are of one plant, `UNKNOWN`.
    plant: tuple[str, ...]
    #: What is counted, resampled and fused as a plant: a picture of an unknown plant is one of its own.
    unit: tuple[str, ...]
    content: tuple[str, ...]
    #: The names that a run may use.
    known: KnownNames
    #: The family of each known genus.
    family_of: Mapping[str, str]

    def __len__(self) -> int:
        """Count the pictures."""
        return len(self.pictures)

    def split_known(self) -> tuple[GroundTruth | None, int]:
        """Split off the pictures of `UNKNOWN_SPECIES`: return the others, None without any, and the number of these."""
        kept = [index for index, name in enumerate(self.species) if name != UNKNOWN_SPECIES]
        if len(kept) == len(self):
            return self, 0
        columns = ("pictures", "species", "genus", "family", "type", "author", "plant", "unit", "content")
        selected: dict[str, Any] = {name: tuple(getattr(self, name)[index] for index in kept) for name in columns}
        return replace(self, **selected) if kept else None, len(self) - len(kept)

    def encode(self, field: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """Encode a column, such as ``species``: its distinct entries, sorted, and the index of each picture's, intp."""
        if field not in self._encoded:
            entries = getattr(self, field)
            names = tuple(sorted(set(entries)))
            position = {name: index for index, name in enumerate(names)}
            self._encoded[field] = names, np.fromiter(map(position.__getitem__, entries), np.intp, len(entries))
        return self._encoded[field]

    @cached_property
    def _encoded(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.intp]]]:
        """The columns encoded so far: every run uses the same."""
        return {}


def make_ground_truth(
    pictures: Iterable[Picture],
    other_species: Iterable[str] = (),
    *,
    identifiers: Mapping[str, str] | None = None,
    complete: bool = False,
    source: str = "collection",
) -> GroundTruth:
    """Make a ground truth of the labelled pictures, with warnings where the species, type or author of some is unknown.

    Runs may name the other pictures, and `other_species`, as well. `identifiers` are the species of each identifier
    that runs may use, by default those of the pictures; `complete` says that there can be no other species; `source` is
    named in messages. A `LeafidError` is raised when no picture is labelled, or two have one name.
    """
    listed = tuple(pictures)
    labelled = sorted((picture for picture in listed if picture.species), key=lambda picture: picture.name)
    if not labelled:
        raise LeafidError(
            f"{source}: expected pictures with their species, found none; is this a test set without labels?"
        )
    clashes = [
        f"{source}: expected picture names that differ, found {first.file} and {second.file}; score them apart (--part)"
        for first, second in pairwise(labelled)
        if first.name == second.name
    ]
    if clashes:
        raise ProblemsError(clashes)
    _warn_of_unknown(labelled, "type", "acquisition type", "they count as a type of their own in the mean of types")
    _warn_of_unknown(labelled, "author", "author", "S counts them as pictures of one more author")
    _warn_of_unknown(
        labelled, "plant", "plant", "S counts those of an author as one plant, as the official scorer does"
    )
    taxa = [picture.taxon for picture in labelled if picture.taxon is not None]
    genus = tuple(taxon.genus or parse_label(taxon.species).genus or UNKNOWN for taxon in taxa)
    family = tuple(taxon.family or UNKNOWN for taxon in taxa)
    species = tuple(taxon.species for taxon in taxa)
    names = tuple(picture.name for picture in labelled)
    # A package has a test picture twice: with and without its label.
    unlabelled = {picture.name: picture for picture in listed}.keys() - set(names)
    if unlabelled:
        first = next(picture for picture in listed if picture.name in unlabelled)
        logger.warning(
            "%s: expected the species of every picture, found none for %d of %d, this one first; they are not scored",
            *(first.file, len(unlabelled), len(unlabelled) + len(names)),
        )
    return GroundTruth(
        pictures=names,
        species=species,
        genus=genus,
        family=family,
        type=tuple(str(picture.type or UNKNOWN) for picture in labelled),
        author=tuple(picture.author or UNKNOWN for picture in labelled),
        plant=tuple(picture.plant or UNKNOWN for picture in labelled),
        unit=tuple(picture.group if picture.plant else f"picture {picture.name}" for picture in labelled),
        content=tuple(str(picture.content or UNKNOWN) for picture in labelled),
        known=KnownNames(
            frozenset(names) | unlabelled,
            frozenset(species) | frozenset(other_species),
            complete,
            find_identifiers(listed) if identifiers is None else identifiers,
        ),
        family_of=dict(zip(genus, family, strict=True)),
    )


def find_identifiers(pictures: Iterable[Picture]) -> dict[str, str]:
    """Find the species of each identifier, and of each name with authors, that the pictures' taxa have."""
    found: dict[str, set[str]] = {}
    for taxon in (picture.taxon for picture in pictures if picture.taxon):
        for name in (taxon.full_name, taxon.identifier):
            if name and name != taxon.species:
                found.setdefault(name, set()).add(taxon.species)
    return {name: species.pop() for name, species in found.items() if len(species) == 1}


def _warn_of_unknown(pictures: Sequence[Picture], field: str, title: str, consequence: str) -> None:
    unknown = [picture for picture in pictures if not getattr(picture, field)]
    # In a collection that never has the field there is only one group, so that no score depends on it.
    if 0 < len(unknown) < len(pictures):
        logger.warning(
            "%s: expected the %s of every picture, found none for %d of %d, this one first; %s",
            unknown[0].file,
            title,
            len(unknown),
            len(pictures),
            consequence,
        )


def read_ground_truth(
    path: str | os.PathLike[str],
    *,
    xml: str | os.PathLike[str] | None = None,
    part: str | None = None,
    **reading: str | None,
) -> GroundTruth:
    """Read a ground truth from a collection, a folder of XML, or a ``…GroundTruth.txt`` together with its XML.

    `xml` is the folder with the XML of a text file's pictures, by default its own. `part` selects a part of a folder
    (see `select_scored`); a text file lists what is scored; `reading` are options of `read_collection`. Either with the
    other kind raises a `UsageError`; nothing to score against, or a text file and XML that disagree, a `LeafidError`.
    """
    source = Path(path)
    if not source.exists():
        raise LeafidError(f"{source}: no such file or folder; expected a ground truth")
    if source.is_dir() and xml is not None:
        raise UsageError(f"expected a …GroundTruth.txt with --xml, found the folder {source}; leave out --xml")
    if not source.is_dir() and part is not None:
        raise UsageError(f"expected a collection with --part, found the file {source}, which lists what is scored")
    listed = None if source.is_dir() else read_ground_truth_file(source)
    folder = source if listed is None else Path(xml) if xml is not None else source.parent
    collection = read_and_warn(folder, **reading, unlabelled=True)
    omitted = [problem for problem in collection.problems if isinstance(problem, XmlOmission)]
    if omitted and listed is None:
        raise LeafidError(
            f"{folder}: expected a ground truth whose XML can all be used, found {len(omitted)} left out (see the "
            "warnings), whose pictures the means would lack; correct or remove them"
        )
    pictures: Sequence[Picture] = collection.pictures
    species = {picture.species for picture in pictures if picture.species}
    families = {p.taxon.genus: p.taxon.family for p in pictures if p.taxon and p.taxon.genus and p.taxon.family}
    identifiers = find_identifiers(pictures)
    names = _read_species_list(folder)
    complete = names is not None or listed is not None or _has_training_labels(pictures)
    if listed is None:
        pictures = select_scored(pictures, part, source=str(source))
    else:
        pictures = _select_listed(pictures, listed, source, folder)
    truth = make_ground_truth(
        pictures,
        {*species, *(names or ()), *(listed or ())},
        identifiers=identifiers,
        complete=complete,
        source=str(source),
    )
    return replace(truth, family_of={**families, **truth.family_of})


def select_scored(pictures: Sequence[Picture], part: str | None = None, *, source: str) -> Sequence[Picture]:
    """Select the pictures that are scored: of a part, by default "test" where any is labelled, else all.

    A warning says if other pictures are left out; a `LeafidError` is raised when other parts are labelled, but not this
    one.
    """
    labelled = {picture.part for picture in pictures if picture.species}
    selected = [picture for picture in pictures if picture.part == (part or "test")]
    if part is not None:
        if labelled and part not in labelled:
            others = ", ".join(sorted(name or "no part" for name in labelled))
            raise LeafidError(f"{source}: expected labelled pictures of part {part}, found only those of {others}")
        return selected
    if "test" not in labelled:
        return pictures
    if len(selected) < len(pictures):
        count = sum(picture.species is not None for picture in selected)
        logger.info("only the %d pictures of the test part are scored; name another with --part", count)
    return selected


def read_known_names(path: str | os.PathLike[str], **reading: str | None) -> KnownNames:
    """Read which pictures, of all parts, and which species a run may name; the pictures need not be labelled.

    Path and options are those of `read_ground_truth`; a text file needs no XML, and options with it raise a
    `UsageError`.
    """
    source = Path(path)
    if source.is_file():
        if given := [f"--{name.replace('_', '-')}" for name, value in reading.items() if value is not None]:
            options = " and ".join(given)
            raise UsageError(f"expected a collection with {options}, found the file {source}; leave out {options}")
        listed = read_ground_truth_file(source)
        listed_pictures = frozenset(name for names in listed.values() for name in names)
        return KnownNames(listed_pictures, frozenset(listed) | frozenset(_read_species_list(source.parent) or ()))
    pictures = read_and_warn(source, **reading, unlabelled=True).pictures
    names = _read_species_list(source)
    species = {picture.species for picture in pictures if picture.species} | set(names or ())
    complete = names is not None or _has_training_labels(pictures)
    return KnownNames(
        frozenset(picture.name for picture in pictures), frozenset(species), complete, find_identifiers(pictures)
    )


def read_ground_truth_file(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a ``…GroundTruth.txt``: ``Genus species 666.jpg 2071.jpg …``, a species a line, as picture names by species.

    A `ProblemsError` has the first problem of each line: no species name, a picture named twice, or a word after the
    first picture that is no picture. A file that is empty, or a run file, raises a `LeafidError`.
    """
    file = Path(path)
    lines = read_text(file).split("\n")
    species: dict[str, list[str]] = {}
    line_of_picture: dict[str, int] = {}
    problems = LineProblems(file)
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
            elif word in line_of_picture:
                both = f"lines {line_of_picture[word]} and {number}"
                wrong.append(f"expected picture {word!r} once, found it in {both}")
            line_of_picture.setdefault(word, number)
        # A file of another kind has something wrong in every word.
        for problem in wrong[:1]:
            problems.add(number, problem)
        species.setdefault(name, []).extend(names)
    if 2 * run_lines > sum(bool(line.strip()) for line in lines):
        raise LeafidError(
            f"{file}: expected a ground truth, found what looks like a run file; 'leafid evaluate' takes the ground "
            "truth first, then the runs"
        )
    if problems:
        raise ProblemsError(problems.list_messages())
    if not line_of_picture:
        raise LeafidError(f"{file}: expected lines '<Genus species> <picture> …', found no picture")
    return species


def _has_training_labels(pictures: Iterable[Picture]) -> bool:
    return any(picture.part == "train" and picture.species for picture in pictures)


def _select_listed(
    pictures: Iterable[Picture], listed: Mapping[str, list[str]], file: Path, folder: Path
) -> list[Picture]:
    """Select the pictures that the text file names, which must be those that the XML describes."""
    by_name: dict[str, Picture] = {}
    for picture in pictures:
        # A package has a test picture twice: with and without its label.
        if picture.name not in by_name or picture.species:
            by_name[picture.name] = picture
    problems = LineProblems(file)
    for species, names in listed.items():
        for name in names:
            if name not in by_name:
                problems.add(None, f"expected the XML of {name!r} in {folder}, found none; name its folder with --xml")
            elif by_name[name].species is None:
                problems.add(
                    None, f"expected the full XML of picture {name!r} in {folder}, found one without its taxon"
                )
            elif by_name[name].species != species:
                problems.add(None, f"picture {name!r} is {species!r} here and {by_name[name].species!r} in its XML")
    if problems:
        raise ProblemsError(problems.list_messages())
    return [by_name[name] for names in listed.values() for name in names]


def _read_species_list(folder: Path) -> list[str] | None:
    """Read the names of a ``SpeciesIDList`` in the folder or beside it, or None where there is none."""
    for file in (folder / "SpeciesIDList", folder.resolve().parent / "SpeciesIDList"):
        if file.is_file():
            names = [" ".join(line.split()) for line in read_text(file).split("\n")]
            return [name for name in names if name]
    return None


def find_indices(names: Sequence[str], known: Sequence[str]) -> NDArray[np.intp]:
    """Find each name's index among the known ones, -1 for others."""
    index = {name: position for position, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in names], np.intp)
