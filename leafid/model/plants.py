"""Identifies plants from several pictures of each, of any types."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from leafid.learning.plant_fusion import fuse_pictures
from leafid.model.answer import Answer, Decision, rank_species
from leafid.model.model import Model
from leafid.model.sessions import find_session
from leafid.pictures.picture import Picture

#: What the pictures of a plant or session have in common, by the name of the grouping.
GROUPINGS: dict[str, Callable[[Picture], object]] = {
    "plant": lambda picture: picture.group,
    "folder": lambda picture: picture.file.parent,
    "all": lambda picture: None,
    "session": find_session,
}
# The lowest probability, and complement of one, of which odds are computed.
_FLOOR = 1e-6


def fuse_answers(model: Model, answers: Sequence[Answer], reject_at: float) -> Answer:
    """Make one answer from those to the pictures of a plant, which become its `Answer.parts`.

    A picture counts in proportion to its probability to show a leaf, or not at all if its verdict is that it shows
    none. The plant's probability of a leaf is the highest of its pictures. The odds that its species is known are the
    geometric mean of those of the pictures: a mean doesn't get surer with the number of pictures, as the pictures of an
    unknown species resemble each other.
    """
    readable = [answer for answer in answers if not answer.problem]
    if not readable:
        return replace(answers[0], parts=tuple(answers))
    species = sorted({name for answer in readable for name, _ in answer.ranking})
    # A species that a type's classifier doesn't know is as likely there as any.
    rows = [dict.fromkeys(species, 1 / len(answer.ranking)) | dict(answer.ranking) for answer in readable]
    table = np.array([[row[name] for name in species] for row in rows])
    share = np.array([_weigh(answer) for answer in readable])
    exponents = [model.get_plant_exponent(answer.picture.type) for answer in readable if answer.picture.type]
    fused = fuse_pictures(table, [str(answer.type) for answer in readable], exponents, share)
    leaf, known, decision = _judge(model, readable, share, reject_at)
    return replace(
        readable[int(share.argmax())],
        # Probabilities that are rounded down twice may lose a digit.
        ranking=readable[0].ranking if len(readable) == 1 else rank_species(fused, species),
        confidence=max(answer.confidence for answer in readable),
        leaf=leaf,
        known=known,
        decision=decision,
        parts=tuple(answers),
    )


def _weigh(answer: Answer) -> float:
    if answer.verdict == "no-leaf":
        return 0.0
    return 1.0 if answer.leaf is None else answer.leaf


def _judge(
    model: Model, answers: Sequence[Answer], share: np.ndarray, reject_at: float
) -> tuple[float | None, float | None, Decision]:
    """Give `Answer.leaf`, `Answer.known` and `Answer.decision` of a plant."""
    judged = [
        (answer.leaf, answer.known, rejection.find_threshold(reject_at))
        for answer in answers
        if answer.picture.type and (rejection := model.identifier(answer.picture.type).rejection)
    ]
    if len(judged) < len(answers):
        return None, None, "species" if share.any() else "no-leaf"
    leaf, known, threshold = np.array(judged, np.float64).T
    weights = share if share.any() else np.ones(len(answers))
    odds = np.clip(known, _FLOOR, 1 - _FLOOR)
    fused = float(1 / (1 + np.exp(-np.average(np.log(odds / (1 - odds)), weights=weights))))
    best = float(leaf.max())
    decision: Decision = "species" if best * fused >= np.average(threshold, weights=weights) else "unknown"
    return round(best, 9), round(fused, 9), decision if share.any() else "no-leaf"
