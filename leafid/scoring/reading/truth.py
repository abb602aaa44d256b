"""The ground truth of runs: columns of what is known of each labelled picture."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.files import StrPath
from leafid.grouping import group_by
from leafid.metrics.averages import Booleans, Indices
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.names import (
    UNKNOWN_SPECIES,
    normalise_name,
    parse_genus,
    parse_label,
    read_families,
)
from leafid.pictures.picture import (
    AcquisitionType,
    Picture,
    Taxon,
    XmlOmission,
    to_run_name,
)
from leafid.pictures.readers import tables
from leafid.pictures.reading import read_and_warn
from leafid.pictures.summary import warn_of_shared_pictures
from leafid.scoring.reading.runs import KnownNames, Run, select_rows
from leafid.textfiles import LineProblems, read_first_line, read_text

logger = logging.getLogger(__name__)

_PICTURE_NAME = re.compile(
    rf"\S+(?:{'|'.join(map(re.escape, PICTURE_ENDINGS))})", re.IGNORECASE
)

#: The entry of a column where the collection has none.
UNKNOWN = "unknown"
#: The order of acquisition types in tables.
TYPE_ORDER = (*map(str, AcquisitionType), UNKNOWN)
#: The name of the group of all pictures.
ALL = "all pictures"

#: Text, an object for each picture.
Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The labelled pictures, sorted by name; columns have an entry for each picture."""

    #: The names that a run may use.
    known: KnownNames
    #: File names, each once.
    pictures: Texts
    #: `species` is the correct answer, `genus` and `family` are the taxa above it.
    species: Texts
    genus: Texts
    family: Texts
    #: ``scan``, ``scan-like``, ``photo``.
    type: Texts
    author: Texts
    #: The plants of S: as in the official scorer, an author's pictures of unknown
    #: plants show one plant, `UNKNOWN`.
    official_plant: Texts
    #: The plants that are counted, resampled and fused: each picture of an unknown
    #: plant shows a plant by itself.
    plant: Texts

    def __len__(self) -> int:
        return len(self.pictures)

    def select_known(self, source: object = "ground truth") -> GroundTruth:
        """Select the pictures that aren't of `UNKNOWN_SPECIES`.

        A `LeafidError` names the source when there is none.
        """
        known = self.select(self.species != UNKNOWN_SPECIES)
        if not len(known):
            raise LeafidError(
                f"{source}: expected pictures of known species, found {len(self)} "
                "unknown ones only"
            )
        return known

    def select(self, mask: Booleans) -> GroundTruth:
        """Select pictures; a run may name the others as well."""
        return select_rows(self, mask)

    def select_type(self, type_: AcquisitionType | None, source: object) -> GroundTruth:
        """Select the pictures of an acquisition type, or all without one.

        A `LeafidError` names the source when there is none.
        """
        if type_ is None:
            return self
        truth = self.select(self.type == str(type_))
        if not len(truth):
            raise LeafidError(
                f"{source}: expected pictures of type {type_}, found none"
            )
        return truth

    def locate(self, run: Run) -> tuple[Run, Indices, Indices]:
        """Find a run's predictions of pictures of this ground truth.

        With these N predictions come the index of each one's picture, and of its
        species among the sorted species, -1 for others: intp (N,).
        """
        picture = find_indices(run.pictures, self.pictures)[run.picture_index]
        located = run.select(picture >= 0)
        species = find_indices(run.species, np.unique(self.species))
        return located, picture[picture >= 0], species[located.species_index]

    def warn_of_families(self, runs: Iterable[Run]) -> None:
        """Warn of genera that runs name first, and whose family is unknown (wrong)."""
        for run in runs:
            first, picture, _ = self.locate(run.select(run.rank == 1))
            named = first.species_index[self.family[picture] != UNKNOWN]
            genera = {parse_genus(run.species[index]) for index in named.tolist()}
            known = {*self.known.family_of, parse_genus(UNKNOWN_SPECIES)}
            if unknown := ", ".join(sorted(genera - known)):
                logger.warning(
                    "%s: expected genera of known families, found %s, which count as "
                    "wrong; name a collection that has them (--taxonomy)",
                    run.name,
                    unknown,
                )


def find_indices(names: Iterable[str], known: Iterable[str]) -> Indices:
    """Find each name's index among the known ones, -1 for others."""
    index = {name: position for position, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in names], np.intp)


def make_ground_truth(
    pictures: Iterable[Picture],
    known: KnownNames | None = None,
    *,
    source: str = "collection",
) -> GroundTruth:
    """Make a ground truth of the labelled pictures.

    A warning counts the pictures without a species, type or author. Runs may name the
    other pictures as well, and the species of `known` (by default the species of the
    pictures); `source` is named in messages. A `LeafidError` is raised when no picture
    is labelled, or two have one name.
    """
    everything = tuple(pictures)
    labelled = sorted(
        (picture for picture in everything if picture.species),
        key=lambda picture: picture.name,
    )
    if not labelled:
        raise LeafidError(
            f"{source}: expected pictures with their species, found none; is this a "
            "test set without labels?"
        )
    if clashes := [(a.file, b.file) for a, b in pairwise(labelled) if a.name == b.name]:
        expected = f"{source}: expected picture names that differ"
        raise ProblemsError(
            f"{expected}, found {a} and {b}; score them apart (--part)"
            for a, b in clashes
        )
    _warn_of_gaps(everything, labelled)
    known = known or collect_known_names(everything)
    names = frozenset(picture.name for picture in everything)
    rows = [_make_row(picture, known.family_of) for picture in labelled]
    return GroundTruth(replace(known, pictures=names), *np.array(rows, object).T)


