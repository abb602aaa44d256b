"""Reads a folder per species, named ``Acer campestre`` or ``Acer_campestre``, maybe below train, val and test."""

from __future__ import annotations

from pathlib import Path

from leafid.collection.collection import Collection, Omission
from leafid.collection.folders import (
    find_part_folders,
    has_file,
    list_folders,
    list_pictures,
    parse_part,
    refuse_repeated_parts,
    report_omissions,
    walk_pictures,
)
from leafid.collection.names import parse_genus, parse_species_name
from leafid.collection.picture import Picture, Taxon
from leafid.errors import LeafidError
from leafid.images import PICTURE_ENDINGS

LAYOUT = "species-folders"


def detect(path: Path) -> bool:
    """Tell whether a path is a folder with at least one folder of pictures named like a species."""
    return path.is_dir() and any(
        _is_species(folder) and has_file(folder, PICTURE_ENDINGS)
        for _, section in _sections(path)
        for folder in list_folders(section)
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
    refuse_repeated_parts(section for _, section in sections)
    nameless: set[Path] = set()
    for part, section in sections:
        labelled: list[Picture] = []
        for folder in list_folders(section):
            files = list_pictures(folder)
            if not files:
                continue
            try:
                species = parse_species_name(folder.name)
            except LeafidError as error:
                if not unlabelled:
                    problems.append(Omission(f"{folder}: {error}; its {len(files)} pictures are left out"))
                    nameless.add(folder)
                continue
            taxon = Taxon(species, parse_genus(species))
            labelled += (Picture(file, taxon=taxon, part=part) for file in files)
        pictures += labelled
        if unlabelled:
            known = {picture.file for picture in labelled}
            others = (file for file in walk_pictures(section, problems) if file not in known)
            pictures += (Picture(file, part=part) for file in others)
    parts = [section.name for _, section in sections if section != path]
    below = f" below {', '.join(parts)}" if parts else ""
    problems += report_omissions(
        path,
        nameless | {picture.file.parent for picture in pictures},
        f"directly in folders named after species{below}",
    )
    return Collection(path, LAYOUT, tuple(pictures), tuple(problems))


def _sections(path: Path) -> list[tuple[str | None, Path]]:
    return [*find_part_folders(path)] or [(parse_part(path), path)]


def _is_species(folder: Path) -> bool:
    try:
        parse_species_name(folder.name)
    except LeafidError:
        return False
    return True
