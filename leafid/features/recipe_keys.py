"""Recipe keys: dataclass fields that carry their validation, their default and the text that documents them."""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from leafid.errors import LeafidError
from leafid.pictures.picture import AcquisitionType


@dataclass(frozen=True, slots=True)
class Key:
    """What a recipe key takes."""

    #: For docs/formats.md, in Markdown.
    help: str
    #: Checks and converts a value from TOML; raises `LeafidError` with what was expected and what was found.
    parse: Callable[[Any], Any]
    #: In the recipe, where the field has another name.
    name: str = ""
    #: How the default is documented, where it is not the field's own.
    default: str = ""


def number(default: float, low: float, high: float | None, help: str, *, zero_allowed: bool = False) -> Any:
    """Declare a number; of the default's type, between two bounds."""
    kind = type(default)
    noun = "a whole number" if kind is int else "a number"
    bounds = f"of {low:g} or more" if high is None else f"from {low:g} to {_format_number(high)}"
    expected = f"0, or {noun} {bounds}" if zero_allowed else f"{noun} {bounds}"

    def parse(value: Any) -> Any:
        # TOML writes 1 for 1.0. To Python, but not to the author of a recipe, true is a number.
        is_number = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        if not is_number or not ((low <= value and (high is None or value <= high)) or (zero_allowed and value == 0)):
            raise LeafidError(f"expected {expected}, found {value!r}")
        return kind(value)

    return _declare(Key(help, parse), default)


def choice(choices: Sequence[str], help: str, default: Any = MISSING, *, name: str = "") -> Any:
    """Declare one of several words."""

    def parse(value: Any) -> Any:
        if value not in choices:
            raise LeafidError(f"expected one of {', '.join(choices)}, found {value!r}")
        return value

    return _declare(Key(help, parse, name), default)


def flag(default: bool, help: str) -> Any:
    """Declare true or false."""
    return _declare(Key(help, lambda value: _parse_instance(value, bool, "true or false")), default)


def text(help: str) -> Any:
    """Declare a text, empty by default."""
    return _declare(Key(help, lambda value: _parse_instance(value, str, "a text"), default="empty"), "")


def acquisition_types(help: str, documented_default: str, default: Any = MISSING) -> Any:
    """Declare a list of acquisition types."""
    return _declare(Key(help, _parse_types, default=documented_default), default)


def families(help: str) -> Any:
    """Declare a list of descriptor families."""
    return _declare(Key(help, _parse_families), MISSING)


def list_keys(kind: type) -> dict[str, Field]:
    """List the fields of a dataclass that are recipe keys, by the key's name."""
    found = [entry for entry in fields(kind) if "key" in entry.metadata]
    return {entry.metadata["key"].name or entry.name: entry for entry in found}


def _declare(key: Key, default: Any) -> Any:
    return field(metadata={"key": key}, **({} if default is MISSING else {"default": default}))


def _format_number(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}".replace("e+", "e")


def _parse_instance(value: Any, kind: type, expected: str) -> Any:
    if not isinstance(value, kind):
        raise LeafidError(f"expected {expected}, found {value!r}")
    return value


def _parse_types(value: Any) -> tuple[AcquisitionType, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
        raise LeafidError(f"expected a list of acquisition types, found {value!r}")
    return tuple(AcquisitionType.parse(word) for word in value)


def _parse_families(value: Any) -> tuple[str, ...]:
    from leafid.descriptors.registry import find_families

    if not isinstance(value, list | tuple) or not value:
        raise LeafidError(f"expected a list of descriptor families, found {value!r}")
    find_families([str(word) for word in value])
    return tuple(value)
