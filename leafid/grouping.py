"""Groups and counts items."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def count_noun(number: int, noun: str) -> str:
    """Write a number with a noun whose plural ends in s.

    Examples
    --------
    >>> count_noun(1, "plant"), count_noun(0, "plant")
    ('1 plant', '0 plants')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by their key; groups, and the items of each, are in the order given.

    Examples
    --------
    >>> group_by([1, 2, 3], lambda number: number % 2)
    {1: [1, 3], 0: [2]}
    """
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
