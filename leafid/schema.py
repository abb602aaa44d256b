"""The one place that makes typed objects of TOML and JSON, and names their errors.

`msgspec` does the checking: types are annotations, and it has no dependencies of its
own. Its errors leave out the wrong value and the names of a table's entries, which are
added here.
"""

import json
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import msgspec

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.textfiles import read_text

T = TypeVar("T")
# A message of msgspec: the problem, and the place, such as
# ``$.experts[...].families[0]``.
_ERROR = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$(.*)`)?", re.DOTALL)
# The words of messages for the words of msgspec.
_WORDS = {"bool": "true or false", "float": "a number", "int": "a whole number"}
_WORDS |= {"str": "text", "object": "a table", "array": "a list"}


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
        # A number of thousands of digits, or endless nesting.
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
    is raised: it begins with `source`, such as a file's path, and tells the value's
    path in the data, what was expected and what was found.
    """
    attempt = partial(msgspec.convert, type=type_, dec_hook=decode, str_keys=True)
    try:
        return attempt(data)
    except (ValueError, OverflowError) as error:
        raise LeafidError(
            f"{source}: {_describe_error(str(error), data, attempt)}"
        ) from None


def _describe_error(error: str, data: Any, attempt: partial[Any]) -> str:
    """Describe an error of msgspec: its place, what was expected, and found."""
    parts = _ERROR.fullmatch(error)
    message, place = parts.groups() if parts else (error, None)
    value = whole = deepcopy(data)
    path = ""
    # A key of the data may look like a place.
    with suppress(LookupError, TypeError, ValueError):
        for step in re.findall(r"\.\.\.|[^.\[\]]+", place or ""):
            key: Any = int(step) if isinstance(value, list) else step
            if step == "...":
                key = _find_entry(value, whole, error, attempt)
            path += f"[{key}]" if isinstance(key, int) else f".{key}"
            value = value[key]
    path = path.removeprefix(".")
    if missing := re.fullmatch(r"Object missing required field `(.*)`", message):
        return f"{path}.{missing[1]}: expected a value, found nothing".removeprefix(".")
    if unknown := re.fullmatch(
        r"Object contains unknown field `(.*)`", message, re.DOTALL
    ):
        message = (
            f"unknown key '{unknown[1]}'; expected "
            f"{_list_allowed(attempt.keywords['type'], path)}"
        )
    if message.startswith("Invalid enum value"):
        message = f"Expected {_list_allowed(attempt.keywords['type'], path)}"
    message = message.replace("Number out of range", "Expected `float`")
    if message.startswith("Expected"):
        expected = re.sub(
            r"`(\w+)",
            lambda word: _WORDS.get(word[1], word[1]),
            message.partition(", got")[0],
        )
        message = f"e{expected[1:].replace('`', '')}, found {value!r:.100}"
    if path:
        message = f"{path}: {message}"
    return message


def _find_entry(
    table: dict[str, Any], whole: Any, error: str, attempt: Callable[[Any], Any]
) -> str:
    """Find the entry of a table that has an error, and remove the others.

    msgspec leaves out its name.
    """
    for name, value in list(table.items()):
        table.clear()
        table[name] = value
        try:
            attempt(whole)
        except ValueError as entry_error:
            if str(entry_error) == error:
                return name
    raise LookupError


def _list_allowed(kind: Any, path: str) -> str:
    """List the keys, or else the values, that a type allows at a path in the data."""
    node: Any = msgspec.inspect.type_info(kind)
    for key in re.findall(r"[^.\[\]]+", path):
        for part in getattr(node, "types", (node,)):  # of a union; None has no keys
            fields = {
                field.encode_name: field.type for field in getattr(part, "fields", ())
            }
            node = fields.get(key) or getattr(
                part, "value_type", getattr(part, "item_type", node)
            )
    allowed: list[object] = []
    for part in getattr(node, "types", (node,)):
        part = getattr(part, "key_type", part)
        names = [field.encode_name for field in getattr(part, "fields", ())]
        allowed += (
            names
            or getattr(part, "values", None)
            or [member.value for member in getattr(part, "cls", ())]
        )
    *first, last = map(str, allowed or ["one of the documented values"])
    if not first:
        return last
    return f"{', '.join(first)} or {last}"
