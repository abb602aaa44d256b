"""The scores of one run of the ImageCLEF 2016 annotation task."""

import importlib.util
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from leafid.errors import LeafidError
from leafid.tasks.annotation2016 import metrics
from leafid.tasks.annotation2016.files import Annotations, Subtask
from leafid.tasks.annotation2016.metrics import EARTH_RADIUS, OVERLAPS

#: Default values of k for recall and success at k.
RANKS = (1, 5, 10, 25, 50, 75, 100)

_STATISTICS: dict[str, Any] = {"mean": fmean, "median": median, "min": min, "max": max}


@dataclass(frozen=True)
class AnnotationScores:
    """Scores of a run."""

    run: str
    #: The scores by metric.
    scores: dict[str, float]
    #: The scores of each picture or document by metric; in subtask 1, the precision of each concept by overlap.
    details: dict[str, dict[str, float]]


def score_annotation(
    truth: Annotations, run: Annotations, ranks: Sequence[int] = RANKS, radius: float = EARTH_RADIUS
) -> AnnotationScores:
    """Score a run of the ground truth's subtask; a picture or document that it lacks counts as the worst answer.

    `ranks` are the values of k of subtask 4, `radius` is that of the earth in km for subtask 5. A `LeafidError` is
    raised when METEOR is needed and missing.
    """
    # Ids are sorted, so that the order of lines doesn't change any sum.
    correct = dict(sorted(truth.results.items()))
    answers = {identity: run.results[identity][0] for identity in correct if identity in run.results}
    if truth.subtask is Subtask.CONCEPTS:
        return _score_concepts({identity: concepts for identity, (concepts,) in correct.items()}, answers, run.name)
    meteor = meteor_scores(answers, correct) if truth.subtask is Subtask.CAPTION else {}
    scores: dict[str, dict[str, float]] = {}
    for identity, true in correct.items():
        match truth.subtask:
            case Subtask.CAPTION:
                scores[identity] = {"meteor": meteor.get(identity, 0.0)}
            case Subtask.SELECTION:
                f1, precision, recall = metrics.selection_scores(true, answers.get(identity, ()))
                scores[identity] = {"selection-f1": f1, "selection-precision": precision, "selection-recall": recall}
            case Subtask.ILLUSTRATION:
                ranking = answers.get(identity, ())
                recalls = {k: metrics.recall_at(true[0], ranking, k) for k in ranks}
                scores[identity] = {f"recall-at-{k}": recall for k, recall in recalls.items()}
                # The task's wording of recall: 1 if any of the document's pictures is among the first k.
                scores[identity] |= {f"success-at-{k}": float(recall > 0) for k, recall in recalls.items()}
            case Subtask.LOCATION:
                place = answers.get(identity)
                distance = metrics.great_circle_distance(true[0], place, radius) if place else math.pi * radius
                scores[identity] = {"great-circle-km": distance}
    statistics = _STATISTICS if truth.subtask in {Subtask.CAPTION, Subtask.LOCATION} else {"": fmean}
    means = {
        f"{name} {kind}".rstrip(): compute([values[name] for values in scores.values()])
        for name in next(iter(scores.values()))
        for kind, compute in statistics.items()
    }
    return AnnotationScores(run.name, means, scores)


def _score_concepts(truth: Mapping[str, Any], run: Mapping[str, Any], name: str) -> AnnotationScores:
    by_concept = metrics.concept_precisions(truth, run)
    if not by_concept:
        raise LeafidError("expected a ground truth with at least one concept, found none")
    means = [math.fsum(column) / len(by_concept) for column in zip(*by_concept.values(), strict=True)]
    scores = {"map-0.5": means[OVERLAPS.index(0.5)], "map-0": means[0], "map-increasing": math.fsum(means) / len(means)}
    scores |= {f"map at {overlap:.1f}": mean for overlap, mean in zip(OVERLAPS, means, strict=True)}
    overlaps = [*map(str, OVERLAPS)]
    details = {concept: dict(zip(overlaps, values, strict=True)) for concept, values in by_concept.items()}
    return AnnotationScores(name, scores, details)


def meteor_scores(captions: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Score one caption per picture against its human captions: 0 to 1, in the order of `captions`.

    METEOR 1.5 for English with its own normalisation of punctuation (``-norm``), as the package runs it; it takes about
    2 GB of memory. A `LeafidError` is raised when Java or the package is missing, or METEOR fails.
    """
    if shutil.which("java") is None:
        raise LeafidError("METEOR needs Java (expected 'java' in the path, found none); install a Java runtime")
    if importlib.util.find_spec("pycocoevalcap") is None:
        raise LeafidError("METEOR needs the package pycocoevalcap, found none; 'pip install pycocoevalcap'")
    if not captions:
        return {}
    # The package is optional.
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
