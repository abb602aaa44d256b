"""From a ranking of species and the place of the leaf to what a line of subtask 1 says."""

from __future__ import annotations

from collections.abc import Sequence

from leafid.tasks.annotation2016.results import MAX_CONCEPTS, Concept, ScoredBox
from leafid.tasks.interpretation.box import Box


def localised(ranking: Sequence[tuple[str, float]], rows_cols: tuple[int, int, int, int]) -> tuple[Concept, ...]:
    """Say of one leaf which species it may be, each at the same place.

    Parameters
    ----------
    ranking : sequence of (str, float)
        Species and probabilities, the likeliest first; those after the hundredth, the most that the format holds, are
        left out.
    rows_cols : tuple of int
        ``(row0, row1, col0, col1)`` of the leaf, ends exclusive, in pixels.

    Returns
    -------
    tuple of Concept
        Named as the format has it, with underscores for blanks.

    Examples
    --------
    >>> [leaf] = localised([("Acer campestre", 0.75)], (10, 40, 20, 60))
    >>> leaf.name, leaf.boxes[0].box
    ('Acer_campestre', Box(left=20, top=10, width=40, height=30))
    """
    row0, row1, col0, col1 = rows_cols
    box = Box(col0, row0, col1 - col0, row1 - row0)
    return tuple(
        Concept("_".join(species.split()), (ScoredBox(box, probability),))
        for species, probability in ranking[:MAX_CONCEPTS]
    )
