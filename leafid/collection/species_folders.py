"""Reads a folder per species, named ``Acer campestre`` or ``Acer_campestre``, maybe below train, val and test."""

from __future__ import annotations

from pathlib import Path

from leafid.collection.collection import Collection
from leafid.collection.folders import check_parts, folders_in, has_file, left_out, part_folders, part_of, pictures_in
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
    """Read the folders; those that bear no species name, and pictures anywhere else, become problems."""
    pictures: list[Picture] = []
    problems: list[str] = []
    if not path.is_dir():
        raise LeafidError(f"{path}: expected a folder of folders named after species, found a file")
    sections = _sections(path)
    check_parts(section for _, section in sections)
    read_folders: set[Path] = set()
    for part, section in sections:
        for folder in folders_in(section):
            files = pictures_in(folder)
            if not files:
                continue
            read_folders.add(folder)
            try:
                species = species_name(folder.name)
            except LeafidError as error:
                problems.append(f"{folder}: {error}; its {len(files)} pictures are left out")
                continue
            taxon = Taxon(species, genus_name(species))
            pictures += (Picture(file, taxon=taxon, part=part) for file in files)
    parts = [section.name for _, section in sections if section != path]
    below = f" below {', '.join(parts)}" if parts else ""
    problems += left_out(path, read_folders, f"directly in folders named after species{below}")
    return Collection(path, LAYOUT, tuple(pictures), tuple(problems))


def _sections(path: Path) -> list[tuple[str | None, Path]]:
    return [*part_folders(path)] or [(part_of(path), path)]


def _is_species(folder: Path) -> bool:
    try:
        species_name(folder.name)
    except LeafidError:
        return False
    return True
