"""The caption score METEOR, by the program of its authors: needs Java and the package pycocoevalcap."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping, Sequence

from leafid.errors import LeafidError
from leafid.metrics.registry import Metric

CITATION = "Denkowski, Lavie, Meteor Universal, WMT 2014, doi:10.3115/v1/W14-3348"


def missing_for_meteor() -> str | None:
    """Tell what METEOR needs and this machine lacks.

    Returns
    -------
    str or None
        The way to get it, or None when all is there.
    """
    if shutil.which("java") is None:
        return "METEOR needs Java (expected 'java' in the path, found none); install a Java runtime"
    if importlib.util.find_spec("pycocoevalcap") is None:
        return "METEOR needs the package pycocoevalcap, found none; 'pip install pycocoevalcap' gets it"
    return None


def meteor_scores(captions: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Score one caption a picture against human captions of it.

    Parameters
    ----------
    captions : mapping of str to str
        By picture.
    references : mapping of str to sequence of str
        At least one for each picture of `captions`.

    Returns
    -------
    dict of str to float
        0 to 1, by picture, in the order of `captions`.

    Raises
    ------
    LeafidError
        When Java or the package is missing, or METEOR fails.

    Notes
    -----
    METEOR 1.5 for English with its own normalisation of punctuation (``-norm``), as the package runs it; it takes some
    2 GB of memory, and seconds to start.
    """
    if missing := missing_for_meteor():
        raise LeafidError(missing)
    if not captions:
        return {}
    from pycocoevalcap.meteor.meteor import Meteor

    given = {picture: [_line(caption)] for picture, caption in captions.items()}
    human = {picture: [_line(text) for text in references[picture]] for picture in captions}
    try:
        _, scores = Meteor().compute_score(human, given)
    except (OSError, ValueError) as error:
        raise LeafidError(
            f"METEOR failed ({error}); does 'java -version' work, and are there 2 GB of memory?"
        ) from error
    return dict(zip(captions, map(float, scores), strict=True))


def _line(text: str) -> str:
    # The program takes a line a caption, with these bars between its parts.
    return " ".join(text.replace("|||", " ").split())


METRICS = (
    Metric(
        "meteor",
        "agreement of a caption with human ones (English; needs Java)",
        meteor_scores,
        citation=CITATION,
        command="evaluate-annotation",
        column="meteor mean, median, min, max",
    ),
)
