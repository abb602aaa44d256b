"""Reads a folder per species, named ``Acer campestre`` or ``Acer_campestre``, maybe below train, val and test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from leafid.collection.collection import Collection
from leafid.collection.folders import check_parts, folders_in, has_file, part_folders, part_of, pictures_in
from leafid.collection.names import genus_name, species_name
from leafid.collection.picture import Picture, Taxon
from leafid.errors import LeafidError
from leafid.images import PICTURE_ENDINGS

LAYOUT = "species-folders"


def detect(path: Path) -> bool:
    """Tell whether a path is a folder with at least one folder of pictures named like a species."""
    return path.is_dir() and any(
        _is_species(folder) and has_file(folder, PICTURE_ENDINGS)
        for _, section in _sections(path)
        for folder in folders_in(section)
    )


def read(path: Path) -> Collection:
    """Read the folders; those that bear no species name, or stand beside those of parts, become problems."""
    pictures: list[Picture] = []
    problems: list[str] = []
    if not path.is_dir():
        raise LeafidError(f"{path}: expected a folder of folders named after species, found a file")
    sections = _sections(path)
    check_parts(section for _, section in sections)
    problems += _beside_parts(path)
    for part, section in sections:
        for folder in folders_in(section):
            files = pictures_in(folder)
            if not files:
                continue
            try:
                species = species_name(folder.name)
            except LeafidError as error:
                problems.append(f"{folder}: {error}; its {len(files)} pictures are left out")
                continue
            taxon = Taxon(species, genus_name(species))
            pictures += (Picture(file, taxon=taxon, part=part) for file in files)
    return Collection(path, LAYOUT, tuple(pictures), tuple(problems))


def _sections(path: Path) -> list[tuple[str | None, Path]]:
    return [*part_folders(path)] or [(part_of(path), path)]


def _beside_parts(path: Path) -> Iterator[str]:
    """Name the folders of pictures that belong to no part where there are folders of parts."""
    parts = [folder for _, folder in part_folders(path)]
    for folder in folders_in(path) if parts else []:
        if folder not in parts and (files := pictures_in(folder)):
            yield (
                f"{folder}: expected pictures below {', '.join(part.name for part in parts)}, found them beside it; "
                f"its {len(files)} pictures are left out"
            )


def _is_species(folder: Path) -> bool:
    try:
        species_name(folder.name)
    except LeafidError:
        return False
    return True
