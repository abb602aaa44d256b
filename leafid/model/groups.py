"""Groups of pictures: of a plant, which get one answer; of a session.

The answers to the pictures of a session support one another: few of the species are
photographed in it.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from leafid.grouping import group_by
from leafid.learning.logistic import apply_logistic, take_logits
from leafid.learning.plant_fusion import fuse_pictures
from leafid.learning.sessions import pool_evidence
from leafid.model.answer import Answer
from leafid.model.held_out import HeldOutAnswers
from leafid.model.identifier import TypeModel
from leafid.model.judgement import Decision, rank_species
from leafid.pictures.picture import AcquisitionType, Picture

# Length of an ISO 8601 date with its day.
_DAY = len("2010-07-06")


def find_session(picture: Picture) -> Hashable:
    """Give what the pictures of a session share: author, day and coordinates.

    A picture without a day, or with neither author nor coordinates, is a session.
    """
    day = (picture.date or "")[:_DAY]
    coordinates = picture.coordinates
    if len(day) < _DAY or (picture.author is None and coordinates is None):
        return picture.file
    return picture.author, day, coordinates


#: What the pictures of a plant or session have in common, by the name of the grouping.
GROUPINGS: dict[str, Callable[[Picture], object]] = {
    "plant": lambda picture: picture.group,
    "folder": lambda picture: picture.file.parent,
    "all": lambda picture: None,
    "session": find_session,
}
#: Number of pictures that are identified together.
BATCH_SIZE = 256
# The lowest probability, and complement of one, of which odds are computed.
_ODDS_FLOOR = 1e-6


def split_into_batches(
    pictures: Sequence[Picture], grouping: str | None
) -> Iterator[list[list[Picture]]]:
    """Split pictures into batches of groups, of `GROUPINGS` or single pictures.

    A batch of several groups has `BATCH_SIZE` pictures at most.
    """
    groups = [[picture] for picture in pictures]
    if grouping:
        groups = list(group_by(pictures, GROUPINGS[grouping]).values())
    batch: list[list[Picture]] = []
    for group in groups:
        if batch and sum(map(len, batch)) + len(group) > BATCH_SIZE:
            yield batch
            batch = []
        batch.append(group)
    if batch:
        yield batch


def fuse_answers(
    types: Mapping[AcquisitionType, TypeModel],
    answers: Sequence[Answer],
    reject_at: float,
) -> Answer:
    """Make one answer from the answers to the pictures of a plant.

    A picture counts in proportion to its probability to show a leaf, or not at all if
    its verdict is that it shows none or can't be judged. The plant's probability of a
    leaf is the highest of its pictures. The odds that its species is known are the
    geometric mean of the odds of its pictures: a mean doesn't get surer with the number
    of pictures, as the pictures of an unknown species resemble each other.

    Parameters
    ----------
    types : mapping of AcquisitionType to TypeModel
    answers : sequence of Answer
        They become the `Answer.parts` of the result.
    reject_at : float
        The share, from 0 to 1, of the leaves of known species that may be rejected.

    Returns
    -------
    Answer
    """
    readable = [answer for answer in answers if not answer.problem]
    if not readable:
        return replace(answers[0], parts=tuple(answers))
    species = sorted({name for answer in readable for name, _ in answer.ranking})
    # A species that a type's classifier doesn't know is as likely there as any.
    rows = [
        dict.fromkeys(species, 1 / len(answer.ranking)) | dict(answer.ranking)
        for answer in readable
    ]
    table = np.array([[row[name] for name in species] for row in rows])
    share = np.array(
        [1.0 if answer.p_leaf is None else answer.p_leaf for answer in readable]
    )
    share[[answer.verdict in {"no-leaf", "unclear"} for answer in readable]] = 0.0
    models = [types[answer.type] for answer in readable if answer.type]
    fused = fuse_pictures(
        table,
        [str(a.type) for a in readable],
        [model.plant_exponent for model in models],
        share,
    )
    rejections = [model.identifier.rejection for model in models]
    thresholds = [
        rejection.find_threshold(reject_at) for rejection in rejections if rejection
    ]
    p_leaf = p_known = None
    decision: Decision = "species"
    if len(thresholds) == len(readable):
        p_leaf, p_known, decision = _judge(readable, thresholds, share)
    # Faults of pictures are no reason for doubt where another picture shows a leaf.
    reasons = []
    if not share.any():
        verdicts = {answer.verdict for answer in readable}
        decision = "unclear" if "unclear" in verdicts else "no-leaf"
        reasons = [a.reasons for a in readable if a.verdict == decision]
    # Probabilities that are rounded down twice may lose a digit.
    ranking = readable[0].ranking
    if len(readable) > 1:
        ranking = rank_species(fused, species)
    return replace(
        readable[int(share.argmax())],
        ranking=ranking,
        confidence=max(answer.confidence for answer in readable),
        p_leaf=p_leaf,
        p_known=p_known,
        decision=decision,
        reasons=tuple(dict.fromkeys(chain(*reasons))),
        parts=tuple(answers),
    )


def _judge(
    answers: Sequence[Answer], thresholds: Sequence[float], share: np.ndarray
) -> tuple[float, float, Decision]:
    """Give `p_leaf`, `p_known` and `decision` of the `Answer` to a plant.

    A picture shows a leaf of it.
    """
    weights = share
    if not share.any():
        weights = np.ones(len(answers))
    each = np.array([answer.p_known for answer in answers], float)
    mean = np.average(take_logits(each, _ODDS_FLOOR), weights=weights)
    p_known = float(apply_logistic(mean))
    p_leaf = max(float(answer.p_leaf or 0) for answer in answers)
    is_known = p_leaf * p_known >= np.average(thresholds, weights=weights)
    return round(p_leaf, 9), round(p_known, 9), "species" if is_known else "unknown"


def pool_answers(answers: Sequence[Answer]) -> list[Answer]:
    """Let the answers to the pictures of a session support one another.

    The pictures may be of several types. A picture counts in proportion to its
    probability to show a leaf of a known species, or not at all if it can't be judged.
    This probability, and the decision, don't change.
    """
    readable = [index for index, answer in enumerate(answers) if not answer.problem]
    if len(readable) < 2:
        return list(answers)
    weights = []
    for index in readable:
        is_judged = answers[index].has_leaf and answers[index].verdict != "unclear"
        weights.append(answers[index].p_known_leaf * is_judged)
    rankings = [dict(answers[index].ranking) for index in readable]
    pooled = list(answers)
    for index, row in zip(readable, _pool_rankings(rankings, weights), strict=True):
        ranking = rank_species(np.array([*row.values()]), [*row])
        pooled[index] = replace(answers[index], ranking=ranking)
    return pooled


def pool_held_out(answers: Sequence[HeldOutAnswers]) -> list[HeldOutAnswers]:
    """Let the held-out answers to the pictures of a session support one another.

    The pictures may be of several folds and types.
    """
    pooled = [replace(fold, probabilities=fold.probabilities + 0.0) for fold in answers]
    rows = [(fold, row) for fold in pooled for row in range(len(fold.pictures))]
    sessions = group_by(rows, lambda row: find_session(row[0].pictures[row[1]]))
    for session in sessions.values():
        rankings = [
            dict(zip(fold.species, fold.probabilities[row], strict=True))
            for fold, row in session
        ]
        rankings = _pool_rankings(rankings, [1.0] * len(session))
        for (fold, row), ranking in zip(session, rankings, strict=True):
            fold.probabilities[row] = list(ranking.values())
    return pooled


def _pool_rankings(
    rankings: Sequence[dict[str, float]], weights: Sequence[float]
) -> list[dict[str, float]]:
    """Apply `pool_evidence` to each picture's probabilities of species, by name.

    The result is in alphabetical order, as the columns of held-out answers are.
    """
    species = sorted(set().union(*rankings))
    # A type whose classifier doesn't know a species never names it.
    table = [[ranking.get(name, 0.0) for name in species] for ranking in rankings]
    rows = pool_evidence(np.array(table), np.array(weights)).tolist()
    pooled = []
    for ranking, row in zip(rankings, rows, strict=True):
        by_species = dict(zip(species, row, strict=True))
        pooled.append({name: by_species[name] for name in sorted(ranking)})
    return pooled
