"""The one place that turns TOML and JSON into typed objects, and says what is wrong with them.

`msgspec` does the checking: types are annotations, and it has no dependencies of its own. Its errors leave out what was
found, the names of a table's entries and the choices, which are added here.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from itertools import repeat
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from leafid.errors import LeafidError
from leafid.textfiles import read_text

T = TypeVar("T")
#: Where a value is in the data: names and indices from the outside in.
KeyPath = tuple[str | int, ...]

_KEY_ERROR = re.compile(r"Object (contains unknown|missing required) field `(.*)`", re.DOTALL)
# The words of messages for those of msgspec.
_WORDS = {"bool": "true or false", "float": "a number", "int": "a whole number"}
_WORDS |= {"str": "text", "object": "a table", "array": "a list"}


def parse_toml(text: str, kind: type[T], source: object) -> T:
    """Parse TOML and `convert` it."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer of thousands of digits
        raise LeafidError(f"{source}: expected TOML, found an error: {error}") from None
    return convert(data, kind, source)


def read_json(file: str | os.PathLike[str], kind: type[T]) -> T:
    """Read a JSON file as an object of a type; a `LeafidError` says what is wrong, as that of `convert`."""
    text = read_text(file)
    try:
        with suppress(msgspec.ValidationError):
            return msgspec.json.decode(text, type=kind)
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        place = re.search(r"byte (\d+)", str(error))
        line = text.encode().count(b"\n", 0, int(place[1]) if place else None) + 1
        raise LeafidError(f"{file}:{line}: expected JSON, found an error: {error}") from None
    return convert(data, kind, file)


def convert(data: Any, kind: type[T], source: object, decode: Callable[[type, Any], Any] | None = None) -> T:
    """Convert plain data to a type, checking every value.

    Parameters
    ----------
    data
        What TOML or JSON gives.
    kind
        A `msgspec.Struct`, a dataclass, or any other type that msgspec knows. Structs with
        ``forbid_unknown_fields=True`` refuse unknown keys. A ``__post_init__`` that raises `ValueError` ("expected …,
        found …") refuses an object.
    source
        Where the data are from, such as a file's path: the start of the message.
    decode
        ``decode(type, value)`` makes an object of a type that msgspec doesn't know, or raises a `ValueError`.

    Raises
    ------
    LeafidError
        At the first value that isn't as expected: its path in the data, what was expected and what was found.
    """
    try:
        # What has the right type, but can neither be calculated with nor written, is refused here.
        json.dumps(data, ensure_ascii=False, allow_nan=False, default=str).encode()
    except (ValueError, RecursionError):
        raise LeafidError(f"{source}: expected finite numbers and text of Unicode characters, found others") from None
    attempt = partial(msgspec.convert, dec_hook=decode, str_keys=True)
    try:
        return attempt(data, kind)
    except (ValueError, OverflowError) as error:
        raise LeafidError(f"{source}: {_find_error(data, kind, attempt) or error}") from None


def _find_error(value: Any, kind: Any, attempt: Callable[[Any, Any], Any], path: KeyPath = ()) -> str | None:
    """Find the innermost value that its type refuses, and describe the error; None where there is none."""
    try:
        attempt(value, kind)
        return None
    except msgspec.ValidationError as error:
        message = str(error).partition(" - at `")[0]
    kind = _choose_alternative(kind, value)
    for key, part, own in _list_parts(value, kind):
        if found := _find_error(part, own, attempt, (*path, key)):
            return found
    if error_of_key := _KEY_ERROR.fullmatch(message):
        problem, key = error_of_key.groups()
        if problem == "missing required":
            return _join((*path, key), "expected a value, found nothing")
        known = sorted(field.encode_name for field in msgspec.structs.fields(kind))
        return _join(path, f"unknown key {key!r}; expected {', '.join(known)}")
    # The name of an entry may be refused, too.
    if message.startswith("Invalid enum value") and _get_container(kind) is None:
        choices = get_args(kind) if get_origin(kind) is Literal else [member.value for member in kind]
        return _join(path, f"expected one of {', '.join(map(str, choices))}, found {value!r:.100}")
    message = message.replace("Number out of range", "Expected `float`")
    if message.startswith("Expected"):
        expected = re.sub(r"`(\w+)", lambda word: _WORDS.get(word[1], word[1]), message.partition(", got")[0])
        message = f"{expected[0].lower()}{expected[1:].replace('`', '')}, found {value!r:.100}"
    return _join(path, message)


def _choose_alternative(kind: Any, value: Any) -> Any:
    """Of a union, choose the type for a table, a list or another value; of an annotated type, the type."""
    if get_origin(kind) is Annotated:
        return _choose_alternative(get_args(kind)[0], value)
    if get_origin(kind) not in {Union, UnionType}:
        return kind
    alternatives = [_choose_alternative(own, value) for own in get_args(kind)]
    return next((own for own in alternatives if _get_container(own) is _get_container(type(value))), kind)


def _get_container(kind: Any) -> type | None:
    origin = get_origin(kind) or kind
    if (
        origin in (dict, Mapping)
        or is_dataclass(kind)
        or (isinstance(origin, type) and issubclass(origin, msgspec.Struct))
    ):
        return dict
    return list if origin in (list, tuple, set, frozenset) else None


def _list_parts(value: Any, kind: Any) -> Iterable[tuple[str | int, Any, Any]]:
    """List the entries of a table or a list: the name or index of each, the value, and its type."""
    arguments = get_args(kind)
    if isinstance(value, dict) and _get_container(kind) is dict and kind is not dict:
        if arguments:
            return [(key, part, arguments[1]) for key, part in value.items()]
        if is_dataclass(kind):
            types = get_type_hints(kind, include_extras=True)
        else:
            types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        return [(key, part, types[key]) for key, part in value.items() if key in types]
    if isinstance(value, list) and _get_container(kind) is list and arguments:
        is_fixed = get_origin(kind) is tuple and arguments[-1] is not ...
        types_of_parts = arguments if is_fixed else repeat(arguments[0])
        return [(index, part, own) for index, (part, own) in enumerate(zip(value, types_of_parts, strict=False))]
    return []


def _join(path: KeyPath, message: str) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"{words}: {message}" if words else message
