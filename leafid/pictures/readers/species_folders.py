"""Reads a folder per label, named after a species (``Acer campestre``) or any class, optionally in train, val and test.

This is also the layout ``ImageFolder`` of PyTorch: pictures in folders below that of a label have the label, too.
"""

from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures import names
from leafid.pictures.collection import Collection, Omission
from leafid.pictures.formats import PICTURE_ENDINGS
from leafid.pictures.picture import Picture
from leafid.pictures.readers import folders

LAYOUT = "species-folders"


def detect(path: Path) -> bool:
    """Tell whether a folder has folders of pictures; beside loose pictures, only folders named like species count."""
    return path.is_dir() and any(
        (not folders.has_file(section, PICTURE_ENDINGS) or _is_species_name(folder.name)) and _may_hold_pictures(folder)
        for _, section in folders.find_sections(path)
        for folder in folders.list_folders(section)
    )


def read(path: Path, unlabelled: bool = False) -> Collection:
    """Read the folders that hold pictures themselves; pictures anywhere else become problems.

    With `unlabelled`, the pictures of other folders are listed without a label; then only pictures outside of the parts
    are problems.
    """
    if not path.is_dir():
        raise LeafidError(f"{path}: expected a folder of folders named after labels, found a file")
    pictures: list[Picture] = []
    problems: list[str] = []
    sections = folders.find_sections(path)
    folders.refuse_repeated_parts(section for _, section in sections)
    reported: set[Path] = set()
    for part, section in sections:
        labelled: dict[Path, Picture] = {}
        for folder in folders.list_folders(section):
            if not _may_hold_pictures(folder):
                continue
            files = list(folders.walk_pictures(folder, problems))
            try:
                taxon = names.parse_label(folder.name)
            except LeafidError as error:
                if not unlabelled:
                    problems.append(Omission(f"{folder}: {error}; its {len(files)} pictures are left out"))
                    reported |= {file.parent for file in files}
                continue
            labelled.update((file, Picture(file, taxon=taxon, part=part)) for file in files)
        pictures += labelled.values()
        if unlabelled:
            others = folders.walk_pictures(section, problems)
            pictures += (Picture(file, part=part) for file in others if file not in labelled)
    parts = [section.name for _, section in sections if section != path]
    below = f" below {', '.join(parts)}" if parts else ""
    used = reported | {picture.file.parent for picture in pictures}
    expected = f"directly in folders named after their label{below}"
    return Collection(path, LAYOUT, tuple(pictures), tuple(dict.fromkeys(problems)), frozenset(used), expected)


def _may_hold_pictures(folder: Path) -> bool:
    try:
        return folders.has_file(folder, PICTURE_ENDINGS)
    except OSError:
        return True  # Listing its pictures reports why it can't be read.


def _is_species_name(text: str) -> bool:
    try:
        return names.parse_label(text).genus is not None
    except LeafidError:
        return False
