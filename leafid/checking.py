"""Checks the arguments of Python functions by their annotations."""

import inspect
import os
from collections.abc import Callable, Iterable
from functools import wraps
from numbers import Integral, Real
from types import NoneType, UnionType
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

from leafid.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])
#: Whole numbers, from the lowest one that is allowed.
PositiveInt = Annotated[int, 1]
Seed = Annotated[int, 0]
_WORDS = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    os.PathLike: "a path",
    str: "text",
    Iterable: "several values",
    NoneType: "None",
}
# Numbers of NumPy are no instances of the classes of Python.
_CLASSES = {float: Real, int: Integral}


def check_arguments(function: F) -> F:
    """Make a function raise an `InputError` for values that its annotations exclude.

    Checked are classes, unions, `typing.Literal` of text, and the lowest number, which
    stands in `typing.Annotated`; of other generic types the class alone.
    """
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    variable = inspect.Parameter.VAR_POSITIONAL

    @wraps(function)
    def call(*values: Any, **keywords: Any) -> Any:
        arguments = signature.bind(*values, **keywords).arguments
        for name, value in arguments.items():
            is_checked = signature.parameters[name].kind is not variable
            if is_checked and not _allows(hints[name], value):
                words = " or ".join(dict.fromkeys(_describe(hints[name])))
                raise InputError(f"{name}: expected {words}, found {value!r:.100}")
        return function(*values, **keywords)

    return call  # type: ignore[return-value]


def _allows(hint: Any, value: Any) -> bool:
    origin = get_origin(hint)
    parts = get_args(hint)
    if hint is Any:
        return True
    if origin is Annotated:
        kind, lowest = parts
        return _allows(kind, value) and value >= lowest
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (Union, UnionType):
        return any(_allows(part, value) for part in parts)
    return isinstance(value, _CLASSES.get(hint, origin or hint))


def _describe(hint: Any) -> list[str]:
    """List the words for what an annotation allows."""
    origin = get_origin(hint)
    parts = get_args(hint)
    if origin is Annotated:
        [words] = _describe(parts[0])
        return [f"{words} from {parts[1]}"]
    if origin is Literal:
        return [*map(repr, parts)]
    if origin in (Union, UnionType):
        return [words for part in parts for words in _describe(part)]
    class_ = origin or hint
    return [_WORDS.get(class_, class_.__name__)]
