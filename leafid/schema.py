"""The one place that makes typed objects of TOML and JSON, and names their errors.

`msgspec` does the checking: types are annotations, and it has no dependencies. Its
errors are sentences that name neither the entries of a table nor the value, so that the
value that it refuses is searched here, part by part.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from numbers import Real
from os import PathLike
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.textfiles import read_text

T = TypeVar("T")
# The words of messages for types.
_WORDS = {
    Iterable: "several values",
    NoneType: "nothing",
    PathLike: "a path",
    Real: "a number",
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
    tuple: "a list",
}
# The words for limits of values, by their names in msgspec.
_LIMITS = {
    "ge": ">=",
    "gt": ">",
    "le": "<=",
    "min_length": "of length >=",
    "pattern": "matching regex",
}


def parse_toml(text: str, type_: type[T], source: object) -> T:
    """Parse TOML and `convert` it."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # ValueError also for an integer of thousands of digits.
        raise LeafidError(f"{source}: expected TOML, found an error: {error}") from None
    return convert(data, type_, source)


def read_json(file: StrPath, type_: type[T]) -> T:
    """Read a JSON file and `convert` it."""
    try:
        data = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise LeafidError(
            f"{file}:{error.lineno}: expected JSON, found an error: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        # Of a number of thousands of digits, or endless nesting, no line is known.
        raise LeafidError(f"{file}: expected JSON, found an error: {error}") from None
    return convert(data, type_, file)


def convert(data: Any, type_: type[T], source: object) -> T:
    """Convert plain data of TOML or JSON to a type of msgspec, and check every value.

    Structs with ``forbid_unknown_fields=True`` refuse unknown keys, and a
    ``__post_init__`` that raises a `ValueError` ("expected …, found …") refuses an
    object. At the first value that isn't as expected a `LeafidError` is raised: it
    begins with `source`, such as a file's path, and gives the value's path in the data,
    what was expected and what is there. Numbers that aren't finite are refused, too,
    and invalid characters.
    """
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False, default=str).encode()
    except (ValueError, RecursionError):
        raise LeafidError(
            f"{source}: expected finite numbers and text of Unicode characters, found "
            "others"
        ) from None
    try:
        return msgspec.convert(data, type_, str_keys=True)
    except (ValueError, OverflowError) as error:
        problem = next(_find_problems(data, type_, ""), str(error))
        raise LeafidError(f"{source}: {problem.removeprefix('.')}") from None


def _find_problems(value: Any, type_: Any, path: str) -> Iterator[str]:
    """Find the problems of a value's parts, then of the value itself."""
    for step, part, part_type in _list_parts(value, type_):
        yield from _find_problems(part, part_type, path + step)
    try:
        msgspec.convert(value, type_, str_keys=True)
    except (ValueError, OverflowError) as error:
        shown = "nothing" if value is None else f"{value!r:.100}"
        expected = f"expected {describe_type(type_)}, found {shown}"
        yield f"{path}: {error.__cause__ or expected}".lstrip(":., ")


def _list_parts(value: Any, type_: Any) -> Iterator[tuple[str, Any, Any]]:
    """List the parts of a table or list: step of the path, value, type."""
    origin = get_origin(type_) or type_
    types = get_args(type_)
    if origin is Annotated:
        types = types[:1]
    if origin in {Annotated, Union, UnionType}:
        for alternative in types:
            yield from _list_parts(value, alternative)
    elif isinstance(value, list) and (origin is list or ... in types):
        for index, part in enumerate(value):
            yield f"[{index}]", part, types[0]
    elif isinstance(value, dict) and origin not in {list, tuple}:
        yield from _list_entries(value, type_)


def _list_entries(table: dict[Any, Any], type_: Any) -> Iterator[tuple[str, Any, Any]]:
    """List the keys and values of a table as `_list_parts` does."""
    if arguments := get_args(type_):  # of a dictionary
        key_type, value_type = arguments
        for key, value in table.items():
            # Keys that are numbers are text in JSON.
            if key_type is not int:
                yield ", key", key, key_type
            yield f".{key}", value, value_type
    if isinstance(type_, type(msgspec.Struct)):
        fields = msgspec.structs.fields(type_)
        for field in fields:
            if field.required or field.encode_name in table:
                name = field.encode_name
                yield f".{name}", table.get(name), field.type
        if type_.__struct_config__.forbid_unknown_fields:
            names = sorted(field.encode_name for field in fields)
            for key in table:
                yield ", key", key, Literal[tuple(names)]


def describe_type(type_: Any) -> str:
    """Describe a type by words, or by the values that it allows."""
    *first, last = dict.fromkeys(_list_words(type_))
    if not first:
        return last
    return f"{', '.join(first)} or {last}"


def _list_words(type_: Any) -> list[str]:
    origin = get_origin(type_) or type_
    parts = get_args(type_)
    if origin in {Union, UnionType}:
        return [word for part in parts for word in _list_words(part)]
    if origin is Annotated:
        words = _list_words(parts[0])
        for name, sign in _LIMITS.items():
            if (limit := getattr(parts[1], name)) is not None:
                words += [sign, str(limit)]
        return [" ".join(words)]
    if origin is Literal:
        return [*map(str, parts)]
    if issubclass(origin, Enum):
        return [*map(str, origin)]
    if issubclass(origin, msgspec.Struct | Mapping):
        return ["a table"]
    word = _WORDS.get(origin, origin.__name__)
    if origin is tuple and ... not in parts:
        word += f" of length {len(parts)}"
    return [word]
