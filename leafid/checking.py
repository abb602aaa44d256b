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

    @wraps(function)
    def call(*values: Any, **keywords: Any) -> Any:
        arguments = signature.bind(*values, **keywords).arguments
        for name, value in arguments.items():
            hint = hints[name]
            kinds = [hint]
            if get_origin(hint) in (Union, UnionType):
                kinds = [*get_args(hint)]
            if not any(_allows(kind, value) for kind in kinds):
                words = " or ".join(map(_describe, kinds))
                raise InputError(f"{name}: expected {words}, found {value!r:.100}")
        return function(*values, **keywords)

    return call  # type: ignore[return-value]  # wraps keeps the signature


def _allows(kind: Any, value: Any) -> bool:
    origin = get_origin(kind) or kind
    parts = get_args(kind)
    if origin is Annotated:
        return _allows(parts[0], value) and value >= parts[1]
    if origin is Literal:
        return isinstance(value, str) and value in parts
    return kind is Any or isinstance(value, _CLASSES.get(kind, origin))


def _describe(kind: Any) -> str:
    origin = get_origin(kind) or kind
    parts = get_args(kind)
    if origin is Annotated:
        return f"{_describe(parts[0])} from {parts[1]}"
    if origin is Literal:
        return " or ".join(map(repr, parts))
    return _WORDS.get(origin, origin.__name__)
