"""Lists folders in the same order on every file system, without system files."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.names import natural_sort_key

#: Maximum depth of folders; Python 3.11 lists deeper ones by recursion, whose depth is
#: limited, too.
MAX_DEPTH = 500
#: The folders and files that systems, storage devices and programs write among
#: pictures, beside hidden ones.
_SYSTEM_NAME = re.compile(
    r"\..*|__macosx|lost\+found|\$recycle\.bin|recycle[rd]"
    r"|system volume information|found\.\d{3}"
    r"|@eadir|@tmp|@syno\w+|[@#]recycle|[#~]snapshot|@recently-snapshot|@sharebin"
    r"|lost\.dir|\$winreagent|network trash folder|temporary items"
    r"|(eh)?thumbs\.db|desktop\.ini|icon\r|__pycache__|_vti_\w+",
    re.IGNORECASE,
)
_NOUNS = (
    "(?:data|sub|sets?|images?|imgs?|pictures?|photos?"
    "|splits?|parts?|lists?|folder|files?)*"
)
# Without signs and digits: Training, test_set, images_train, val2017.
_PART = re.compile(
    f"{_NOUNS}(?:(train(?:ing)?)|(val(?:id(?:ation)?)?)|test(?:ing)?){_NOUNS}"
)
_PART_ORDER = ("train", "val", "test")


def list_files(folder: Path, endings: Collection[str] = PICTURE_ENDINGS) -> list[Path]:
    """List the files with one of the endings (lower case).

    An unreadable folder has none.
    """
    _, _, names = next(os.walk(folder), ("", [], []))
    return sort_paths(folder, filter_names(names, endings))


def list_folders(folder: Path) -> list[Path]:
    """List the sub-folders of a folder; none if it can't be read."""
    _, folders, _ = next(os.walk(folder), ("", [], []))
    return sort_paths(folder, filter_names(folders))


def filter_names(
    names: Iterable[str], endings: Collection[str] = ("",), *, with_system: bool = False
) -> Iterator[str]:
    """Yield the names with one of the endings (lower case).

    Hidden names and names of the system are left out by default.
    """
    ends = tuple(endings)
    for name in names:
        is_visible = with_system or not _SYSTEM_NAME.fullmatch(name)
        if is_visible and name.lower().endswith(ends):
            yield name


def sort_paths(folder: Path, names: Iterable[str]) -> list[Path]:
    """List the paths of names in a folder, with numbers by their size."""
    return [folder / name for name in sorted(names, key=natural_sort_key)]


def walk_folders(
    root: Path,
    onerror: Callable[[OSError], object] | None = None,
    *,
    with_system: bool = False,
) -> Iterator[tuple[Path, list[str]]]:
    """Yield a folder and all folders below it, each with its file names, in any order.

    `onerror` is called for folders that can't be read. Links are followed, but no
    folder is visited twice, so that circular ones end. Folders that are hidden or of
    the system are skipped unless `with_system` is set.
    """
    visited: set[tuple[int, int]] = set()
    for path, folders, files in os.walk(root, onerror=onerror, followlinks=True):
        folder = Path(path)
        status = os.stat(path)  # noqa: PTH116  # faster
        if len(folder.parts) > MAX_DEPTH:
            raise LeafidError(
                f"{root}: expected folders of at most {MAX_DEPTH} levels, found more"
            )
        if (status.st_dev, status.st_ino) in visited:
            folders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        names = filter_names(folders, with_system=with_system)
        folders[:] = sorted(names, key=natural_sort_key)
        yield folder, files


def walk_pictures(root: Path, *, with_system: bool = False) -> Iterator[Path]:
    """Yield the picture files of a folder and of all folders below it."""
    for folder, names in walk_folders(root, with_system=with_system):
        pictures = filter_names(names, PICTURE_ENDINGS, with_system=with_system)
        yield from sort_paths(folder, pictures)


def find_pictures(root: Path) -> Path | None:
    """Find the first folder that has a picture: this one, or one below it."""
    for folder, names in walk_folders(root):
        if any(filter_names(names, PICTURE_ENDINGS)):
            return folder
    return None


def list_wrappers(folder: Path, *, with_loose: bool = True) -> list[Path]:
    """List a folder and its subfolders, down to the first with pictures at two places.

    Each listed folder but the last holds all of its pictures in one subfolder. Pictures
    in the folder itself, as beside a README, count only `with_loose`.
    """
    starts = [folder]
    if not with_loose:
        starts = list_folders(folder)
    first = next(filter(None, map(find_pictures, starts)), None)
    wrappers = [folder]
    if first is None:
        return wrappers
    for name in first.relative_to(folder).parts:
        others = [sub for sub in list_folders(wrappers[-1]) if sub.name != name]
        if any(map(find_pictures, others)):
            break
        wrappers.append(wrappers[-1] / name)
    return wrappers


def find_sections(folder: Path) -> list[tuple[str | None, Path]]:
    """Return the folders train, val and test with their parts, or the folder itself.

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
    return match and _PART_ORDER[(match.lastindex or 3) - 1]
