"""Selects what predict reports of each picture: a ranking, a set, or a name above the species."""

import argparse
from collections.abc import Callable, Iterable, Sequence

from leafid.errors import LeafidError
from leafid.learning.thresholds import SetRule, select_set
from leafid.model.answer import Answer
from leafid.model.model import Model
from leafid.pictures import Picture

Ranking = Sequence[tuple[str, float]]
#: From the answer for a picture, which ranks all species, to the names that are reported, with their probabilities.
Selector = Callable[[Answer], Ranking]


def make_selector(arguments: argparse.Namespace, model: Model) -> Selector:
    """Make the selector that ``--set``, ``--back-off`` or ``--top`` ask for."""
    if arguments.set:
        return _make_set_selector(model, arguments.set)
    if arguments.back_off:
        return lambda answer: [answer.backed_off] if answer.backed_off else []
    top = arguments.top or (5 if arguments.format == "text" else None)
    return lambda answer: answer.ranking[:top]


def _make_set_selector(model: Model, rule: SetRule) -> Selector:
    """Select a set of species, which may be empty."""

    def select(answer: Answer) -> Ranking:
        assert answer.type is not None  # A picture that can't be read gets no answer here.
        return select_set(answer.ranking, rule, model[answer.type].thresholds)

    return select


def check_thresholds(model: Model, pictures: Iterable[Picture], arguments: argparse.Namespace) -> None:
    """Raise before the work starts if the model lacks the thresholds for ``--set`` or ``--back-off``."""
    types = {picture.type for picture in pictures}
    # A picture of unknown type may be recognised as any type of the model.
    for type_ in [type_ for type_ in model.types if type_ in types or None in types]:
        if arguments.set:
            select_set([], arguments.set, model[type_].thresholds)
        elif arguments.back_off:
            model.get_back_off_threshold(type_)


def check_rejection(model: Model, arguments: argparse.Namespace) -> None:
    """Raise if ``--reject-at`` or ``--open-world`` is given but the model can't reject pictures."""
    is_needed = arguments.reject_at is not None or arguments.open_world
    if is_needed and all(own.identifier.rejection is None for own in model.types.values()):
        raise LeafidError(
            "the model has not learned to reject pictures: its training set had too few species; leave out "
            "--reject-at and --open-world"
        )
