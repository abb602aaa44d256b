"""Shows the progress of long work in commands, from anywhere in them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
#: ``show(items, total, caption)`` passes the items on; the total may be unknown.
Show = Callable[[Iterable[Any], int | None, str], Iterator[Any]]


def _pass_through(items: Iterable[T], total: int | None, caption: str) -> Iterator[T]:
    return iter(items)


_show: ContextVar[Show] = ContextVar("show", default=_pass_through)


@contextmanager
def showing_progress(show: Show) -> Iterator[None]:
    """Show all progress by a function inside the ``with`` block."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def show_progress(items: Iterable[T], total: int | None, caption: str) -> Iterator[T]:
    """Pass items on, and show how many there were; Python functions show nothing."""
    return _show.get()(items, total, caption)
