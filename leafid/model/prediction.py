"""Identifies pictures: recognises their types, extracts features, classifies, ranks the species."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import cast

import numpy as np

from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader, Progress, pass_through
from leafid.grouping import group_by
from leafid.learning.backing_off import back_off, compute_answer_probability
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer, Decision, rank_species
from leafid.model.bundled import warn_of_mixed_types
from leafid.model.identifier import Identifier
from leafid.model.model import Model
from leafid.model.plants import GROUPINGS, fuse_answers
from leafid.model.sessions import share_answers
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.taxonomy import WILDCARD, Taxonomy

_log = logging.getLogger(__name__)

#: Number of pictures that are identified together.
BATCH_SIZE = 256


@dataclass(frozen=True)
class Options:
    """How pictures are answered."""

    #: The share, from 0 to 1, of the leaves of known species that may be rejected as unknown or as no leaf.
    reject_at: float = REJECTED_SHARE
    #: Name a genus, family or order where no species is probable enough.
    back_off: bool = False
    #: A grouping of `leafid.model.plants.GROUPINGS`: give one answer from all pictures of a group; with
    #: "session", one to each picture, which the others of its session support.
    group_by: str | None = None


DEFAULTS = Options()


def predict(
    model: Model, pictures: Sequence[Picture], loader: FeatureLoader, options: Options = DEFAULTS
) -> Iterator[Answer]:
    """Identify pictures; yield the answers in the order of the pictures, or of the groups with `Options.group_by`.

    The model recognises the type of pictures whose type is unknown. Pictures that can't be read are noted in the
    loader's `unreadable`. A `LeafidError` is raised when the model was not trained for a picture's type, or can't back
    off.
    """
    for batch in predict_batches(model, pictures, loader, options):
        yield from batch


def predict_batches(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    options: Options = DEFAULTS,
    *,
    progress: Progress | None = None,
) -> Iterator[list[Answer]]:
    """Identify pictures in batches as `predict` does; memory doesn't grow with their number.

    `progress` is used for the pictures that are described, in place of the loader's own.
    """
    for type_ in dict.fromkeys(picture.type for picture in pictures if picture.type is not None):
        model.identifier(type_)  # raises before any work is done
    single = replace(options, back_off=False, group_by=None)
    recognised: Counter[AcquisitionType] = Counter()
    for groups in _split_into_batches(pictures, options.group_by):
        batch = list(chain(*groups))
        typed = _recognise_missing_types(model, batch, loader, progress and pass_through)
        recognised.update(own.type for own, probability in typed.values() if own.type and probability is not None)
        found: dict[int, Answer] = {}
        for type_ in dict.fromkeys(picture.type for picture, _ in typed.values() if picture.type is not None):
            own = {index: item for index, item in typed.items() if item[0].type == type_}
            found.update(_identify_type(model, type_, own, loader, progress, single))
        answers = [
            found.get(index) or Answer(picture, [], 0.0, problem=loader.unreadable[picture.file])
            for index, picture in enumerate(batch)
        ]
        if options.group_by == "session":
            answers = share_answers(answers)
        elif options.group_by:
            in_order = iter(answers)
            answers = [fuse_answers(model, list(islice(in_order, len(group))), options.reject_at) for group in groups]
        yield [back_off_answer(answer, model) for answer in answers] if options.back_off else answers
    warn_of_mixed_types(recognised)


def _split_into_batches(pictures: Sequence[Picture], grouping: str | None) -> Iterator[list[list[Picture]]]:
    """Split the pictures into batches of groups, which have `BATCH_SIZE` pictures at most if there are several."""
    batch: list[list[Picture]] = []
    for group in group_by(pictures, GROUPINGS[grouping]).values() if grouping else ([own] for own in pictures):
        if batch and sum(map(len, batch)) + len(group) > BATCH_SIZE:
            yield batch
            batch = []
        batch.append(group)
    if batch:
        yield batch


def _recognise_missing_types(
    model: Model, pictures: Sequence[Picture], loader: FeatureLoader, progress: Progress | None
) -> dict[int, tuple[Picture, float | None]]:
    """Give every readable picture a type, with its probability where it is recognised; by the pictures' indices."""
    untyped = [index for index, picture in enumerate(pictures) if picture.type is None]
    typed: dict[int, tuple[Picture, float | None]] = {
        index: (picture, None) for index, picture in enumerate(pictures) if picture.type is not None
    }
    if untyped:
        table = loader.load_type_features([pictures[index] for index in untyped], progress)
        for index, features in zip(untyped, table, strict=True):
            if features is not None:
                type_, probability = model.type_recogniser.recognise(features)
                typed[index] = replace(pictures[index], type=type_), probability
    return dict(sorted(typed.items()))


