"""Selects what predict reports of each picture (a ranking, a set, or a name above the species) and prints it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from leafid.collection import Picture
from leafid.collection.picture import AcquisitionType
from leafid.console.environment import Environment
from leafid.errors import LeafidError
from leafid.metrics.path_error import WILDCARD

if TYPE_CHECKING:
    from leafid.classifiers.thresholds import SetRule
    from leafid.identification.model import Model
    from leafid.identification.prediction import Answer
    from leafid.metrics.taxonomy import Taxonomy

Ranking = Sequence[tuple[str, float]]
#: From the answer for a picture, which ranks all species, to the names that are reported, with their probabilities.
Selector = Callable[["Answer"], Ranking]


def make_selector(arguments: argparse.Namespace, model: Model) -> Selector:
    """Make the selector that ``--set``, ``--back-off`` or ``--top`` ask for."""
    if arguments.set:
        return _make_set_selector(model, arguments.set)
    if arguments.back_off:
        return _make_back_off_selector(model)
    top = arguments.top or (None if arguments.output else 5)
    return lambda answer: answer.ranking[:top]


def _make_set_selector(model: Model, rule: SetRule) -> Selector:
    """Select a set of species, which may be empty."""
    from leafid.classifiers.thresholds import select_set

    def select(answer: Answer) -> Ranking:
        assert answer.type is not None  # A picture that can't be read gets no answer here.
        return select_set(answer.ranking, rule, model.thresholds.get(answer.type))

    return select


def _make_back_off_selector(model: Model) -> Selector:
    """Select a single name: the species, or the lowest taxon above it that is probable enough."""
    import numpy as np

    from leafid.metrics.hierarchy import back_off, compute_answer_probability
    from leafid.metrics.taxonomy import Taxonomy

    @cache
    def get_taxonomy(type_: AcquisitionType) -> Taxonomy:
        return Taxonomy(model.species[name].taxon for name in model.identifier(type_).species)

    def select(answer: Answer) -> Ranking:
        assert answer.type is not None
        taxonomy, threshold = get_taxonomy(answer.type), _get_back_off_threshold(model, answer.type)
        by_species = dict(answer.ranking)
        probabilities = np.array([by_species[name] for name in taxonomy.species])
        # Without a leaf all species are equally probable: a threshold of 0 would select the alphabet's first.
        name = back_off(probabilities[None], taxonomy, threshold)[0] if answer.has_leaf else WILDCARD
        return [(name, compute_answer_probability(name, probabilities, taxonomy))]

    return select


def check_thresholds(model: Model, pictures: Iterable[Picture], arguments: argparse.Namespace) -> None:
    """Raise before the work starts if the model lacks the thresholds for ``--set`` or ``--back-off``."""
    from leafid.classifiers.thresholds import select_set

    types = {picture.type for picture in pictures}
    # A picture of unknown type may be recognised as any type of the model.
    for type_ in [type_ for type_ in model.identifiers if type_ in types or None in types]:
        if arguments.set:
            select_set([], arguments.set, model.thresholds.get(type_))
        elif arguments.back_off:
            _get_back_off_threshold(model, type_)


def _get_back_off_threshold(model: Model, type_: AcquisitionType) -> float:
    thresholds = model.thresholds.get(type_)
    if thresholds is None or thresholds.back_off is None:
        raise LeafidError(
            f"the model has no back-off threshold for pictures of type {type_}: its training set had no species with "
            "two plants, or its taxa form no tree, or an older leafid trained it; train it again"
        )
    return thresholds.back_off


def report_context(model: Model, pictures: Sequence[Picture], environment: Environment) -> None:
    """Report how many pictures ``--context`` can help with, and what the model learned from context.

    Raises
    ------
    LeafidError
        When the model has learned nothing from context.
    """
    import numpy as np

    from leafid.classifiers.context import encode_context

    if not model.contexts:
        raise LeafidError(
            "the model has no context prior: an older leafid trained it; train it again, or leave out --context"
        )
    n_known = int(np.isfinite(encode_context(pictures)).any(axis=1).sum())
    environment.note(
        f"context: place or day is known for {n_known} of {len(pictures)} pictures; the others are identified without"
    )
    types = {picture.type for picture in pictures}
    for type_, context in model.contexts.items():
        if type_ in types or None in types:
            environment.note(f"context: {type_}: {context}")


def check_rejection(model: Model, arguments: argparse.Namespace) -> None:
    """Raise if ``--reject-at`` is given but the model can't reject pictures."""
    if arguments.reject_at is not None and all(found.rejection is None for found in model.identifiers.values()):
        raise LeafidError(
            "the model has not learned to reject pictures: its training set had too few species; leave out --reject-at"
        )


def print_answers(
    answers: Iterable[Answer],
    select: Selector,
    model: Model,
    environment: Environment,
    *,
    ranks_rejected: bool,
) -> int:
    """Print the answers for a person to read; return their number.

    What is selected from the answer for a rejected picture is printed only with `ranks_rejected`.
    """
    count = 0
    for count, answer in enumerate(answers, 1):
        if count > 1:
            environment.print()
        environment.print(f"{answer.picture.file}  ({_describe_picture(answer)})")
        remark = _explain_verdict(answer)
        if remark:
            environment.print(f"  {remark}")
        if not remark or ranks_rejected:
            for line in _format_answer(select(answer), answer, model):
                environment.print(line)
    return count


def _explain_verdict(answer: Answer) -> str | None:
    if answer.verdict == "unknown":
        return f"unknown: probably none of the {len(answer.ranking)} species that the model knows"
    return "no leaf: the picture probably shows none" if answer.verdict == "no-leaf" else None


def _describe_picture(answer: Answer) -> str:
    if answer.leaf is None or answer.known is None:
        return str(answer.type)
    return f"{answer.type}; leaf {answer.leaf:.0%}, of a known species {answer.known:.0%}"


def _format_answer(selected: Ranking, answer: Answer, model: Model) -> Iterator[str]:
    if not selected:
        yield "  no species is likely enough"
        return
    width = max(len(name) for name, _ in selected)
    for rank, (name, probability) in enumerate(selected, 1):
        info = model.species.get(name)
        if info:
            remark = ", ".join(info.vernacular_names[:2])
        else:
            remark = "likeliest: " + ", ".join(f"{species} {share:.1%}" for species, share in answer.ranking[:3])
        yield f"  {rank}  {probability:6.1%}  {name:<{width}}  {remark}".rstrip()
