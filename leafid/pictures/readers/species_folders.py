"""Reads a folder for each label: a species (``Acer campestre``) or any class.

The folders may lie in train, val and test. As in ``ImageFolder`` of PyTorch, pictures
in folders below the folder of a label have the label, too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.pictures import names
from leafid.pictures.picture import EmptyClass, FolderLabels, Picture, Taxon
from leafid.pictures.readers import folders

LAYOUT = "species-folders"
# plant1, tree A, specimen_12b
_PLANT = re.compile(
    r"(?:.*?/)??(?:plant|tree|individual|specimen)(?:[^a-z0-9/]+[a-z]|[^/]*\d[^/]*)(?=/|$)",
    re.IGNORECASE,
)
_NO_PICTURE = (
    "expected pictures of a label, found no file with the ending of a picture, but for "
    "links; "
    "convert them, or move the folder"
)


def detect(path: Path) -> bool:
    """Check whether folders are labels: species, or more than the loose pictures."""
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
    groups: list[tuple[str | None, tuple[str, ...], list[Path]]] = []
    for part, section in sections:
        by_folder = group_by(folders.walk_pictures(section), lambda file: file.parent)
        for folder, files in by_folder.items():
            groups.append((part, folder.relative_to(section).parts, files))
    paths = [words for _, words, _ in groups]
    level = _find_level([section for _, section in sections], paths)
    pictures: list[Picture] = []
    nested: list[Picture] = []
    for part, words, files in groups:
        parts = [part, *map(folders.parse_part, words)]
        index = next(_find_species(words), level)
        picture = Picture(Path(), part=next(filter(None, parts), None))
        if index < len(words):
            match = _PLANT.match("/".join(words[index + 1 :]))
            plant = "/".join([*words[: index + 1], match[0]]) if match else None
            picture = replace(picture, taxon=_parse_label(words[index]), plant=plant)
        group = [replace(picture, file=file) for file in files]
        pictures += group
        if picture.taxon and len(words) > 1:
            nested += group
    problems: list[str] = []
    if nested:
        problems.append(_describe_nested(path, nested))
    parents = sorted({words[:level] for words in paths if len(words) > level})
    trained = [section for part, section in sections if part in {None, "train"}]
    classes = [
        folder
        for section, parent in product(trained, parents)
        for folder in folders.list_folders(section.joinpath(*parent))
    ]
    used = {folder for _, _, files in groups for folder in files[0].parents}
    problems += (EmptyClass(f"{f}: {_NO_PICTURE}") for f in classes if f not in used)
    return pictures, problems


def _describe_nested(path: Path, pictures: Sequence[Picture]) -> FolderLabels:
    example = max(pictures, key=lambda picture: len(picture.file.parts))
    plant = example.plant or "unknown"
    read_as = f"the label {example.species!r} and the plant {plant}"
    count = f"{count_noun(len(pictures), 'picture')} in nested folders"
    line = f"{path}: {count}: {example.file} has {read_as}, for example"
    return FolderLabels(f"{line}; see --label-from and --plants-from")


def _find_level(sections: Sequence[Path], paths: Sequence[Sequence[str]]) -> int:
    """Find the level of folders where labels stand in sections.

    `paths` are relative paths of folders with pictures.
    """
    levels = [level for words in paths for level in _find_species(words)]
    if levels:
        return min(levels)
    for section in sections:
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
