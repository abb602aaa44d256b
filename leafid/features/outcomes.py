"""What becomes of a picture on a worker: a result, or a message in place of an error."""

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from leafid.errors import LeafidError, UsageError, naming_large_picture
from leafid.pictures.picture import Picture


class Outcome(NamedTuple):
    """The result for a picture, or the message and the traceback of the error."""

    result: Any
    problem: str | None = None
    traceback: str = ""


def call_guarded(function: Callable[[Any], Any], guarded: tuple[Picture, Any]) -> Outcome:
    """Call the function and return its error, if any, as text: one bad picture must not cost the work on the others."""
    picture, item = guarded
    try:
        with naming_large_picture(picture.file):
            return Outcome(function(item))
    except UsageError:
        raise
    except Exception as error:
        if isinstance(error, LeafidError):
            problem = str(error)
        else:
            problem = (
                f"{picture.file}: unexpected {type(error).__name__}: {' '.join(str(error).split())}; "
                "this is a bug, please report it with --debug's output"
            )
        return Outcome(None, problem, "".join(traceback.format_exception(error)).rstrip("\n"))


def make_failure(guarded: tuple[Picture, Any], problem: str) -> Outcome:
    """Make the outcome for a picture whose worker died or took too long."""
    return Outcome(None, f"{guarded[0].file}: {problem}")