def _identify_type(
    model: Model,
    type_: AcquisitionType,
    pictures: Mapping[int, tuple[Picture, float | None]],
    loader: FeatureLoader,
    progress: Progress | None,
    options: Options,
) -> Iterator[tuple[int, Answer]]:
    table = loader.load([picture for picture, _ in pictures.values()], model.identifier(type_).extractor, progress)
    features = {index: found for index, found in zip(pictures, table, strict=True) if found is not None}
    for index, found in features.items():
        if found.confidence == 0:
            _log.warning("%s: no leaf found in it; every species is ranked as equally likely", pictures[index][0].file)
    yield from zip(
        features,
        make_answers(model, [pictures[index] for index in features], list(features.values()), options),
        strict=True,
    )


def make_answers(
    model: Model,
    pictures: Sequence[tuple[Picture, float | None]],
    features: Sequence[Features],
    options: Options = DEFAULTS,
) -> list[Answer]:
    """Make the answers to pictures of one type by their features.

    Each picture has its type, and the probability of the type if it was recognised. A `LeafidError` is raised when the
    model can't back off.
    """
    if not pictures:
        return []
    type_ = pictures[0][0].type
    assert type_ is not None
    identifier = model.identifier(type_)
    scores = identifier.score(features)
    probabilities = identifier.predict_proba(features, scores)
    judgements = _judge_features(identifier, features, scores, options.reject_at)
    answers = [
        Answer(
            picture,
            rank_species(row, identifier.species),
            item.confidence,
            *judgement,
            type_probability=type_probability,
            common_names=model.common_names,
        )
        for (picture, type_probability), row, item, judgement in zip(
            pictures, probabilities, features, judgements, strict=True
        )
    ]
    return [back_off_answer(answer, model) for answer in answers] if options.back_off else answers


def back_off_answer(answer: Answer, model: Model) -> Answer:
    """Name the species, or the lowest taxon above it that is probable enough.

    A `LeafidError` is raised when the model can't back off.
    """
    if answer.problem:
        return answer
    types = {part.picture.type for part in answer.parts or [answer]} - {None}
    threshold = max(model.get_back_off_threshold(type_) for type_ in types if type_)
    by_species = dict(answer.ranking)
    taxonomy = _make_taxonomy(tuple(model.species[name].taxon for name in sorted(by_species)))
    probabilities = np.array([by_species[name] for name in taxonomy.species])
    # Without a leaf all species are equally probable: a threshold of 0 would select the alphabet's first.
    name = back_off(probabilities[None], taxonomy, threshold)[0] if answer.has_leaf else WILDCARD
    n_named = sum(part != WILDCARD for part in taxonomy.find_path(name))
    rank = cast(Decision, taxonomy.ranks[n_named - 1] if n_named else "unknown")
    return replace(
        answer,
        decision=rank if answer.decision == "species" else answer.decision,
        backed_off=(name, compute_answer_probability(name, probabilities, taxonomy)),
    )


@lru_cache(maxsize=8)
def _make_taxonomy(taxa: tuple[Taxon, ...]) -> Taxonomy:
    return Taxonomy(taxa)


def _judge_features(
    identifier: Identifier, features: Sequence[Features], scores: Sequence[np.ndarray], reject_at: float
) -> list[tuple[float | None, float | None, Decision]]:
    """Give `Answer.leaf`, `Answer.known` and `Answer.decision` for the features of pictures.

    `reject_at` is the share of the leaves of known species that may be rejected.
    """
    found = identifier.assess(features, scores)
    if found is None or identifier.rejection is None:
        return [(None, None, "species" if item.confidence else "no-leaf") for item in features]
    decisions: list[Decision] = [
        "no-leaf" if is_no_leaf else "unknown" if is_unknown else "species"
        for is_no_leaf, is_unknown in zip(*identifier.rejection.reject(*found, reject_at), strict=True)
    ]
    return [
        (round(float(leaf), 9), round(float(known), 9), decision)
        for leaf, known, decision in zip(*found, decisions, strict=True)
    ]
