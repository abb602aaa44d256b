"""Identifies plants from several pictures of each, of any types."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from leafid.learning.plant_fusion import fuse_pictures
from leafid.model.answer import Answer, Decision, rank_species
from leafid.model.identifier import TypeModel
from leafid.model.sessions import find_session
from leafid.pictures.picture import AcquisitionType, Picture

#: What the pictures of a plant or session have in common, by the name of the grouping.
GROUPINGS: dict[str, Callable[[Picture], object]] = {
    "plant": lambda picture: picture.group,
    "folder": lambda picture: picture.file.parent,
    "all": lambda picture: None,
    "session": find_session,
}
# The lowest probability, and complement of one, of which odds are computed.
_ODDS_FLOOR = 1e-6


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
    # Where a picture shows a leaf, the plant is not doubted for what others lack.
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
    odds = np.clip(
        np.array([answer.p_known for answer in answers], float),
        _ODDS_FLOOR,
        1 - _ODDS_FLOOR,
    )
    p_known = float(
        1 / (1 + np.exp(-np.average(np.log(odds / (1 - odds)), weights=weights)))
    )
    p_leaf = max(float(answer.p_leaf or 0) for answer in answers)
    is_known = p_leaf * p_known >= np.average(thresholds, weights=weights)
    return round(p_leaf, 9), round(p_known, 9), "species" if is_known else "unknown"
