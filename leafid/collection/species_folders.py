"""Reads a folder per species, named ``Acer campestre`` or ``Acer_campestre``, maybe below train, val and test."""

from __future__ import annotations

from pathlib import Path

from leafid.collection.collection import Collection, LeftOut
from leafid.collection.folders import (
    check_parts,
    folders_in,
    has_file,
    left_out,
    part_folders,
    part_of,
    pictures_below,
    pictures_in,
)
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


def read(path: Path, unlabelled: bool = False) -> Collection:
    """Read the folders; those that bear no species name, and pictures anywhere else, become problems.

    Parameters
    ----------
    path : Path
    unlabelled : bool, default False
        List the pictures of such folders and of sub-folders too, without a species; only what belongs to no part
        where there are parts remains a problem.
    """
    pictures: list[Picture] = []
    problems: list[str] = []
    if not path.is_dir():
        raise LeafidError(f"{path}: expected a folder of folders named after species, found a file")
    sections = _sections(path)
    check_parts(section for _, section in sections)
    nameless: set[Path] = set()
    for part, section in sections:
        labelled: list[Picture] = []
        for folder in folders_in(section):
            files = pictures_in(folder)
            if not files:
                continue
            try:
                species = species_name(folder.name)
            except LeafidError as error:
                if not unlabelled:
                    problems.append(LeftOut(f"{folder}: {error}; its {len(files)} pictures are left out"))
                    nameless.add(folder)
                continue
            taxon = Taxon(species, genus_name(species))
            labelled += (Picture(file, taxon=taxon, part=part) for file in files)
        pictures += labelled
        if unlabelled:
            known = {picture.file for picture in labelled}
            others = (file for file in pictures_below(section, problems) if file not in known)
            pictures += (Picture(file, part=part) for file in others)
    parts = [section.name for _, section in sections if section != path]
    below = f" below {', '.join(parts)}" if parts else ""
    problems += left_out(
        path,
        nameless | {picture.file.parent for picture in pictures},
        f"directly in folders named after species{below}",
    )
    return Collection(path, LAYOUT, tuple(pictures), tuple(problems))


def _sections(path: Path) -> list[tuple[str | None, Path]]:
    return [*part_folders(path)] or [(part_of(path), path)]


def _is_species(folder: Path) -> bool:
    try:
        species_name(folder.name)
    except LeafidError:
        return False
    return True
