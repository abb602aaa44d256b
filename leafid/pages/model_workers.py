"""Worker processes that hold the model, and what they do for requests; one that is killed or hangs costs one answer."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from leafid.errors import LeafidError
from leafid.features.recipe import LONGEST_SIDE
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.bundled import find_bundled_model, read_once
from leafid.model.model import Model
from leafid.model.plant_fusion import fuse_answers
from leafid.pages.explaining import Explanation, explain
from leafid.pages.field_guide import make_guide
from leafid.pages.rendering import render_site_page
from leafid.parallel.mapping import Executor, reporting_lost_workers, using_one_thread
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import Picture


class ModelWorkers:
    """Calls functions of the model, by default the bundled one, in workers that keep it."""

    def __init__(self, executor: Executor, model_file: str | None = None) -> None:
        self._executor = executor
        self.model_file = Path(model_file or find_bundled_model())

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``function(model, *arguments)`` in a worker; a call that is cancelled ends its worker.

        Raises `WorkerError` if the worker was killed, and the function's own errors.
        """
        with reporting_lost_workers():
            return await asyncio.wrap_future(self._executor.submit(_call, self.model_file, function, arguments))


@using_one_thread()
def _call(model_file: Path, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(read_once(model_file), *arguments)


def warm_up(file: str | None) -> None:
    """Identify a drawn leaf, so that the model and libraries are loaded before the first request."""
    image = np.full((400, 300, 3), 250, np.uint8)
    cv2.ellipse(image, (150, 200), (60, 150), 0, 0, 360, (40, 160, 50), -1)
    next(read_once(Path(file or find_bundled_model())).identify(image))


def identify_pictures(model: Model, pictures: Sequence[Picture], is_one_tree: bool) -> list[dict[str, Any]]:
    """Identify pictures; returns the objects of ``predict --format json``."""
    return [answer.to_dict() for answer in _identify(model, pictures, is_one_tree)]


def explain_pictures(model: Model, pictures: Sequence[Picture], is_one_tree: bool, prefix: str) -> list[str]:
    """Explain the answers to pictures, or to all of a tree together, as HTML with ids that begin with the prefix."""
    explained = [(answer, _explain(model, answer)) for answer in _identify(model, pictures, is_one_tree)]
    groups = [explained] if is_one_tree else [[pair] for pair in explained]
    return [
        render_site_page("answer.html", prefix=f"{prefix}-{number}", group=group, summary=_summarise(group))
        for number, group in enumerate(groups, 1)
    ]


def make_field_guide(model: Model, file: Path) -> str:
    """Make the field guide of the model that was read from a file, as a page."""
    return render_site_page("field_guide.html", "/guide", **make_guide(model, file))


def _identify(model: Model, pictures: Sequence[Picture], is_one_tree: bool) -> list[Answer]:
    for type_ in {picture.type for picture in pictures if picture.type}:
        if type_ not in model.types:
            raise LeafidError(f"the model knows no pictures of the type {type_}, only {', '.join(model.types)}")
    # One by one: two pictures may have the same name.
    answers = [next(model.identify(picture)) for picture in pictures]
    return fuse_answers(model.types, answers, REJECTED_SHARE).expand() if is_one_tree else answers


def _explain(model: Model, answer: Answer) -> Explanation | None:
    if answer.problem is not None:
        return None
    image, _ = read_hashed_image(answer.picture.file, LONGEST_SIDE, answer.picture.data)
    return explain(model, image, answer)


def _summarise(group: Sequence[tuple[Answer, Explanation | None]]) -> str:
    """Say in a line what pictures show, all of one tree if they are several."""
    answers = [answer for answer, _ in group]
    names = ", ".join(answer.picture.title for answer in answers)
    answer = next((answer for answer in answers if answer.problem is None), answers[0])
    return f"{names}: {answer.verdict_text}"
