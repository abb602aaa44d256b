from pathlib import Path

import numpy as np
import pytest

from leafid.model.held_out import HELD_OUT_METRICS, HeldOutAnswers, held_out_scores
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.metrics import find_metrics

SPECIES = ("Acer campestre", "Olea europaea", "Salix alba")


def answers(*rows, species=SPECIES):
    """Rows of (right species, plant, author, probabilities, seen)."""
    pictures = [
        Picture(Path(f"{n}.jpg"), taxon=Taxon(name), plant=plant, author=author)
        for n, (name, plant, author, _, _) in enumerate(rows)
    ]
    return HeldOutAnswers(
        pictures,
        np.array([row[3] for row in rows]).reshape(-1, len(species)),
        species,
        np.array([row[4] for row in rows], bool),
    )


def test_by_hand():
    """Author A: plant 1 has 1 of 2 pictures right, plant 2 has 1 of 1.

    Author B: plant 3 has 0 of 1.
    """
    scores = held_out_scores(
        [
            answers(
                (SPECIES[0], "1", "A", [0.7, 0.2, 0.1], True),
                (SPECIES[0], "1", "A", [0.2, 0.7, 0.1], True),
                (SPECIES[1], "2", "A", [0.1, 0.8, 0.1], True),
                (SPECIES[2], "3", "B", [0.5, 0.3, 0.2], True),
                (SPECIES[2], "4", "B", [0.5, 0.3, 0.2], False),
            )
        ]
    )
    assert scores["pictures"] == 4
    assert scores["unseen"] == 1
    assert scores["top-1"] == 2 / 4
    assert scores["top-5"] == 1
    assert scores["S"] == pytest.approx(((0.5 + 1) / 2 + 0) / 2)
    assert scores["per-plant"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert [*scores] == [*HELD_OUT_METRICS, "pictures", "unseen"]
    # `evaluate` calls them the same.
    assert len(find_metrics(HELD_OUT_METRICS)) == len(HELD_OUT_METRICS)
