"""Reads a folder for each label: a species (``Acer campestre``) or any class.

The folders may lie in train, val and test. As in ``ImageFolder`` of PyTorch, pictures
in folders below the folder of a label have the label, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import product
from pathlib import Path

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.pictures import names
from leafid.pictures.picture import EmptyClass, Picture, Taxon
from leafid.pictures.readers import folders

LAYOUT = "species-folders"
# plant1, tree A, specimen_12b
_PLANT = re.compile(
    r"(?:.*?/)??(?:plant|tree|individual|specimen)(?:[^a-z0-9/]+[a-z]|[^/]*\d[^/]*)(?=/|$)",
    re.IGNORECASE,
)
_NO_PICTURE = (
    "expected pictures of a label, found no file with the ending of a picture, but for "
    "links; convert them, or move the folder"
)


def detect(path: Path) -> bool:
    """Check whether folders are labels: species, or more than the loose pictures."""
    if path.is_file():
        return False
    pictures, _ = read(path)
    labelled = [picture for picture in pictures if picture.taxon]
    above = {folder for picture in labelled for folder in picture.file.parents}
    loose = [p for p in pictures if p.taxon is None and p.file.parent in above]
    labels = {picture.taxon for picture in labelled}
    return len(loose) < len(labels) or any(label and label.genus for label in labels)


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """List the pictures of each part, and the folders of labels without a picture.

    Pictures outside of the folders of labels have no label. The label is the first
    folder with the name of a known species, or else the folder at the first level with
    several folders. Deeper folders may name the plant (``plant1``) and the part.
    """
    sections = folders.find_sections(path)
    groups = [*_group_by_folder(sections)]
    paths = [words for _, words, _ in groups]
    level = _find_level(sections, paths)
    pictures: list[Picture] = []
    for part, words, files in groups:
        picture = _describe_folder(part, words, level)
        pictures += (replace(picture, file=file) for file in files)
    problems: list[str] = []
    parents = sorted({words[:level] for words in paths if len(words) > level})
    used = {folder for picture in pictures for folder in picture.file.parents}
    trained = [section for part, section in sections if part in {None, "train"}]
    for section, parent in product(trained, parents):
        problems += _find_empty_classes(section.joinpath(*parent), used)
    return pictures, problems


def _find_empty_classes(parent: Path, used: Set[Path]) -> Iterator[EmptyClass]:
    for folder in folders.list_folders(parent):
        if folder not in used:
            yield EmptyClass(f"{folder}: {_NO_PICTURE}")


def _group_by_folder(
    sections: Iterable[tuple[str | None, Path]],
) -> Iterator[tuple[str | None, tuple[str, ...], list[Path]]]:
    """Yield the part, the words of the path, and the pictures of each folder."""
    for part, section in sections:
        by_folder = group_by(folders.walk_pictures(section), lambda file: file.parent)
        for folder, files in by_folder.items():
            yield part, folder.relative_to(section).parts, files


def _describe_folder(part: str | None, words: Sequence[str], level: int) -> Picture:
    """Describe the pictures of a folder by its path; `level` is the label's default."""
    parts = [part, *map(folders.parse_part, words)]
    picture = Picture(Path(), part=next(filter(None, parts), None))
    index = next(_find_species(words), level)
    if index >= len(words):
        return picture
    plant = None
    if match := _PLANT.match("/".join(words[index + 1 :])):
        plant = "/".join([*words[: index + 1], match[0]])
    return replace(picture, taxon=_parse_label(words[index]), plant=plant)


def _find_level(
    sections: Iterable[tuple[str | None, Path]], paths: Sequence[Sequence[str]]
) -> int:
    """Find the level of folders where labels stand in sections.

    `paths` are relative paths of folders with pictures.
    """
    levels = [level for words in paths for level in _find_species(words)]
    if levels:
        return min(levels)
    for _, section in sections:
        *above, last = folders.list_wrappers(section, with_loose=False)
        if not folders.list_files(last):
            levels.append(len(above))
    return min(levels, default=0)


def _find_species(words: Sequence[str]) -> Iterator[int]:
    """Yield the levels of folders with the name of a species of a known genus."""
    labels = map(_parse_label, words)
    return (level for level, label in enumerate(labels) if label and label.family)


def _parse_label(word: str) -> Taxon | None:
    try:
        return names.parse_label(word)
    except LeafidError:
        return None
