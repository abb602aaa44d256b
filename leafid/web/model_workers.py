"""What worker processes, which hold the model, do for requests."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leafid.files import StrPath
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.bundled import find_bundled_model, read_once
from leafid.model.groups import fuse_answers
from leafid.model.model import Model
from leafid.pages.explaining import SPECIES_SHOWN, Explanation, explain_answer
from leafid.pages.field_guide import make_guide
from leafid.parallel.mapping import using_one_thread
from leafid.pictures.header import max_pixels
from leafid.pictures.picture import Picture
from leafid.translation import using_language
from leafid.web.rendering import render_site_page

# Of a picture, which may be a stranger's: 100 bytes can stand for 100,000 pixels.
_MAX_PIXELS = 64_000_000


@using_one_thread()
def call_with_model(
    model_file: Path,
    language: str,
    function: Callable[..., Any],
    *arguments: Any,
) -> Any:
    """Call ``function(model, *arguments)`` in a worker, which keeps the model."""
    max_pixels.set(_MAX_PIXELS)
    with using_language(language):
        return function(read_once(model_file).in_language(language), *arguments)


def warm_up(model: StrPath | None = None) -> None:
    """Identify a green rectangle: model and libraries load before the first request."""
    image = np.full((400, 300, 3), 250, np.uint8)
    image[50:350, 90:210] = (40, 160, 50)
    next(read_once(Path(model or find_bundled_model())).identify(image))


def identify_pictures(
    model: Model, pictures: Sequence[Picture], is_one_tree: bool, _: object
) -> list[dict[str, Any]]:
    """Identify pictures; returns the objects of ``predict --format json``."""
    return [answer.to_dict() for answer in _identify(model, pictures, is_one_tree)]


def explain_pictures(
    model: Model, pictures: Sequence[Picture], is_one_tree: bool, ends: Sequence[float]
) -> list[str]:
    """Explain the answers to pictures, or to all of a tree together.

    Returns HTML for a page that may have other answers.
    """
    pairs: list[tuple[Answer, Explanation | None]] = []
    for answer in _identify(model, pictures, is_one_tree):
        explanation = None
        if answer.problem is None:
            explanation = explain_answer(model, answer, ends)
        pairs.append((answer, explanation))
    groups = [[pair] for pair in pairs]
    if is_one_tree:
        groups = [pairs]
    return [
        render_site_page(
            "answer.html",
            prefix=f"answer-{secrets.token_hex(6)}",
            group=group,
            records=[
                answer.to_dict(answer.ranking[:SPECIES_SHOWN]) for answer, _ in group
            ],
        )
        for group in groups
    ]


def make_field_guide(model: Model, file: Path) -> str:
    """Render the field guide of a model, which was read from a file."""
    return render_site_page("field_guide.html", "/guide", **make_guide(model, file))


def _identify(
    model: Model, pictures: Sequence[Picture], is_one_tree: bool
) -> list[Answer]:
    # One by one: two pictures may have the same name.
    answers = [next(model.identify(picture)) for picture in pictures]
    if is_one_tree:
        return fuse_answers(model.types, answers, REJECTED_SHARE).expand()
    return answers
