"""The one place that makes typed objects of TOML and JSON, and names their errors.

`msgspec` does the checking: types are annotations, and it has no dependencies. Its
errors are sentences that name neither the entries of a table nor the value, so that the
value that it refuses is searched here, part by part.
"""

import json
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec.inspect import EnumType, type_info

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.textfiles import read_text

T = TypeVar("T")
# The words of messages for kinds of types in msgspec; all others are tables.
_WORDS = {
    "BoolType": "true or false",
    "FloatType": "a number",
    "IntType": "a whole number",
    "ListType": "a list",
    "NoneType": "nothing",
    "StrType": "text",
    "TupleType": "a list",
    "VarTupleType": "a list",
}
# The words for limits of values, by their names in msgspec.
_LIMITS = {
    "ge": ">=",
    "gt": ">",
    "le": "<=",
    "min_length": "of length >=",
    "pattern": "matching regex",
}


class _Nothing:
    """The value of a key that a table lacks."""

    def __repr__(self) -> str:
        return "nothing"


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
    """Convert plain data to a type by `check_types`.

    Refuse numbers that aren't finite, and invalid characters.
    """
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False, default=str).encode()
    except (ValueError, RecursionError):
        raise LeafidError(
            f"{source}: expected finite numbers and text of Unicode characters, found "
            "others"
        ) from None
    return check_types(data, type_, source)


def check_types(
    data: Any,
    type_: type[T],
    source: object,
    decode: Callable[[type, Any], Any] | None = None,
) -> T:
    """Convert plain data of TOML or JSON to a type of msgspec, and check every value.

    Structs with ``forbid_unknown_fields=True`` refuse unknown keys, and a
    ``__post_init__`` that raises a `ValueError` ("expected …, found …") refuses an
    object. ``decode(type, value)`` makes an object of a type that msgspec doesn't know,
    or raises a `ValueError`. At the first value that isn't as expected a `LeafidError`
    is raised: it begins with `source`, such as a file's path, and gives the value's
    path in the data, what was expected and what was found.
    """
    attempt = partial(msgspec.convert, dec_hook=decode, str_keys=True)
    try:
        return attempt(data, type_)
    except (ValueError, OverflowError) as error:
        problem = next(_find_problems(data, type_, "", attempt), str(error))
        raise LeafidError(f"{source}: {problem.removeprefix('.')}") from None


def _find_problems(
    value: Any, type_: Any, path: str, attempt: Callable[[Any, Any], Any]
) -> Iterator[str]:
    """Find the problems of a value's parts, then of the value itself."""
    for step, part, part_type in _list_parts(value, type_):
        yield from _find_problems(part, part_type, path + step, attempt)
    try:
        attempt(value, type_)
    except (ValueError, OverflowError) as error:
        shown = "nothing" if value is None else f"{value!r:.100}"
        expected = f"expected {_describe_type(type_info(type_))}, found {shown}"
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
    node: Any = type_info(type_)
    names: list[str] = []
    for field in getattr(node, "fields", ()):
        names.append(field.encode_name)
        if field.required or names[-1] in table:
            hints = get_type_hints(type_, include_extras=True)
            yield f".{names[-1]}", table.get(names[-1]), hints[field.name]
    if getattr(node, "forbid_unknown_fields", False):
        for key in table:
            yield ", key", key, Literal[tuple(names)]


def _describe_type(node: Any) -> str:
    """List the words for a type, or the values that it allows."""
    words: list[object] = []
    for part in getattr(node, "types", (node,)):  # of a union
        word = _WORDS.get(type(part).__name__, "a table")
        for name, sign in _LIMITS.items():
            limit = getattr(part, name, None)
            if limit is not None:
                word += f" {sign} {limit}"
        if items := getattr(part, "item_types", ()):
            word += f" of length {len(items)}"
        members = [*part.cls] if isinstance(part, EnumType) else [word]
        words += getattr(part, "values", members)
    *first, last = map(str, words)
    if not first:
        return last
    return f"{', '.join(first)} or {last}"
