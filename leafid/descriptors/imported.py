"""Families and encoders of other packages, named as ``package.module:name``."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from leafid.descriptors.arrays import Plane, Singles
from leafid.descriptors.encoding import ENCODERS, Encoder
from leafid.descriptors.local.grid import LocalFeatures
from leafid.errors import LeafidError, UsageError
from leafid.permissions import check_allowed
from leafid.segmentation.result import Mask

_NAME = re.compile(r"[^\W\d][\w.]*:\w+")


def is_code(name: str) -> bool:
    """Check whether a name has the form ``package.module:name``."""
    return _NAME.fullmatch(name) is not None


def check_code_allowed(names: Iterable[str]) -> None:
    """Raise a `LeafidError` at the first name of code that the user doesn't allow.

    Importing a module runs it.
    """
    for name in filter(is_code, names):
        check_allowed(name, f"{name:.100} is code that isn't leafid's and would be run")


@cache
def import_measure(
    name: str,
) -> tuple[Callable[..., Singles], tuple[str, ...]]:
    """Import a descriptor family, and try it on a small drawn leaf.

    Return a function that measures leaves, and the names of its values. The
    ``function(image, blade)`` gets the box of a leaf, uint8 (H, W, 3) in BGR order, and
    bool (H, W), not empty, and returns finite numbers by their names, which are the
    same for all leaves. A `UsageError` names the first fault.
    """
    rows, cols = np.mgrid[-50:50, -30:30]
    blade = (rows / 40) ** 2 + (cols / 20) ** 2 <= 1
    image = np.where(blade[..., None], (40, 120, 60), 255).astype(np.uint8)
    try:
        function = _import(name)
        if not inspect.isfunction(function):
            raise TypeError("it is not a function written in Python")
        names = tuple(function(image, blade))
        measure = partial(_measure_by, name, function, names)
        measure(image, blade)
    except LeafidError as error:
        raise UsageError(str(error)) from error
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"descriptor family {name}: expected package.module:function that can be "
            "imported and returns numbers by their names, found "
            f"{type(error).__name__}: {error}"
        ) from error
    return measure, names


@cache
def find_encoder(name: str) -> type[Encoder]:
    """Find an encoder, or import one and try it on random features.

    A `UsageError` names the first fault.
    """
    if name in ENCODERS:
        return ENCODERS[name]
    expected = (
        f"expected {' or '.join(ENCODERS)}, or package.module:Class of an Encoder that "
        "can be imported"
    )
    if not is_code(name):
        raise UsageError(f"{expected}, found {name!r:.100}")
    random = np.random.default_rng(0)
    features = LocalFeatures(
        *(random.random(shape, np.float32) for shape in ((99, 8), (99, 2), 99))
    )
    try:
        class_ = _import(name)
        if not (isinstance(class_, type) and issubclass(class_, Encoder)):
            raise TypeError("it is not a class that derives from Encoder")
        state = class_(4, 3).fit(features).get_state()
        encoder = class_(4, 3).set_state(state)
        shapes = {key: array.shape for key, array in state.items()}
        if shapes != encoder.list_shapes(8):
            raise ValueError(f"tables of the shapes {shapes}")
        encoder.transform(features)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{name}: {expected}, found {type(error).__name__}: {error}"
        ) from error
    return class_


@cache
def hash_module(name: str) -> str:
    """Hash the source of the module of ``package.module:name``, as it was imported."""
    source = inspect.getsource(import_module(name.partition(":")[0]))
    return hashlib.sha256(source.encode()).hexdigest()


def _import(name: str) -> Any:
    module, _, attribute = name.partition(":")
    hash_module(name)  # of the source that is imported now
    return getattr(import_module(module), attribute)


def _measure_by(
    name: str,
    function: Callable[..., Any],
    names: tuple[str, ...],
    image: Plane,
    blade: Mask,
) -> Singles:
    """Measure a leaf by an imported function, whose failure is a `LeafidError`."""
    try:
        items = function(image, blade).items()
        measured = {str(key): float(value) for key, value in items}
    except Exception as error:
        raise LeafidError(
            f"descriptor family {name}: {type(error).__name__}: {error}"
        ) from error
    values = np.array(list(measured.values()), np.float32)
    if tuple(measured) != names or not names or not np.isfinite(values).all():
        called = ", ".join(map(str, names)) or "somehow"
        raise LeafidError(
            f"descriptor family {name}: expected finite numbers called {called}, "
            f"found {measured!s:.200}"
        )
    return values
