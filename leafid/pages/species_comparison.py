"""Compares a leaf's traits with those of species: what speaks for the one against the other, and similar pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.model.species import Species, Thumbnail, TraitRange
from leafid.pages.trait_words import TRAITS, to_unit
from leafid.pictures.picture import AcquisitionType

#: Number of differences that are listed, and of pictures that a range must stand for.
DIFFERENCES_SHOWN = 6
MIN_PICTURES = 3
# Distance between the medians of two species, in half widths of their ranges, above which they differ; and difference
# of a value's distances to both, in the same unit, above which it speaks for the nearer one.
_APART, _CLEAR = 0.5, 0.5


@dataclass(frozen=True)
class Difference:
    """A trait in which the first two species of an answer differ."""

    #: `title`, `unit`: as in `leafid.pages.trait_words.TRAITS`.
    title: str
    unit: str
    #: Of the picture.
    value: float
    first: TraitRange
    second: TraitRange
    #: The species that the value speaks for; "" for neither.
    favours: str


def compare_species(
    records: Mapping[str, Species], names: Sequence[str], values: Mapping[str, float]
) -> list[Difference]:
    """Compare a leaf's traits with the ranges of two species; list those in which the species differ, clearest first.

    With fewer than two `names`, the list is empty.
    """
    if len(names) < 2:
        return []
    found = []
    for trait, (title, unit, noticeable) in TRAITS.items():
        ranges = [records[name].traits.get(trait) for name in names]
        if trait not in values or any(own is None or own.n_pictures < MIN_PICTURES for own in ranges):
            continue
        first, second = (_convert(trait, own) for own in ranges if own)
        half_widths = [max((own.high - own.low) / 2, noticeable / 2) for own in (first, second)]
        distance = abs(first.median - second.median)
        separation = distance / sum(half_widths)
        if distance < noticeable or separation < _APART:
            continue
        value = to_unit(trait, values[trait])
        near = [abs(value - own.median) / half for own, half in zip((first, second), half_widths, strict=True)]
        favours = names[int(np.argmin(near))] if abs(near[0] - near[1]) > _CLEAR else ""
        found.append((separation, Difference(title, unit, value, first, second, favours)))
    return [own for _, own in sorted(found, key=lambda item: -item[0])[:DIFFERENCES_SHOWN]]


def _convert(trait: str, own: TraitRange) -> TraitRange:
    return TraitRange(to_unit(trait, own.low), to_unit(trait, own.median), to_unit(trait, own.high), own.n_pictures)


def sort_by_similarity(
    thumbnails: Sequence[Thumbnail], values: Mapping[str, float], type_: AcquisitionType
) -> list[Thumbnail]:
    """Sort training pictures: those of the same type first, then those whose traits are nearest to a leaf's."""

    def measure_distance(own: Thumbnail) -> float:
        shared = TRAITS.keys() & values.keys() & own.traits.keys()
        gaps = [abs(to_unit(name, values[name] - own.traits[name])) / TRAITS[name].noticeable for name in shared]
        return float(np.mean(gaps)) if gaps else np.inf

    return sorted(thumbnails, key=lambda own: (own.type != type_, measure_distance(own)))
