"""Reports the files of a folder that a reader has no use for, so that none is passed over in silence."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leafid.grouping import count_noun
from leafid.pictures.collection import Collection, Omission
from leafid.pictures.formats import PICTURE_ENDINGS, READABLE_FORMATS, SIGNATURE_SIZE, UNREAD_ENDINGS, identify_format
from leafid.pictures.readers.folders import walk_files

_VIDEO_ENDINGS = frozenset({".mov", ".mp4"})


def report_leftovers(collection: Collection, metadata_endings: Iterable[str] = ()) -> Iterator[str]:
    """Report stray pictures, and files whose names don't end like those of pictures, in a line for each folder or kind.

    `metadata_endings`, in lower case, are of files that belong to the layout. Yields an `Omission` where a picture is
    left out, unless it is raw data of a camera beside a picture of the same name.
    """
    root, used = collection.root, collection.used_folders
    parents = {*(used or ()), *(parent for folder in used or () for parent in folder.parents)}
    stray: Counter[Path] = Counter()
    raw: list[Path] = []
    misnamed: list[Path] = []
    others: list[tuple[Path, str]] = []
    for files in walk_files(root):
        pictures = {file.stem for file in files if file.suffix.lower() in PICTURE_ENDINGS}
        for file in files:
            ending = file.suffix.lower()
            if ending in PICTURE_ENDINGS:
                if used is not None and file.parent not in used:
                    stray[_find_topmost(file.parent, root, parents)] += 1
            elif ending in metadata_endings:
                continue
            elif ending in _VIDEO_ENDINGS and file.stem in pictures:
                others.append((file, f"{ending} of live photos"))
            elif ending in UNREAD_ENDINGS and file.stem in pictures:
                others.append((file, f"{ending} beside pictures of the same name"))
            elif ending in UNREAD_ENDINGS:
                raw.append(file)
            elif _has_picture_content(file):
                misnamed.append(file)
            else:
                others.append((file, ending or "without an ending"))
    for folder, number in stray.items():
        found = "1 picture here; it is" if number == 1 else f"{number} pictures here; they are"
        yield Omission(f"{folder}: expected pictures {collection.expected}, found {found} left out")
    if raw:
        found = _count(raw, [file.suffix.lower() for file in raw])
        yield Omission(f"{root}: expected {READABLE_FORMATS}, found {found}; convert to JPEG; left out")
    if misnamed:
        found = _count(misnamed, [file.suffix.lower() or "no ending" for file in misnamed])
        yield Omission(f"{root}: expected the name of a picture, as with .jpg, found {found}; rename; left out")
    if others:
        yield f"{root}: {_count(*zip(*others, strict=True))} of other kinds; not read"


def _find_topmost(folder: Path, root: Path, parents: set[Path]) -> Path:
    """Find the topmost folder around a folder below which none is used; `parents` are used, or above one that is."""
    while folder not in parents and folder.parent not in parents and root not in {folder, folder.parent}:
        folder = folder.parent
    return folder


def _count(files: Sequence[Path], kinds: Sequence[str]) -> str:
    counts = ", ".join(f"{number} {kind}" for kind, number in Counter(kinds).most_common())
    return f"{count_noun(len(files), 'file')} ({counts}; {files[0].name} first)"


def _has_picture_content(file: Path) -> bool:
    # A pipe would block.
    with contextlib.suppress(OSError):
        if file.is_file():
            with file.open("rb") as stream:
                return identify_format(stream.read(SIGNATURE_SIZE)) not in {None, "BMP"}
    return False


def find_live_videos(paths: Iterable[Path]) -> dict[Path, Path]:
    """Return the videos of live photos among paths, each with the picture that stands beside it."""
    pictures = {path.with_suffix(""): path for path in paths if path.suffix.lower() in PICTURE_ENDINGS}
    videos = (path for path in paths if path.suffix.lower() in _VIDEO_ENDINGS)
    return {video: pictures[video.with_suffix("")] for video in videos if video.with_suffix("") in pictures}
