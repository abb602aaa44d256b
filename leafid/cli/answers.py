"""What predict says of each picture: a ranking, a set, or a name above the species; and how it is printed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from leafid.console.environment import Environment
from leafid.errors import LeafidError

if TYPE_CHECKING:
    from leafid.classifiers.thresholds import SetRule
    from leafid.collection import Picture
    from leafid.collection.picture import AcquisitionType
    from leafid.identification.model import Model
    from leafid.identification.prediction import Answer
    from leafid.metrics.taxonomy import Taxonomy

Ranking = Sequence[tuple[str, float]]
#: From the ranking of all species to what is said.
Choice = Callable[["Answer"], Ranking]


def ranking_choice(top: int | None) -> Choice:
    """Say the likeliest species."""
    return lambda answer: answer.ranking[:top]


def set_choice(model: Model, rule: SetRule) -> Choice:
    """Say a set of species, maybe an empty one."""
    from leafid.classifiers.thresholds import select_set

    def choose(answer: Answer) -> Ranking:
        assert answer.type is not None  # A picture that can't be read gets no answer here.
        return select_set(answer.ranking, rule, model.thresholds.get(answer.type))

    return choose


def back_off_choice(model: Model) -> Choice:
    """Say one name, of a species or of what it belongs to, as fine as is sure enough."""
    import numpy as np

    from leafid.metrics.hierarchy import back_off, compute_answer_probability
    from leafid.metrics.path_error import WILDCARD
    from leafid.metrics.taxonomy import Taxonomy

    @cache
    def tree(type_: AcquisitionType) -> Taxonomy:
        return Taxonomy(model.species[name].taxon for name in model.identifier(type_).species)

    def choose(answer: Answer) -> Ranking:
        assert answer.type is not None
        threshold = _back_off_threshold(model, answer.type)
        taxonomy = tree(answer.type)
        probabilities = dict(answer.ranking)
        row = np.array([probabilities[name] for name in taxonomy.species])
        # Without a leaf all species are equally probable: a threshold of 0 would name the first of the alphabet.
        name = back_off(row[None], taxonomy, threshold)[0] if answer.has_leaf else WILDCARD
        return [(name, compute_answer_probability(name, row, taxonomy))]

    return choose


def check_thresholds(model: Model, pictures: Iterable[Picture], arguments: argparse.Namespace) -> None:
    """Find out before the work that the model lacks what sets or backing off need."""
    from leafid.classifiers.thresholds import select_set

    for type_ in dict.fromkeys(picture.type for picture in pictures):
        # Of a picture of unknown type any type of the model may be recognised.
        for one in [type_] if type_ in model.identifiers else list(model.identifiers) if type_ is None else []:
            if arguments.set:
                select_set([], arguments.set, model.thresholds.get(one))
            elif arguments.back_off:
                _back_off_threshold(model, one)


def report_context(model: Model, pictures: Sequence[Picture], environment: Environment) -> None:
    """Tell what --context can do: for how many pictures something is known, and what the model learned of it.

    Raises
    ------
    LeafidError
        When the model knows nothing of context.
    """
    import numpy as np

    from leafid.classifiers.context import context_rows

    if not model.contexts:
        raise LeafidError(
            "the model keeps nothing on context: it was trained by an older program; train it again, or leave out "
            "--context"
        )
    known = int(np.isfinite(context_rows(pictures)).any(axis=1).sum())
    environment.note(f"context: place or day is known of {known} of {len(pictures)} pictures; the others go by looks")
    asked = {picture.type for picture in pictures}
    for type_, context in model.contexts.items():
        if type_ in asked or None in asked:
            environment.note(f"context: {type_}: {context}")


def _back_off_threshold(model: Model, type_: AcquisitionType) -> float:
    thresholds = model.thresholds.get(type_)
    if thresholds is None or thresholds.back_off is None:
        raise LeafidError(
            f"the model keeps no threshold for backing off on pictures of type {type_}: its training had no species "
            "with two plants, or taxa that make no tree, or was by an older program; train it again"
        )
    return thresholds.back_off


def print_answers(answers: Iterable[Answer], choose: Choice, model: Model, environment: Environment) -> int:
    """Print what is said of each picture for a person; give the number of pictures answered."""
    count = 0
    for count, answer in enumerate(answers, 1):
        if count > 1:
            environment.print()
        environment.print(f"{answer.picture.file}  ({answer.picture.type})")
        for line in _format_answer(choose(answer), answer, model):
            environment.print(line)
    return count


def _format_answer(chosen: Ranking, answer: Answer, model: Model) -> Iterator[str]:
    if not chosen:
        yield "  no species is likely enough"
        return
    width = max(len(name) for name, _ in chosen)
    for rank, (name, probability) in enumerate(chosen, 1):
        info = model.species.get(name)
        if info:
            beside = ", ".join(info.vernacular_names[:2])
        else:
            beside = "likeliest: " + ", ".join(f"{species} {share:.1%}" for species, share in answer.ranking[:3])
        yield f"  {rank}  {probability:6.1%}  {name:<{width}}  {beside}".rstrip()
