"""Reads a folder per label, named after a species (``Acer campestre``) or any class, optionally in train, val and test.

This is also the layout ``ImageFolder`` of PyTorch: pictures in folders below that of a label have the label, too.
"""

from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures import names
from leafid.pictures.picture import EmptyClass, Picture, Taxon
from leafid.pictures.readers import folders

LAYOUT = "species-folders"


def detect(path: Path) -> bool:
    """Tell whether a folder has folders of pictures; beside loose pictures, only folders named like species count."""
    if not path.is_dir():
        return False
    for _, section in folders.find_sections(path):
        is_mixed = bool(folders.list_files(section))
        labels = (_find_label(folder) for folder in folders.list_folders(section))
        if any(label and (label.genus or not is_mixed) for label in labels):
            return True
    return False


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """List the pictures of each part, without a label outside of folders of labels, and folders that hold none."""
    pictures: list[Picture] = []
    problems: list[str] = []
    for part, section in folders.find_sections(path):
        labels = {
            folder.name: _find_label(folder) for folder in folders.list_folders(section)
        }
        for folder in folders.list_folders(section) if part in {None, "train"} else ():
            if not any(folders.walk_pictures(folder)):
                expected = "expected pictures of a label, found no file with the ending of a picture"
                problems.append(
                    EmptyClass(
                        f"{folder}: {expected}; convert them, or move the folder"
                    )
                )
        for file in folders.walk_pictures(section):
            taxon = labels.get(file.relative_to(section).parts[0])
            pictures.append(Picture(file, taxon=taxon, part=part))
    return pictures, problems


def _find_label(folder: Path) -> Taxon | None:
    """Return the label of a folder that holds pictures itself."""
    try:
        return names.parse_label(folder.name) if folders.list_files(folder) else None
    except LeafidError:
        return None