def _make_row(picture: Picture, family_of: Mapping[str, str]) -> tuple[str, ...]:
    """Make the entries of a picture, in the order of the columns of a ground truth."""
    assert picture.taxon
    genus = _find_genus(picture.taxon) or UNKNOWN
    return (
        picture.name,
        picture.taxon.species,
        genus,
        picture.taxon.family or family_of.get(genus, UNKNOWN),
        str(picture.type or UNKNOWN),
        picture.author or UNKNOWN,
        picture.plant or UNKNOWN,
        picture.group if picture.plant else f"picture {picture.name}",
    )


def _warn_of_gaps(everything: Sequence[Picture], labelled: Sequence[Picture]) -> None:
    for field in ("type", "author", "plant", "species"):
        pictures = labelled
        consequence = f"they count as pictures of one more {field} in S"
        if field == "species":
            # A package has a test picture twice: with and without its label.
            unique = {picture.name: picture for picture in (*everything, *labelled)}
            pictures = [*unique.values()]
            consequence = "they are not scored"
        unknown = [picture for picture in pictures if not getattr(picture, field)]
        # In a collection that never has the field there is only one group, so that no
        # score depends on it.
        if 0 < len(unknown) < len(pictures):
            logger.warning(
                "%s: expected the %s of every picture, found none for %d of %d, this "
                "one first; %s",
                *(unknown[0].file, field, len(unknown), len(pictures), consequence),
            )


def collect_known_names(
    pictures: Iterable[Picture], species: Sequence[str] = ()
) -> KnownNames:
    """Collect the names that runs may use; `species` are the names of more species."""
    everything = tuple(pictures)
    taxa = [p.taxon for p in everything if p.taxon and p.species]
    synonyms = set()
    family_of = dict(read_families())
    for taxon in taxa:
        for name in filter(None, (taxon.full_name, taxon.identifier)):
            synonyms.add((name, taxon.species))
        genus = _find_genus(taxon)
        if taxon.family and genus:
            family_of[genus] = taxon.family
    return KnownNames(
        pictures=frozenset(picture.name for picture in everything),
        species=frozenset([*species, *(taxon.species for taxon in taxa)]),
        names=frozenset(synonyms),
        family_of=family_of,
    )


def _find_genus(taxon: Taxon) -> str | None:
    return taxon.genus or parse_label(taxon.species).genus


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

    The pictures need not be labelled.

    Path and options are as in `read_ground_truth`; a text file needs no XML, and takes
    no options.
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
            f"{source}: expected labelled pictures of part {part}, found only those of "
            f"{others}"
        )
    selected = group_by(pictures, lambda p: p.part).get(part or "test", [])
    if part is None and len(selected) < len(pictures):
        count = sum(picture.species is not None for picture in selected)
        logger.info(
            "only the %d pictures of the test part are scored; name another with "
            "--part",
            count,
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
        expected = (
            "a collection, a …GroundTruth.txt or a CSV table with the columns picture "
            "and species, as UTF-8 text"
        )
        raise LeafidError(f"{file}: expected {expected}, found another kind of file")
    species: dict[str, list[str]] = {}
    with LineProblems(file) as problems:
        for number, line in enumerate(read_text(file).split("\n"), 1):
            words = line.split()
            pictures = [*filter(_PICTURE_NAME.fullmatch, words)]
            label = words[: len(words) - len(pictures)]
            names = [*map(to_run_name, pictures)]
            if words and not (label and words == label + pictures):
                expected = (
                    "expected a ground truth (named before the runs) of lines '<Genus "
                    "species> <picture> …'"
                )
                problems.add(number, f"{expected}, found {line.strip()!r:.100}")
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
                    place = f"with its taxon in {file.parent}"
                    problem = f"expected the XML of {name!r} {place}, found none"
                    problems.add(None, problem)
                elif (in_xml := by_name[name].species) != species:
                    problem = f"picture {name!r} is {species!r} here and {in_xml!r}"
                    problems.add(None, f"{problem} in its XML")
    return [by_name[name] for name in chain(*names_by_species.values())]


def _read_species_list(folder: Path) -> list[str]:
    """Read the names of a ``SpeciesIDList`` in the folder or beside it.

    There is none where it is no package.
    """
    for file in (folder / "SpeciesIDList", folder.resolve().parent / "SpeciesIDList"):
        if file.is_file():
            lines = read_text(file).split("\n")
            return [normalise_name(line) for line in lines if line.strip()]
    return []
