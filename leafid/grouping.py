"""Groups and counts items."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def count_noun(number: int, noun: str) -> str:
    """Write a number with a noun whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by their key.

    Groups, and the items of each, keep the order of `items`.
    """
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
