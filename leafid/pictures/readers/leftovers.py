"""Reports the files of a folder that a reader has no use for, so that none is passed over in silence."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leafid.grouping import count_noun
from leafid.pictures.collection import Collection, Omission
from leafid.pictures.formats import PICTURE_ENDINGS, READABLE_FORMATS, SIGNATURE_SIZE, UNREAD_ENDINGS, identify_format
from leafid.pictures.readers.folders import walk_files


def report_leftovers(collection: Collection, metadata_endings: Iterable[str] = ()) -> Iterator[str]:
    """Report stray pictures, and files whose names don't end like those of pictures, in a line for each folder or kind.

    `metadata_endings`, in lower case, are of files that belong to the layout. Yields an `Omission` where a picture is
    left out, unless it is raw data of a camera beside a picture of the same name.
    """
    root, used = collection.root, collection.used_folders
    parents = {*(used or ()), *(parent for folder in used or () for parent in folder.parents)}
    stray: Counter[Path] = Counter()
    unread: list[Path] = []
    others: list[Path] = []
    for files in walk_files(root):
        pictures = {file.stem for file in files if file.suffix.lower() in PICTURE_ENDINGS}
        for file in files:
            ending = file.suffix.lower()
            if ending in PICTURE_ENDINGS:
                if used is not None and file.parent not in used:
                    stray[_find_topmost(file.parent, root, parents)] += 1
            elif ending in metadata_endings:
                continue
            elif (ending in UNREAD_ENDINGS and file.stem not in pictures) or _has_picture_content(file):
                unread.append(file)
            else:
                others.append(file)
    for folder, number in stray.items():
        found = "1 picture here; it is" if number == 1 else f"{number} pictures here; they are"
        yield Omission(f"{folder}: expected pictures {collection.expected}, found {found} left out")
    if unread:
        found = _count(unread)
        yield Omission(f"{root}: expected {READABLE_FORMATS} named so, found {found}; convert or rename; left out")
    if others:
        yield f"{root}: {_count(others)} of other kinds; not read"


def _find_topmost(folder: Path, root: Path, parents: set[Path]) -> Path:
    """Find the topmost folder around a folder below which none is used; `parents` are used, or above one that is."""
    while folder not in parents and folder.parent not in parents and root not in {folder, folder.parent}:
        folder = folder.parent
    return folder


def _count(files: Sequence[Path]) -> str:
    kinds = Counter(file.suffix.lower() or "without an ending" for file in files)
    counts = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    return f"{count_noun(len(files), 'file')} ({counts}; {files[0].name} first)"


def _has_picture_content(file: Path) -> bool:
    # A pipe would block.
    with contextlib.suppress(OSError):
        if file.is_file():
            with file.open("rb") as stream:
                return identify_format(stream.read(SIGNATURE_SIZE)) not in {None, "BMP"}
    return False
