"""Reads a folder per species, named ``Acer campestre`` or ``Acer_campestre``, optionally below train, val and test."""

from __future__ import annotations

from pathlib import Path

from leafid.collection import folders, names
from leafid.collection.collection import Collection, Omission
from leafid.collection.picture import Picture, Taxon
from leafid.errors import LeafidError
from leafid.picture_formats import PICTURE_ENDINGS

LAYOUT = "species-folders"


def detect(path: Path) -> bool:
    """Tell whether a path is a folder with at least one folder of pictures named like a species."""
    return path.is_dir() and any(
        _is_species_name(folder.name) and folders.has_file(folder, PICTURE_ENDINGS)
        for _, section in folders.find_sections(path)
        for folder in folders.list_folders(section)
    )


def read(path: Path, unlabelled: bool = False) -> Collection:
    """Read the folders; folders without a species name, and pictures anywhere else, become problems.

    With `unlabelled`, the pictures of such folders and of sub-folders are listed without a species; then only pictures
    outside of the parts are problems.
    """
    if not path.is_dir():
        raise LeafidError(f"{path}: expected a folder of folders named after species, found a file")
    pictures: list[Picture] = []
    problems: list[str] = []
    sections = folders.find_sections(path)
    folders.refuse_repeated_parts(section for _, section in sections)
    reported: set[Path] = set()
    for part, section in sections:
        labelled: dict[Path, Picture] = {}
        for folder in folders.list_folders(section):
            files = folders.list_pictures(folder)
            if not files:
                continue
            try:
                species = names.parse_species_name(folder.name)
            except LeafidError as error:
                if not unlabelled:
                    problems.append(Omission(f"{folder}: {error}; its {len(files)} pictures are left out"))
                    reported.add(folder)
                continue
            taxon = Taxon(species, names.parse_genus(species))
            labelled.update((file, Picture(file, taxon=taxon, part=part)) for file in files)
        pictures += labelled.values()
        if unlabelled:
            others = folders.walk_pictures(section, problems)
            pictures += (Picture(file, part=part) for file in others if file not in labelled)
    parts = [section.name for _, section in sections if section != path]
    below = f" below {', '.join(parts)}" if parts else ""
    used = reported | {picture.file.parent for picture in pictures}
    problems += folders.report_omissions(path, used, f"directly in folders named after species{below}")
    return Collection(path, LAYOUT, tuple(pictures), tuple(problems))


def _is_species_name(text: str) -> bool:
    try:
        names.parse_species_name(text)
    except LeafidError:
        return False
    return True
