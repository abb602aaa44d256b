"""The one place that turns plain data of TOML or JSON into typed objects, and says what is wrong with it.

`msgspec` does the checking: types are annotations, and it has no dependencies of its own. Its errors leave out what was
found, the names of a table's entries and the choices, which are added here.
"""

import math
import re
import tomllib
from collections.abc import Iterable, Iterator
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
# What msgspec says of values that are checked here again; every other message comes from a type's own check.
_PLAIN_MESSAGE = re.compile(r"Expected `|Expected Unicode|Invalid enum value|Number out of range|Integer|Invalid ")
_NOUNS: dict[type, str] = {
    inspect.AnyType: "a value",
    inspect.BoolType: "true or false",
    inspect.FloatType: "a number",
    inspect.IntType: "a whole number",
    inspect.NoneType: "null",
    inspect.StrType: "text",
    inspect.StructType: "a table",
    inspect.DataclassType: "a table",
    inspect.BytesType: "bytes in base64",
    inspect.DictType: "a table",
}
_LISTS = (inspect.ListType, inspect.VarTupleType, inspect.SetType, inspect.FrozenSetType)


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
    is_key = place.startswith("key` in `")
    path = _locate(data, kind, str(error), place.removeprefix("key` in `").removesuffix("`"))
    value, info = _follow(data, kind, path)
    if is_key:
        key = _find_entry(data, kind, str(error), path, value)
        return _join(path, f"expected {_name_type(info.key_type)} as a name, found {_show(key)}")
    if found := _UNKNOWN_KEY.fullmatch(message):
        known = _list_keys(info)
        hint = suggest(found[1], known, f"; expected {', '.join(known)}")
        return _join(path, f"unknown key {found[1]!r}{hint}")
    if found := _MISSING_KEY.fullmatch(message):
        entry = next(field for field in info.fields if field.encode_name == found[1])
        return _join((*path, found[1]), f"expected {_name_type(entry.type)}, found nothing")
    if _PLAIN_MESSAGE.match(message):
        return _join(path, f"expected {_name_type(info)}, found {_show(value)}")
    return _join(path, message)


def _locate(data: Any, kind: type, message: str, place: str) -> KeyPath:
    """Parse the path of a message of msgspec, which writes ``[...]`` for the entry of a table."""
    path: KeyPath = ()
    value = data
    for name, index in re.findall(r"\.([^.\[]+)|\[(\.\.\.|\d+)\]", place):
        step: str | int = name or index
        if index == "...":
            step = _find_entry(data, kind, message, path, value)
        elif index:
            step = int(index)
        path = (*path, step)
        value = value[step]
    return path


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


def _follow(data: Any, kind: type, path: Iterable[str | int]) -> tuple[Any, Any]:
    """Return the value at a path, and the description of the type that is expected there."""
    info: Any = inspect.type_info(kind)
    for step in path:
        info = _choose_alternative(info, data)
        if isinstance(info, inspect.StructType | inspect.DataclassType):
            info = next(field.type for field in info.fields if field.encode_name == step)
        elif isinstance(info, inspect.DictType):
            info = info.value_type
        elif isinstance(info, inspect.TupleType):
            info = info.item_types[int(step)]
        elif isinstance(info, _LISTS):
            info = info.item_type
        data = data[step]
    return data, _choose_alternative(info, data) if isinstance(data, dict) else info


def _choose_alternative(info: Any, value: Any) -> Any:
    """Of a union, choose the type for a table or a list; of a type with a description, the type."""
    if isinstance(info, inspect.Metadata):
        return _choose_alternative(info.type, value)
    if not isinstance(info, inspect.UnionType):
        return info
    tables, lists = (inspect.StructType, inspect.DataclassType, inspect.DictType), (*_LISTS, inspect.TupleType)
    kinds = tables if isinstance(value, dict) else lists
    return next((own for own in info.types if isinstance(own, kinds)), info)


def _list_keys(info: Any) -> list[str]:
    return sorted(field.encode_name for field in info.fields)


def _name_type(info: Any) -> str:
    """Say in words what a type takes."""
    if isinstance(info, inspect.Metadata):
        return _name_type(info.type)
    if isinstance(info, inspect.UnionType):
        return " or ".join(map(_name_type, info.types))
    if isinstance(info, inspect.EnumType | inspect.LiteralType):
        choices = [member.value for member in info.cls] if isinstance(info, inspect.EnumType) else info.values
        return f"one of {', '.join(map(str, choices))}"
    if isinstance(info, _LISTS):
        return f"a list of {_name_type(info.item_type)}{' (one or more)' if info.min_length else ''}"
    if isinstance(info, inspect.TupleType):
        return f"a list of {len(info.item_types)} values"
    noun = _NOUNS.get(type(info), type(info).__name__)
    if getattr(info, "pattern", None):
        noun += f" like {info.pattern}"
    if getattr(info, "min_length", None):
        noun += " that isn't empty"
    if isinstance(info, inspect.StrType) and info.max_length:
        noun += f" of at most {info.max_length} characters"
    return " ".join([noun, *_name_bounds(info)])


def _name_bounds(info: Any) -> Iterator[str]:
    low, above, high = (_format_bound(getattr(info, name, None)) for name in ("ge", "gt", "le"))
    if low and high:
        yield f"from {low} to {high}"
    elif low:
        yield f"of {low} or more"
    elif high:
        yield f"of at most {high}"
    if above:
        yield f"above {above}"


def _format_bound(bound: float | None) -> str:
    return "" if bound is None else f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"


def _show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MAX_FOUND else f"{shown[: _MAX_FOUND - 1]}…"


def _join(path: KeyPath, message: str) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"{words}: {message}" if words else message
