"""Answers to the pictures that an author took in one session, which support one another."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from leafid.grouping import group_by
from leafid.learning.sessions import share_evidence
from leafid.model.answer import Answer, rank_species
from leafid.pictures.geography import get_coordinates
from leafid.pictures.picture import Picture

# Length of an ISO 8601 date with its day.
_DAY = len("2010-07-06")


def find_session(picture: Picture) -> Hashable:
    """Give what a picture shares with those of its session: author, day and coordinates.

    A picture without a day, or with neither author nor coordinates, is a session of its own.
    """
    day, coordinates = (picture.date or "")[:_DAY], get_coordinates(picture)
    if len(day) < _DAY or (picture.author is None and coordinates is None):
        return picture.file
    return picture.author, day, coordinates


def share_answers(answers: Sequence[Answer]) -> list[Answer]:
    """Let the answers to pictures support those to the others of their session, of whatever acquisition type.

    A picture counts in proportion to its probability to show a leaf of a known species. This probability, and the
    decision, don't change.
    """
    shared = list(answers)
    readable = [index for index, answer in enumerate(answers) if not answer.problem]
    for indices in group_by(readable, lambda index: find_session(answers[index].picture)).values():
        if len(indices) == 1:
            continue
        rankings = [dict(answers[index].ranking) for index in indices]
        species = sorted(set().union(*rankings))
        # A type whose classifier doesn't know a species never names it.
        table = np.array([[ranking.get(name, 0.0) for name in species] for ranking in rankings])
        weights = np.array([answers[index].known_leaf if answers[index].has_leaf else 0.0 for index in indices])
        for index, ranking, row in zip(indices, rankings, share_evidence(table, weights), strict=True):
            ranked = [(name, value) for name, value in rank_species(row, species) if name in ranking]
            shared[index] = replace(answers[index], ranking=ranked)
    return shared
