"""The one place that turns plain data of TOML or JSON into typed objects, and says what is wrong with it.

`msgspec` does the checking: types are annotations, and it has no dependencies of its own. Its errors leave out what was
found, the names of a table's entries and the choices, which are added here.
"""

import math
import re
import tomllib
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from leafid.errors import LeafidError, suggest

T = TypeVar("T")
#: Where a value is in the data: names and indices from the outside in.
KeyPath = tuple[str | int, ...]

_MAX_FOUND = 100
_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING_KEY = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
# The words of messages for those of msgspec.
_WORDS = {"bool": "true or false", "float": "a number", "int": "a whole number"}
_WORDS |= {"str": "text", "object": "a table", "array": "a list"}
#: Types that take a table, a list or text.
_KINDS: dict[type, Any] = {
    dict: (inspect.StructType, inspect.DataclassType, inspect.DictType),
    list: (inspect.ListType, inspect.VarTupleType, inspect.TupleType, inspect.SetType, inspect.FrozenSetType),
    str: (inspect.EnumType, inspect.LiteralType),
}


def parse_toml(text: str, kind: type[T], source: object) -> T:
    """Parse TOML and `convert` it."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer of thousands of digits
        raise LeafidError(f"{source}: expected TOML, found an error: {error}") from None
    return convert(data, kind, source)


def convert(data: Any, kind: type[T], source: object) -> T:
    """Convert plain data to a type, checking every value.

    Parameters
    ----------
    data
        What TOML or JSON gives.
    kind
        A `msgspec.Struct`, or any other type that msgspec knows. Structs with ``forbid_unknown_fields=True`` refuse
        unknown keys. A ``__post_init__`` that raises `ValueError` ("expected …, found …") refuses an object.
    source
        Where the data are from, such as a file's path: the start of the message.

    Raises
    ------
    LeafidError
        At the first value that isn't as expected: its path in the data, what was expected and what was found. Numbers
        have to be finite, and text has to be encodable.
    """
    try:
        _check_values(data)
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        message = _describe(data, kind, error)
    except LeafidError as error:
        message = str(error)
    except (ValueError, OverflowError, RecursionError) as error:
        message = f"expected plain values, found an error: {error}"
    raise LeafidError(f"{source}: {message}")


def _check_values(value: Any, path: KeyPath = ()) -> None:
    """Refuse what has the right type, but can neither be calculated with nor written."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check_values(key, path)
            _check_values(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_values(item, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        raise LeafidError(_join(path, f"expected a finite number, found {value}"))
    elif isinstance(value, str) and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise LeafidError(_join(path, f"expected text of Unicode characters, found {_show(value)}"))


def _describe(data: Any, kind: type, error: msgspec.ValidationError) -> str:
    message, _, place = str(error).partition(" - at `")
    place = place.removesuffix("`")
    path, value, info = _locate(data, kind, str(error), place.removeprefix("key` in `"))
    if place.startswith("key`"):
        value, info = "another name", info.key_type
    if unknown := _UNKNOWN_KEY.fullmatch(message):
        known = sorted(field.encode_name for field in info.fields)
        hint = suggest(unknown[1], known, f"; expected {', '.join(known)}")
        return _join(path, f"unknown key {unknown[1]!r}{hint}")
    if missing := _MISSING_KEY.fullmatch(message):
        return _join((*path, missing[1]), "expected a value, found nothing")
    if message.startswith("Invalid enum value"):
        choices = info.values if isinstance(info, inspect.LiteralType) else [member.value for member in info.cls]
        return _join(path, f"expected one of {', '.join(map(str, choices))}, found {_show(value)}")
    message = message.replace("Number out of range", "Expected `float`")
    if message.startswith("Expected"):
        expected = re.sub(r"`(\w+)", lambda word: _WORDS.get(word[1], word[1]), message.partition(", got")[0])
        message = f"{expected[0].lower()}{expected[1:].replace('`', '')}, found {_show(value)}"
    return _join(path, message)


def _locate(data: Any, kind: type, message: str, place: str) -> tuple[KeyPath, Any, Any]:
    """Follow the path of a message of msgspec, which writes ``[...]`` for the entry of a table.

    Returns the path with its entries, the value there, and the description of the type that is expected.
    """
    path: KeyPath = ()
    value, info = data, _choose_alternative(inspect.type_info(kind), data)
    for name, index in re.findall(r"\.([^.\[]+)|\[(\.\.\.|\d+)\]", place):
        step: Any = name or index
        if index:
            step = _find_entry(data, kind, message, path, value) if index == "..." else int(index)
        if hasattr(info, "fields"):
            info = next(field.type for field in info.fields if field.encode_name == step)
        elif hasattr(info, "item_types"):
            info = info.item_types[step]
        else:
            info = info.value_type if isinstance(value, dict) else info.item_type
        path, value = (*path, step), value[step]
        info = _choose_alternative(info, value)
    return path, value, info


def _find_entry(data: Any, kind: type, message: str, path: KeyPath, table: dict[Any, Any]) -> Any:
    """Find the entry of a table that an error is about: the one with the same error where it is the only entry."""
    return next(key for key in table if _get_message(_replace(data, path, {key: table[key]}), kind) == message)


def _get_message(data: Any, kind: type) -> str:
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _replace(data: Any, path: KeyPath, value: Any) -> Any:
    """Copy the data with another value at a path."""
    if not path:
        return value
    copy: Any = data.copy() if isinstance(data, dict) else list(data)
    copy[path[0]] = _replace(data[path[0]], path[1:], value)
    return copy


def _choose_alternative(info: Any, value: Any) -> Any:
    """Of a union, choose the type for a table, a list or text; of a type with a description, the type."""
    if isinstance(info, inspect.Metadata):
        return _choose_alternative(info.type, value)
    if not isinstance(info, inspect.UnionType):
        return info
    kinds = _KINDS.get(type(value), ())
    return next((own for own in info.types if isinstance(own, kinds)), info)


def _show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MAX_FOUND else f"{shown[: _MAX_FOUND - 1]}…"


def _join(path: KeyPath, message: str) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"{words}: {message}" if words else message
