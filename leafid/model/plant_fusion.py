"""Identifies plants from several pictures of each, of any types.

Logarithms of probabilities are summed. As pictures of one plant resemble each other, n of them are worth less than n
independent ones: each counts n ** -exponent. An exponent of 0 stands for independent pictures, 1 for pictures of which
further ones tell nothing new. It is learned for each acquisition type; types are taken for independent of each other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from leafid.grouping import group_by
from leafid.learning.rejection import acceptance_score
from leafid.model.answer import Answer, Decision, rank_species
from leafid.model.held_out import HeldOutAnswers
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
#: The exponent of a model that has learned none.
DEFAULT_EXPONENT = 0.7
#: Numbers of pictures of a plant that the exponent is learned from, besides all of them.
SIZES = (2, 3, 5)
_EXPONENTS = np.linspace(0, 1, 21)
# The lowest probability of a species: a single picture can't rule it out; and the lowest one, and complement of one, of
# which odds are computed.
_FLOOR, _ODDS_FLOOR = 1e-9, 1e-6


def fuse_answers(
    types: Mapping[AcquisitionType, TypeModel],
    answers: Sequence[Answer],
    reject_at: float,
) -> Answer:
    """Make one answer from those to the pictures of a plant, which become its `Answer.parts`.

    A picture counts in proportion to its probability to show a leaf, or not at all if its verdict is that it shows
    none or can't be judged. The plant's probability of a leaf is the highest of its pictures. The odds that its species
    is known are the geometric mean of those of the pictures: a mean doesn't get surer with the number of pictures, as
    the pictures of an unknown species resemble each other.
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
    if not share.any():
        decision = (
            "unclear"
            if any(answer.verdict == "unclear" for answer in readable)
            else "no-leaf"
        )
    # Where a picture shows a leaf, the plant is not doubted for what others lack.
    alike = [] if share.any() else [a for a in readable if a.verdict == decision]
    reasons = [answer.reasons for answer in alike]
    return replace(
        readable[int(share.argmax())],
        # Probabilities that are rounded down twice may lose a digit.
        ranking=readable[0].ranking
        if len(readable) == 1
        else rank_species(fused, species),
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
    """Give `Answer.p_leaf`, `Answer.p_known` and `Answer.decision` of a plant that a picture shows a leaf of."""
    weights = share if share.any() else np.ones(len(answers))
    odds = np.clip(
        np.array([answer.p_known for answer in answers], float),
        _ODDS_FLOOR,
        1 - _ODDS_FLOOR,
    )
    p_known = float(
        1 / (1 + np.exp(-np.average(np.log(odds / (1 - odds)), weights=weights)))
    )
    p_leaf = max(float(answer.p_leaf or 0) for answer in answers)
    is_known = acceptance_score(np.array(p_leaf), np.array(p_known)) >= np.average(
        thresholds, weights=weights
    )
    return round(p_leaf, 9), round(p_known, 9), "species" if is_known else "unknown"


def fuse_pictures(
    probabilities: np.ndarray,
    types: Sequence[str],
    exponents: ArrayLike,
    p_leaf: ArrayLike | None = None,
) -> np.ndarray:
    """Fuse the probabilities of pictures of one plant, float (n, n_species); float64 (n_species,), which sum to 1.

    Each picture has an acquisition type, in `types`, and the exponent of that, float (n,). It counts in proportion to
    its probability to show a leaf, `p_leaf`, float (n,), by default like the others. The probabilities of a single
    picture stay the same.

    Examples
    --------
    >>> fuse_pictures(np.array([[0.8, 0.2], [0.8, 0.2]]), ["scan", "scan"], [1, 1])
    array([0.8, 0.2])
    >>> fuse_pictures(np.array([[0.8, 0.2], [0.8, 0.2]]), ["scan", "photo"], [1, 1]).round(3)
    array([0.941, 0.059])
    """
    share = (
        np.ones(len(probabilities))
        if p_leaf is None
        else np.asarray(p_leaf, np.float64)
    )
    share = share / share.max() if share.max() > 0 else np.ones(len(share))
    _, kind = np.unique(types, return_inverse=True)
    # Pictures without a leaf are not counted as evidence that could repeat that of others.
    counts = np.maximum(np.bincount(kind, share)[kind], 1)
    return _normalise(
        (share * counts ** -np.asarray(exponents, np.float64))
        @ _take_logarithm(probabilities)
    )


def fit_plant_exponent(answers: HeldOutAnswers, seed: int = 0) -> float:
    """Fit the exponent of a type that gives the correct species of held-out plants the highest likelihood.

    Each plant counts the same, with samples of `SIZES` of its pictures and all of them. `DEFAULT_EXPONENT` where no
    plant of a known species has two pictures.
    """
    known = answers.select_known()
    logarithms, labels = _take_logarithm(known.probabilities), known.labels
    random = np.random.default_rng(seed)
    samples = []
    plants = group_by(range(len(labels)), lambda index: known.pictures[index].group)
    for _, indices in sorted(plants.items()):
        order = random.permutation(indices)
        plant_sizes = [size for size in SIZES if size < len(order)] + [len(order)] * (
            len(order) > 1
        )
        for size in plant_sizes:
            samples.append(
                (
                    logarithms[order[:size]].sum(axis=0),
                    float(size),
                    labels[order[0]],
                    1 / len(plant_sizes),
                )
            )
    if not samples:
        return DEFAULT_EXPONENT
    sums, sizes, species, weights = map(np.array, zip(*samples, strict=True))
    losses = []
    for exponent in _EXPONENTS:
        posterior = _normalise(sums * (sizes**-exponent)[:, None])
        losses.append(
            -(
                weights
                * np.log(np.maximum(posterior[np.arange(len(sums)), species], 1e-300))
            ).sum()
        )
    return float(_EXPONENTS[int(np.argmin(losses))])


def _take_logarithm(probabilities: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(probabilities, _FLOOR))


def _normalise(logarithms: np.ndarray) -> np.ndarray:
    posterior = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    return posterior / posterior.sum(axis=-1, keepdims=True)
