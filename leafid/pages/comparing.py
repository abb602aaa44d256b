"""Compares a leaf with two species that look alike, by the ranges of their traits."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from leafid.model.answer import Answer
from leafid.model.species import Species, TraitRange
from leafid.pages.trait_statements import TraitTitle, read_titles

# Largest number of differences that are listed, and the number where none is clear.
_DIFFERENCES_SHOWN = 6
_UNCLEAR_SHOWN = 3
# Smallest number of pictures that a range stands for.
_MIN_PICTURES = 3
# Distance between the medians of two species, in half widths of their ranges, above
# which they differ.
_APART = 0.5
# Smallest probability of a second name that a leaf is compared with.
_CLOSE = 0.02


def choose_rival(answer: Answer, species: Mapping[str, Species]) -> list[str]:
    """Choose the name to compare the first one with.

    Parameters
    ----------
    answer : Answer
    species : mapping of str to Species

    Returns
    -------
    list of str
        The second name, unless it is excluded. It is then the species that held-out
        pictures of the first one were most often taken for, if there is one.
    """
    (first, _), (second, probability) = answer.ranking[:2]
    if answer.calibrate(probability) >= _CLOSE:
        return [second]
    record = answer.type and species[first].types.get(answer.type)
    if not record or not record.held_out:
        return []
    return [name for name in record.held_out.confused_with if name in species][:1]


def compare_species(
    records: Mapping[str, Species], names: Sequence[str], values: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Compare a leaf with two species, by the traits in which they differ.

    Parameters
    ----------
    records : mapping of str to Species
    names : sequence of str
        Of the two species; nothing is compared with fewer.
    values : mapping of str to float
        The traits of the leaf, as of `measure_reliable_traits`.

    Returns
    -------
    list of dict
        The clearest difference first; where nothing is clear, the clearest traits. Each
        has `title` and `unit` as in ``trait_titles.csv``, `value`, `ranges` of both
        species, and `favours`: a species if the value lies in its range and not near
        the other range, "against both" if it lies near none, or else "neither".
    """
    differences = []
    for trait, title in read_titles().items():
        ranges_of_all = [records[name].traits.get(trait) for name in names]
        ranges = [range_ for range_ in ranges_of_all if range_ is not None]
        if trait not in values or len(ranges) < 2:
            continue
        if min(range_.n_pictures for range_ in ranges) >= _MIN_PICTURES:
            differences.append(_compare_trait(title, values[trait], names, ranges))
    differences.sort(key=itemgetter(0, 1), reverse=True)
    n_clear = sum(is_clear for is_clear, _, _ in differences)
    n_shown = min(n_clear, _DIFFERENCES_SHOWN) or _UNCLEAR_SHOWN
    return [difference for _, _, difference in differences[:n_shown]]


def _compare_trait(
    title: TraitTitle,
    value: float,
    names: Sequence[str],
    ranges: Sequence[TraitRange],
) -> tuple[bool, float, dict[str, Any]]:
    """Compare a leaf with two species by a trait.

    Return whether the difference is clear, how far the species are apart, and the
    difference.
    """
    value = title.to_unit(value)
    ranges_in_unit = []
    for range_ in ranges:
        numbers = (range_.low, range_.median, range_.high)
        low, median, high = map(title.to_unit, numbers)
        ranges_in_unit.append(TraitRange(low, median, high, range_.n_pictures))
    # A value that reads as an end of a range is near it.
    margin = title.noticeable / 2
    is_near = [r.low - margin <= value <= r.high + margin for r in ranges_in_unit]
    is_inside = [r.low <= value <= r.high for r in ranges_in_unit]
    favours = "against both"
    if any(is_near):
        favours = "neither"
    if sum(is_near) == 1 and is_inside == is_near:
        favours = names[is_inside.index(True)]
    distance = abs(ranges_in_unit[0].median - ranges_in_unit[1].median)
    separation = distance / sum(
        max((r.high - r.low) / 2, margin) for r in ranges_in_unit
    )
    differ = distance >= title.noticeable and separation >= _APART
    difference = {
        "title": title.title,
        "unit": title.unit,
        "value": value,
        "ranges": tuple(ranges_in_unit),
        "favours": favours,
    }
    return favours != "neither" or differ, separation, difference
