"""Checks the arguments of Python functions by their annotations."""

import inspect
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
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

from msgspec import Meta

from leafid.errors import InputError
from leafid.schema import describe_type

F = TypeVar("F", bound=Callable[..., Any])
#: Whole numbers, from the lowest one that is allowed.
PositiveInt = Annotated[int, Meta(ge=1)]
Seed = Annotated[int, Meta(ge=0)]
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
            if not _allows(hints[name], value):
                raise InputError(
                    f"{name}: expected {describe_type(hints[name])}, found "
                    f"{value!r:.100}"
                )
        return function(*values, **keywords)

    return call  # type: ignore[return-value]  # wraps keeps the signature


def _allows(kind: Any, value: Any) -> bool:
    origin = get_origin(kind) or kind
    parts = get_args(kind)
    if origin in {Union, UnionType}:
        return any(_allows(part, value) for part in parts)
    if origin is Annotated:
        return _allows(parts[0], value) and value >= parts[1].ge
    if origin is Literal:
        return isinstance(value, str) and value in parts
    return kind is Any or isinstance(value, _CLASSES.get(kind, origin))
