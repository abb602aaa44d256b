"""The caption score METEOR, computed by its authors' program: needs Java and the package pycocoevalcap."""

import importlib.util
import shutil
from collections.abc import Mapping, Sequence

from leafid.errors import LeafidError


def find_missing_requirement() -> str | None:
    """Return what METEOR needs and this machine lacks, with the way to get it, or None."""
    if shutil.which("java") is None:
        return "METEOR needs Java (expected 'java' in the path, found none); install a Java runtime"
    has_package = importlib.util.find_spec("pycocoevalcap") is not None
    return None if has_package else "METEOR needs the package pycocoevalcap, found none; 'pip install pycocoevalcap'"


def meteor_scores(captions: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Score one caption per picture against its human captions: 0 to 1, in the order of `captions`.

    METEOR 1.5 for English with its own normalisation of punctuation (``-norm``), as the package runs it; it takes about
    2 GB of memory. A `LeafidError` is raised when Java or the package is missing, or METEOR fails.
    """
    if missing := find_missing_requirement():
        raise LeafidError(missing)
    if not captions:
        return {}
    # An optional package.
    from pycocoevalcap.meteor.meteor import Meteor

    given = {picture: [_clean(caption)] for picture, caption in captions.items()}
    human = {picture: [_clean(text) for text in references[picture]] for picture in captions}
    try:
        _, scores = Meteor().compute_score(human, given)
    except (OSError, ValueError) as error:
        raise LeafidError(f"METEOR failed ({error}); does Java work, and are there 2 GB of memory?") from error
    return dict(zip(captions, map(float, scores), strict=True))


def _clean(text: str) -> str:
    # The program reads one caption per line, and uses these bars as a separator.
    return " ".join(text.replace("|||", " ").split())
