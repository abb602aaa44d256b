"""Reports the files below a folder that are not read, so that none is passed over in silence."""

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from leafid.pictures.collection import Omission
from leafid.pictures.formats import PICTURE_ENDINGS, READABLE_FORMATS, SIGNATURE_SIZE, UNREAD_ENDINGS, identify_format
from leafid.pictures.readers.folders import walk_files

#: Maximum number of files that are named one by one; more are counted by their endings.
MAX_NAMED = 3
_VIDEO_ENDINGS = frozenset({".mov", ".mp4"})


def report_unread(folder: Path, metadata_endings: Collection[str] = ()) -> Iterator[str]:
    """Report the files below a folder whose names don't end like those of pictures.

    `metadata_endings`, in lower case, are of files that belong to the layout. Yields an `Omission` where a file looks
    like a picture, by its ending or its content, unless a picture of the same name is beside it, as with raw data of a
    camera.
    """
    others: list[tuple[Path, str]] = []
    raw: list[Path] = []
    misnamed: list[Path] = []
    for files in walk_files(folder):
        pictures = {file.stem for file in files if file.suffix.lower() in PICTURE_ENDINGS}
        for file in files:
            ending = file.suffix.lower()
            if ending in PICTURE_ENDINGS or ending in metadata_endings:
                continue
            if ending in _VIDEO_ENDINGS and file.stem in pictures:
                others.append((file, f"{ending} of live photos"))
            elif ending in UNREAD_ENDINGS and file.stem in pictures:
                others.append((file, f"{ending} beside pictures of the same name"))
            elif ending in UNREAD_ENDINGS:
                raw.append(file)
            elif _has_picture_content(file):
                misnamed.append(file)
            else:
                others.append((file, ending or "without an ending"))
    yield from _report_pictures(folder, raw, READABLE_FORMATS, "convert {} to JPEG")
    yield from _report_pictures(folder, misnamed, "the name of a picture, as with .jpg", "rename {}")
    if len(others) <= MAX_NAMED:
        yield from (f"{file}: a file of another kind ({kind}); it is not read" for file, kind in others)
    else:
        counts = _count(kind for _, kind in others)
        yield f"{folder}: {len(others)} files of other kinds are not read: {counts}"


def _report_pictures(folder: Path, files: list[Path], expected: str, remedy: str) -> Iterator[Omission]:
    if len(files) <= MAX_NAMED:
        for file in files:
            found = f"the ending {file.suffix}" if file.suffix else "no ending"
            yield Omission(f"{file}: expected {expected}, found {found}; {remedy.format('it')}; it is left out")
    else:
        found = f"{len(files)} files of other endings: {_count(file.suffix.lower() or 'none' for file in files)}"
        yield Omission(f"{folder}: expected {expected}, found {found}; {remedy.format('them')}; they are left out")


def _count(kinds: Iterable[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in Counter(kinds).most_common())


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
