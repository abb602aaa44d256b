"""Reads Pl@ntNet-300K: a folder for each species and part, and two JSON files.

The classes are the identifiers of the species. Where several have one name without its
author, the identifier is a part of the name: ``Lactuca virosa 1355868``.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity
   and a long-tailed distribution", NeurIPS Datasets and Benchmarks 2021, section 3.
   https://doi.org/10.5281/zenodo.4726653
"""

from collections import Counter
from pathlib import Path

import msgspec

from leafid.errors import LeafidError, naming_place
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.readers import folders
from leafid.schema import read_json

LAYOUT = "plantnet300k"
_NAMES_FILE = "species_id_2_name.json"
_METADATA_FILE = "_metadata.json"


class _Entry(msgspec.Struct):
    """The metadata of a picture."""

    obs_id: int | str | None = None
    author: str | None = None
    license: str | None = None


def detect(path: Path) -> bool:
    """Check whether a path is the data set, its folder ``images``, or a part."""
    return path.is_dir() and _find_file(path, _NAMES_FILE) is not None


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """Read the data set, its ``images`` folder, or one of its parts.

    An observation serves as the plant. All pictures count as photos.
    """
    names_file = _find_file(path, _NAMES_FILE)
    if names_file is None:
        raise LeafidError(
            f"{path}: expected a file *{_NAMES_FILE} in it or up to two folders above, "
            "found none"
        )
    metadata_file = _find_file(path, _METADATA_FILE)
    metadata: dict[str, _Entry] = {}
    problems = []
    if metadata_file:
        metadata = read_json(metadata_file, dict[str, _Entry])
    else:
        problems.append(
            f"{names_file}: expected *{_METADATA_FILE} beside it, found none; no plants"
        )
    taxa = _read_taxa(names_file)
    pictures: list[Picture] = []
    for part, section in folders.find_sections(path):
        for file in folders.walk_pictures(section):
            if taxon := taxa.get(file.parent.name):
                entry = metadata.get(file.stem, _Entry())
                picture = Picture(
                    file,
                    type=AcquisitionType.PHOTO,
                    taxon=taxon,
                    plant=None if entry.obs_id is None else str(entry.obs_id),
                    author=entry.author,
                    licence=entry.license,
                    part=part,
                )
                pictures.append(picture)
    return pictures, problems


def _find_file(path: Path, ending: str) -> Path | None:
    places = [path.resolve(), *path.resolve().parents][:3]
    files = (file for place in places for file in folders.list_files(place, {".json"}))
    return next((file for file in files if file.name.endswith(ending)), None)


def _read_taxa(file: Path) -> dict[str, Taxon]:
    full_names = read_json(file, dict[str, str])
    with naming_place(file):
        parsed = {
            identifier: names.drop_authors(names.parse_species_name(name))
            for identifier, name in full_names.items()
        }
    count = Counter(parsed.values())
    return {
        identifier: Taxon(
            species if count[species] == 1 else f"{species} {identifier}",
            names.parse_genus(species),
            identifier=identifier,
            full_name=" ".join(full_names[identifier].split()),
        )
        for identifier, species in parsed.items()
    }
