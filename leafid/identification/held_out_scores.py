"""Scores of answers to pictures of plants that training did not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafid.classifiers.held_out import HeldOut
from leafid.collection.picture import Picture
from leafid.identification.crossvalidation import FoldAnswers
from leafid.metrics.plant_task import accuracy_score, average_score, per_plant_score, top_k_scores

#: The scores that `held_out_scores` gives, in the order of tables.
FIGURES = ("S", "top1", "top5", "per_plant")
#: Those that are the same whoever took the pictures.
FIGURES_WITHOUT_AUTHORS = FIGURES[1:]


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
        asked = one.seen_part()
        unseen += len(one.pictures) - len(asked.pictures)
        if asked.pictures:
            order = np.argsort(-asked.probabilities, axis=1, kind="stable")
            ranks.append((order == asked.right[:, None]).argmax(axis=1) + 1)
            chosen += asked.pictures
    counts = {"pictures": len(chosen), "unseen": unseen}
    if not chosen:
        return dict(counts)
    rank = np.concatenate(ranks)
    authors = [picture.author or "" for picture in chosen]
    plants = [picture.group for picture in chosen]
    first = top_k_scores(rank)
    return {
        "S": average_score(first, authors, plants),
        "top1": accuracy_score(first),
        "top5": accuracy_score(top_k_scores(rank, 5)),
        "per_plant": per_plant_score(first, authors, plants),
        **counts,
    }


def cross_validated_scores(answers: Sequence[FoldAnswers]) -> dict[str, Any]:
    """Score the folds of one acquisition type: by seed over all its folds together, and every fold by itself.

    Parameters
    ----------
    answers : sequence of FoldAnswers

    Returns
    -------
    dict
        ``repeats`` and ``folds``: lists of what `held_out_scores` gives, with ``seed``, and ``seed`` and ``fold``;
        by the name of each of `FIGURES` ``mean`` over the seeds and ``fold_sd``, the standard deviation over all folds.
        A figure is missing where no fold has a picture seen.
    """
    folds = [{"seed": one.seed, "fold": one.fold, **held_out_scores([one.held_out])} for one in answers]
    seeds = sorted({one.seed for one in answers})
    repeats = [
        {"seed": seed, **held_out_scores([one.held_out for one in answers if one.seed == seed])} for seed in seeds
    ]
    scores: dict[str, Any] = {"repeats": repeats, "folds": folds}
    for name in FIGURES:
        values = [one[name] for one in repeats if name in one]
        spread = [one[name] for one in folds if name in one]
        if values:
            scores[name] = {"mean": float(np.mean(values)), "fold_sd": float(np.std(spread))}
    return scores
