"""Judged runs from a few columns."""

import numpy as np

from leafid.metrics.averages import encode
from leafid.scoring.judging import JudgedRun


def make_judged_run(rank, plants=None, authors=None, **columns):
    """Make a run that answers each picture; where columns are missing, pictures have no plant or species in common."""
    rank = np.asarray(rank)
    numbers, zeros = np.arange(len(rank)), np.zeros(len(rank))
    plant = numbers if plants is None else encode(plants)
    defaults = {
        "name": "run",
        "rank": rank,
        "size": np.ones(len(rank), int),
        "label": numbers,
        "first": np.where(rank == 1, columns.get("label", numbers), -1),
        **dict.fromkeys(("confidence", "probability", "squares"), zeros),
        **dict.fromkeys(("genus_correct", "family_correct"), rank == 1),
        "is_known": np.ones(len(rank), bool),
        "author": numbers * 0 if authors is None else encode(authors),
        "official_plant": plant,
        "plant": plant,
    }
    return JudgedRun(**defaults | columns)
