import math
import shutil
import statistics
from random import Random

import numpy as np
import pytest

from leafid.tasks.annotation2016.files import Annotations, Subtask
from leafid.tasks.annotation2016.scoring import (
    concept_precisions,
    great_circle_distance,
    meteor_scores,
    score_annotation,
    selection_scores,
)
from leafid.tasks.interpretation.regions import Box, BoxedObject


def make_objects(name, *boxes):
    return [BoxedObject(name, Box(*box[:4]), *box[4:]) for box in boxes]


def literal_overlap(a, b):
    common = sum(
        a.left <= c < a.left + a.width and a.top <= r < a.top + a.height
        and b.left <= c < b.left + b.width and b.top <= r < b.top + b.height
        for c in range(30) for r in range(30)
    )  # fmt: skip
    return common / (a.area + b.area - common)


def literal_precision(truth, run, name, overlap):
    """Follow PASCAL VOC: boxes claim true boxes by falling confidence.

    Each takes the one that it overlaps most, if it is free.
    """
    true_boxes = {
        p: sorted(item.box for item in listed if item.name == name)
        for p, listed in truth.items()
    }
    detections = [
        (item.confidence, p, item.box)
        for p, listed in run.items()
        for item in listed
        if item.name == name
    ]
    detections.sort(key=lambda entry: -entry[0])
    if not overlap:
        # In each picture the most confident box counts, wherever it is.
        detections = [
            entry
            for i, entry in enumerate(detections)
            if entry[1] not in {p for _, p, _ in detections[:i]}
        ]
        detections = [
            (confidence, p, Box(0, 0, 1, 1)) for confidence, p, _ in detections
        ]
        true_boxes = {p: [Box(0, 0, 1, 1)] for p, boxes in true_boxes.items() if boxes}
    taken, correct, total = set(), 0, 0.0
    for count, (_, picture, box) in enumerate(detections, start=1):
        overlaps = [literal_overlap(true, box) for true in true_boxes.get(picture, [])]
        best = max(range(len(overlaps)), key=lambda i: overlaps[i], default=None)
        if (
            best is not None
            and overlaps[best] >= overlap
            and (picture, best) not in taken
        ):
            taken.add((picture, best))
            correct += 1
            total += correct / count
    return total / sum(map(len, true_boxes.values()))


def make_collections(seed):
    """Make a small ground truth and a run whose confidences all differ."""
    generator = np.random.default_rng(seed)
    confidences = iter(generator.permutation(500) / 500)

    def make_scene():
        names = [
            name for name in ("dog", "cat") for _ in range(generator.integers(0, 4))
        ]
        boxes = generator.integers(
            [0, 0, 5, 5], [10, 10, 15, 15], (len(names), 4)
        ).tolist()
        return [
            BoxedObject(name, Box(*box), next(confidences))
            for name, box in zip(names, boxes, strict=True)
        ]

    truth = {p: make_scene() for p in "abc"}
    truth["d"] = make_objects("dog", (0, 0, 9, 9)) + make_objects("cat", (0, 0, 5, 5))
    return truth, {p: make_scene() for p in "abcd"}


@pytest.mark.parametrize("seed", range(12))
def test_precision_equals_the_literal_version(seed):
    truth, run = make_collections(seed)
    for name, values in concept_precisions(truth, run).items():
        for overlap in ("0.0", "0.1", "0.3", "0.5", "0.9"):
            expected = pytest.approx(
                literal_precision(truth, run, name, float(overlap)), abs=1e-12
            )
            assert values[overlap] == expected


@pytest.mark.parametrize("seed", range(5))
def test_order_does_not_matter_even_with_equal_confidences(seed):
    truth, run = make_collections(seed)
    tied = {
        p: [item._replace(confidence=round(item.confidence, 1)) for item in listed]
        for p, listed in run.items()
    }
    random = Random(seed)
    mixed = {
        p: random.sample(tied[p], len(tied[p]))
        for p in random.sample(sorted(tied), len(tied))
    }
    assert concept_precisions(
        dict(reversed(truth.items())), mixed
    ) == concept_precisions(truth, tied)


@pytest.mark.parametrize("seed", range(10))
def test_selection_scores_equal_the_literal_version(seed):
    random = Random(seed)
    truth = [
        set(random.sample(range(10), random.randint(1, 9)))
        for _ in range(random.randint(1, 5))
    ]
    selected = set(random.sample(range(10), seed % 10))
    f1, precision, recall = selection_scores(truth, selected)
    expected_precision = (
        statistics.mean(len(g & selected) / len(selected) for g in truth)
        if selected
        else 0
    )
    expected_recall = statistics.mean(len(g & selected) / len(g) for g in truth)
    assert precision == pytest.approx(expected_precision)
    assert recall == pytest.approx(expected_recall)
    if precision + recall:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert 0 <= min(f1, precision, recall) <= max(f1, precision, recall) <= 1
    assert selection_scores(random.sample(truth, len(truth)), selected) == (
        f1,
        precision,
        recall,
    )


@pytest.mark.parametrize("seed", range(10))
def test_distance_equals_the_angle_between_vectors(seed):
    generator = np.random.default_rng(seed)
    first, second = generator.uniform((-90, -180), (90, 180), (2, 2))

    def make_vector(place):
        lat, lon = np.radians(place)
        return np.array(
            [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
        )

    a, b = make_vector(first), make_vector(second)
    angle = math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    # Where arccos is steepest, the last bit of a cosine of 1 is worth 1.5e-8 of the
    # radius: some 0.1 m.
    assert great_circle_distance(first, second) == pytest.approx(6137 * angle, abs=3e-4)
    assert great_circle_distance(second, first) == pytest.approx(6137 * angle, abs=3e-4)
    assert great_circle_distance(first, first) == pytest.approx(0, abs=3e-4)


def score(subtask, truth, run):
    answers = Annotations(
        subtask, {identity: [result] for identity, result in run.items()}
    )
    return score_annotation(Annotations(subtask, truth), answers)[0]


def test_summary_of_selections():
    scores = score(Subtask.SELECTION, {"a": [(0, 1), (0,)], "b": [(2,)]}, {"a": (0, 2)})
    assert list(scores.values()) == pytest.approx([0.3, 0.25, 0.375])


def test_recall_and_success_differ_with_several_correct_pictures():
    scores = score(
        Subtask.ILLUSTRATION, {"a": [("w", "x")], "b": [("y",)]}, {"a": ("z", "x")}
    )
    assert (scores["recall-at-1"], scores["success-at-1"]) == (0, 0)
    assert (scores["recall-at-5"], scores["success-at-5"]) == (0.25, 0.5)


def test_summary_of_locations():
    truth = {"a": [(0, 0)], "b": [(5, 5)], "c": [(0, 0)]}
    scores = score(Subtask.LOCATION, truth, {"a": (0, 90), "c": (0, 0)})
    half = math.pi * 6137
    assert list(scores.values()) == pytest.approx([half / 2, half / 2, 0, half])


def test_meteor():
    # One call only, because the program takes many seconds to start.
    pytest.importorskip("pycocoevalcap")
    if shutil.which("java") is None:
        pytest.skip("METEOR needs Java")
    references = {p: ["Two boys play with a dog.", "Boys ||| and a dog"] for p in "abc"}
    captions = {
        "b": "Two boys are playing with a dog.",
        "c": "A tree.",
        "a": "Two boys play with a dog.",
    }
    scores = meteor_scores(captions, references)
    assert list(scores) == ["b", "c", "a"]
    assert 1 >= scores["a"] > scores["b"] > scores["c"] >= 0
