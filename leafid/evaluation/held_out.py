"""Scores of answers to pictures of plants that training did not see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leafid.collection.picture import Picture
from leafid.evaluation.plant_task import accuracy, average_score, plant_accuracy, success
from leafid.learning.identifier import HeldOut


def held_out_scores(answers: Sequence[HeldOut]) -> dict[str, float]:
    """Score what was said of held-out plants.

    Parameters
    ----------
    answers : sequence of HeldOut
        Of folds that share no picture; scored together.

    Returns
    -------
    dict
        ``S``, ``top1``, ``top5``, ``per_plant`` (from 0 to 1), ``pictures`` (how many these are of) and ``unseen`` (how
        many were left out). Without any picture seen only the two numbers.
    """
    ranks: list[np.ndarray] = []
    chosen: list[Picture] = []
    unseen = 0
    for one in answers:
        asked = [picture for picture, was_seen in zip(one.pictures, one.seen, strict=True) if was_seen]
        unseen += len(one.pictures) - len(asked)
        if asked:
            columns = {name: column for column, name in enumerate(one.species)}
            right = np.array([columns[picture.species or ""] for picture in asked])
            order = np.argsort(-one.probabilities[np.asarray(one.seen)], axis=1, kind="stable")
            ranks.append((order == right[:, None]).argmax(axis=1) + 1)
            chosen += asked
    counts = {"pictures": len(chosen), "unseen": unseen}
    if not chosen:
        return dict(counts)
    rank = np.concatenate(ranks)
    authors = [picture.author or "" for picture in chosen]
    plants = [picture.group for picture in chosen]
    first = success(rank)
    return {
        "S": average_score(first, authors, plants),
        "top1": accuracy(first),
        "top5": accuracy(success(rank, 5)),
        "per_plant": plant_accuracy(first, authors, plants),
        **counts,
    }
