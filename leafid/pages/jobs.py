"""What workers do for requests: identify and explain pictures, and describe the model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leafid.features.recipe import LONGEST_SIDE
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.model import Model
from leafid.model.plant_fusion import fuse_answers
from leafid.pages import field_guide
from leafid.pages.explaining import Explanation, explain
from leafid.pages.rendering import render_site_page
from leafid.pages.uploads import Upload
from leafid.pictures.decoding import read_hashed_image


def identify_pictures(model: Model, upload: Upload) -> list[dict[str, Any]]:
    """Identify pictures; returns the objects of ``predict --format json``."""
    return [answer.to_dict() for answer in _identify(model, upload)]


def explain_pictures(model: Model, upload: Upload, prefix: str) -> list[str]:
    """Explain the answers to pictures, or to all of a tree together, as HTML with ids that begin with the prefix."""
    explained = [(answer, _explain(model, answer)) for answer in _identify(model, upload)]
    groups = [explained] if upload.is_one_tree else [[own] for own in explained]
    return [
        render_site_page(
            "answer.html", prefix=f"{prefix}-{number}", group=group, summary=_summarise([own for own, _ in group])
        )
        for number, group in enumerate(groups, 1)
    ]


def describe_model(model: Model) -> dict[str, Any]:
    """Describe the model; returns the object of ``info --format json``."""
    return field_guide.describe_model(model, "")


def make_field_guide(model: Model, file: Path) -> str:
    """Make the field guide of the model that was read from a file, as a page."""
    return render_site_page("field_guide.html", "/guide", **field_guide.make_guide(model, file))


def _identify(model: Model, upload: Upload) -> list[Answer]:
    # One by one: two pictures may have the same name.
    answers = [next(model.identify(picture)) for picture in upload.pictures]
    return fuse_answers(model.types, answers, REJECTED_SHARE).expand() if upload.is_one_tree else answers


def _explain(model: Model, answer: Answer) -> Explanation | None:
    if answer.problem is not None:
        return None
    image, _ = read_hashed_image(answer.picture.file, LONGEST_SIDE, answer.picture.data)
    return explain(model, image, answer)


def _summarise(answers: Sequence[Answer]) -> str:
    """Say in a line what pictures show, all of one tree if they are several."""
    names = ", ".join(answer.picture.name for answer in answers)
    answer = next((answer for answer in answers if answer.problem is None), answers[0])
    return f"{names}: {answer.verdict_text}"
