"""Lists folders in an order that doesn't depend on the file system, without what systems and programs write there."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.names import natural_sort_key

#: Maximum depth of folders; Python 3.11 lists deeper ones by calls inside calls, of which there is a maximum, too.
MAX_DEPTH = 500
#: The folders and files that systems, storage devices and programs write among pictures, beside hidden ones.
_SYSTEM_NAME = re.compile(
    r"\..*|__macosx|lost\+found|\$recycle\.bin|recycle[rd]|system volume information|found\.\d{3}"
    r"|@eadir|@tmp|@syno\w+|[@#]recycle|[#~]snapshot|@recently-snapshot|@sharebin"
    r"|lost\.dir|\$winreagent|network trash folder|temporary items"
    r"|(eh)?thumbs\.db|desktop\.ini|icon\r|__pycache__|_vti_\w+",
    re.IGNORECASE,
)
_NOUNS = "(?:data|sub|sets?|images?|imgs?|pictures?|photos?|splits?|parts?|lists?|folder|files?)*"
# Without signs and digits: Training, test_set, images_train, val2017.
_PART = re.compile(
    f"{_NOUNS}(?:(train(?:ing)?)|(val(?:id(?:ation)?)?)|test(?:ing)?){_NOUNS}"
)
_PART_ORDER = ("train", "val", "test")


def list_files(folder: Path, endings: Collection[str] = PICTURE_ENDINGS) -> list[Path]:
    """List the files with one of the endings (lower case); none if the folder can't be read."""
    _, _, names = next(os.walk(folder), ("", [], []))
    return _sort_paths(
        folder, (name for name in names if name.lower().endswith(tuple(endings)))
    )


def list_folders(folder: Path) -> list[Path]:
    """List the sub-folders of a folder; none if it can't be read."""
    return _sort_paths(folder, next(os.walk(folder), ("", [], []))[1])


def walk_folders(
    root: Path,
    onerror: Callable[[OSError], object] | None = None,
    *,
    with_system: bool = False,
) -> Iterator[tuple[Path, list[Path]]]:
    """Yield a folder and those below it, each with its files; `onerror` is called for those that can't be read.

    Links are followed, but no folder is visited twice, so that circular ones end. What is hidden or of the system is
    skipped unless `with_system` is set.
    """
    visited: set[tuple[int, int]] = set()
    for path, folders, files in os.walk(root, onerror=onerror, followlinks=True):
        folder, status = Path(path), os.stat(path)  # noqa: PTH116  # faster
        if len(folder.parts) > MAX_DEPTH:
            raise LeafidError(
                f"{root}: expected folders of at most {MAX_DEPTH} levels, found more"
            )
        if (status.st_dev, status.st_ino) in visited:
            folders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        folders[:] = [sub.name for sub in _sort_paths(folder, folders, with_system)]
        yield folder, _sort_paths(folder, files, with_system)


def _sort_paths(
    folder: Path, names: Iterable[str], with_system: bool = False
) -> list[Path]:
    return [
        folder / name
        for name in sorted(names, key=natural_sort_key)
        if with_system or not _SYSTEM_NAME.fullmatch(name)
    ]


def walk_pictures(root: Path, *, with_system: bool = False) -> Iterator[Path]:
    """Yield the picture files of a folder and of those below it."""
    for _, files in walk_folders(root, with_system=with_system):
        yield from (file for file in files if file.suffix.lower() in PICTURE_ENDINGS)


def list_wrappers(folder: Path, *, with_loose: bool = True) -> list[Path]:
    """List a folder and those below it down to the first that doesn't hold all of its pictures in one folder.

    Pictures in the folder itself, as beside a README, count only `with_loose`.
    """
    inner = None
    for file in walk_pictures(folder):
        if with_loose or file.parent != folder:
            inner = Path(os.path.commonpath([inner or file.parent, file.parent]))
        if inner == folder:
            break
    names = inner.relative_to(folder).parts if inner else ()
    return [folder.joinpath(*names[:end]) for end in range(len(names) + 1)]


def find_sections(folder: Path) -> list[tuple[str | None, Path]]:
    """Return the folders called train, val and test with their parts, or the folder itself if it has none.

    Folders that hold nothing but a folder of pictures are looked through.
    """
    for wrapper in list_wrappers(folder, with_loose=False):
        parts = [
            (part, path)
            for path in list_folders(wrapper)
            if (part := parse_part(path.name))
        ]
        if parts:
            return sorted(parts, key=lambda entry: _PART_ORDER.index(entry[0]))
    return [(parse_part(folder.resolve().name), folder)]


def parse_part(word: str) -> str | None:
    """Return the part that a word stands for.

    Examples
    --------
    >>> [parse_part(word) for word in ("Training", "valid", "test_set", "tree")]
    ['train', 'val', 'test', None]
    """
    match = _PART.fullmatch(re.sub(r"[\W\d_]", "", word.lower()))
    return _PART_ORDER[(match.lastindex or 3) - 1] if match else None
