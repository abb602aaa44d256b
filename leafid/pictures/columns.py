"""Makes pictures of what Python users hold about them: columns, or labels by name."""

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np

from leafid.errors import InputError, LeafidError
from leafid.files import StrPath
from leafid.pictures.labels import make_labels
from leafid.pictures.picture import AcquisitionType, Collection, Picture
from leafid.pictures.readers import tables
from leafid.pictures.reading import Paths, name_clashing_pictures, read_and_warn
from leafid.schema import describe_type

#: An acquisition type, or a word for it.
TypeName = AcquisitionType | str
#: A `pandas.DataFrame`.
Frame = Any
#: What `to_pictures` takes, or the paths of one collection or several.
Labelled = Paths | Collection | Iterable[Picture] | Mapping[str, Any] | Frame
logger = logging.getLogger(__name__)


def list_values(
    argument: str, values: Any, *kinds: type, expected: str = ""
) -> list[Any]:
    """List the values of an argument, or the only one.

    A value of another type raises an `InputError`, which by default names the types.
    """
    if isinstance(values, kinds) or not np.iterable(values):
        values = [values]
    entries = [*values]
    for value in entries:
        if not isinstance(value, kinds):
            expected = expected or " or ".join(map(describe_type, kinds))
            raise InputError(f"{argument}: expected {expected}, found {value!r:.100}")
    return entries


def is_path(value: Any) -> TypeGuard[StrPath]:
    """Tell whether a value is a path."""
    return isinstance(value, (str, os.PathLike))


def are_all(values: Any, is_kind: Callable[[Any], bool]) -> bool:
    """Tell whether values are a sequence of at least one, each of a kind."""
    is_sequence = isinstance(values, Sequence) and len(values) > 0
    return is_sequence and all(map(is_kind, values))


def parse_type(argument: str, word: TypeName | None) -> AcquisitionType | None:
    """Parse an acquisition type; an `InputError` names the argument."""
    if word is None:
        return None
    try:
        return AcquisitionType.parse(word)
    except LeafidError as error:
        raise InputError(f"{argument}: {error}") from None


def is_frame(value: Any) -> bool:
    """Tell whether a value is a `pandas.DataFrame`, which needn't be installed."""
    return all(hasattr(value, name) for name in ("columns", "index", "to_numpy"))


def read_pictures(
    source: Labelled, argument: str, refused: tuple[type[str], ...] = ()
) -> Sequence[Picture]:
    """Read collections as `read_and_warn` does, or make pictures by `to_pictures`."""
    if is_path(source) or are_all(source, is_path):
        return read_and_warn(cast("Paths", source), refused).pictures
    return to_pictures(source, argument)


def to_pictures(source: Any, argument: str) -> Sequence[Picture]:
    """Make pictures of an argument, which messages call `argument`.

    Parameters
    ----------
    source : Collection, iterable of Picture, mapping or data frame
        A mapping has the label of each picture by its file, or the columns of a table
        of pictures by their names, as a data frame has them.

    Returns
    -------
    sequence of Picture

    Raises
    ------
    InputError
        When it is something else, or its columns differ in length.
    LeafidError
        When a value can't be read.
    """
    if isinstance(source, Collection):
        return source.pictures
    if is_frame(source):
        return _make_pictures(argument, source.columns, source.to_numpy(object))
    if not isinstance(source, Mapping):
        expected = "a path, a Collection, pictures, a mapping or a data frame"
        return list_values(argument, source, Picture, expected=expected)
    columns = [*source.values()]
    if columns and all(np.iterable(c) and not isinstance(c, str) for c in columns):
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise InputError(
                f"{argument}: expected columns of one length, found lengths "
                f"{', '.join(map(str, sorted(lengths)))}"
            )
        return _make_pictures(argument, source, zip(*columns, strict=True))
    names = list_values(argument, source, str, os.PathLike)
    labels = list_values(argument, columns, str)
    return _make_pictures(argument, ["file", "label"], zip(names, labels, strict=True))


def _make_pictures(
    argument: str, heading: Iterable[Any], rows: Iterable[Iterable[Any]]
) -> list[Picture]:
    """Make pictures of a heading and rows, as of a CSV table in the current folder."""
    source = Path(argument)
    table = [[*map(str, heading)]]
    for row in rows:
        table.append(["" if cell is None else str(cell) for cell in row])
    records, remarks = tables.parse_rows(source, enumerate(table))
    pictures = tables.make_pictures(source, records, anywhere=True)
    unlabelled = Collection(source, tables.LAYOUT, tuple(pictures), tuple(remarks))
    labelled = make_labels(unlabelled)
    for problem in labelled.problems:
        logger.warning("%s", problem)
    return [*name_clashing_pictures(Path(), labelled.pictures)]
