import math
import shutil
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.tasks.annotation2016.files import Annotations, Concept, ScoredBox, Subtask
from leafid.tasks.annotation2016.scoring import (
    EARTH_RADIUS,
    OVERLAPS,
    concept_precisions,
    great_circle_distance,
    meteor_scores,
    score_annotation,
    selection_scores,
)
from leafid.tasks.interpretation.regions import Box


def make_concept(name, *boxes):
    return Concept(name, tuple(ScoredBox(Box(*box[:4]), *box[4:]) for box in boxes))


def literal_overlap(a, b):
    common = sum(
        a.left <= c < a.left + a.width and a.top <= r < a.top + a.height
        and b.left <= c < b.left + b.width and b.top <= r < b.top + b.height
        for c in range(30) for r in range(30)
    )  # fmt: skip
    return common / (a.area + b.area - common)


def literal_precision(truth, run, name, overlap):
    """Follow PASCAL VOC: by falling confidence, each box claims the true box that it overlaps most, if it is free."""
    true_boxes = {p: sorted(b for c in concepts if c.name == name for b, _ in c.boxes) for p, concepts in truth.items()}
    positives = sum(map(len, true_boxes.values()))
    detections = sorted(
        ((conf, p, box) for p, concepts in run.items() for c in concepts if c.name == name for box, conf in c.boxes),
        key=lambda entry: -entry[0],
    )
    taken, correct, total = set(), 0, 0.0
    for count, (_, picture, box) in enumerate(detections, start=1):
        overlaps = [literal_overlap(true, box) for true in true_boxes.get(picture, [])]
        best = max(range(len(overlaps)), key=lambda i: overlaps[i], default=None)
        if best is not None and overlaps[best] >= overlap and (picture, best) not in taken:
            taken.add((picture, best))
            correct += 1
            total += correct / count
    return total / positives


def make_collections(seed):
    """Make a small ground truth and a run whose confidences all differ."""
    generator = np.random.default_rng(seed)
    confidences = iter(generator.permutation(500) / 500)

    def make_scene(with_confidence):
        concepts = []
        for name in ("dog", "cat"):
            boxes = [
                (*map(int, generator.integers(0, 10, 2)), *map(int, generator.integers(5, 15, 2)))
                for _ in range(generator.integers(0, 4))
            ]
            if boxes:
                concepts.append(
                    make_concept(name, *[(*b, float(next(confidences))) if with_confidence else b for b in boxes])
                )
        return tuple(concepts)

    truth = {p: make_scene(False) for p in "abc"} | {
        "d": (make_concept("dog", (0, 0, 9, 9)), make_concept("cat", (0, 0, 5, 5)))
    }
    return truth, {p: make_scene(True) for p in "abcd"}


seeds = st.integers(0, 10**6)
# Each example is a whole random collection, so a few are enough.
few = settings(max_examples=25)


@few
@given(seeds, st.sampled_from([0.1, 0.3, 0.5, 0.9]))
def test_localised_precision_equals_the_literal_version(seed, overlap):
    truth, run = make_collections(seed)
    for name, values in concept_precisions(truth, run).items():
        assert values[OVERLAPS.index(overlap)] == pytest.approx(literal_precision(truth, run, name, overlap), abs=1e-12)


@few
@given(seeds, st.randoms(use_true_random=False))
def test_order_does_not_matter_even_with_equal_confidences(seed, random):
    truth, run = make_collections(seed)
    tied = {
        p: [c._replace(boxes=tuple(ScoredBox(b, round(conf, 1)) for b, conf in c.boxes)) for c in concepts]
        for p, concepts in run.items()
    }
    expected = concept_precisions(truth, tied)
    mixed = {}
    for picture in random.sample(sorted(tied), len(tied)):
        concepts = [c._replace(boxes=tuple(random.sample(c.boxes, len(c.boxes)))) for c in tied[picture]]
        mixed[picture] = random.sample(concepts, len(concepts))
    assert concept_precisions(dict(reversed(truth.items())), mixed) == expected


def test_known_precisions():
    truth = {
        "a": [make_concept("dog", (0, 0, 10, 10))],
        "b": [make_concept("dog", (0, 0, 10, 10))],
        "c": [make_concept("cat", (0, 0, 5, 5))],
    }
    run = {
        "a": [make_concept("dog", (0, 0, 10, 10, 0.9), (0, 0, 10, 9, 0.8))],  # the second box shows the same dog
        "b": [make_concept("dog", (5, 0, 10, 10, 0.7))],  # overlap 1/3
        "c": [make_concept("dog", (0, 0, 5, 5, 0.6))],
        "unknown": [make_concept("dog", (0, 0, 5, 5, 0.99))],
    }
    precisions = concept_precisions(truth, run)
    assert precisions["cat"] == [0] * len(OVERLAPS)
    assert [precisions["dog"][index] for index in (0, 3, 5)] == [1, pytest.approx((1 + 2 / 3) / 2), 0.5]


sets = st.sets(st.integers(0, 9), min_size=1)


@given(st.lists(sets, min_size=1, max_size=5), st.sets(st.integers(0, 9)), st.randoms(use_true_random=False))
def test_selection_scores_equal_the_literal_version(truth, selected, random):
    f1, precision, recall = selection_scores(truth, selected)
    expected_precision = statistics.mean(len(g & selected) / len(selected) for g in truth) if selected else 0
    expected_recall = statistics.mean(len(g & selected) / len(g) for g in truth)
    assert precision == pytest.approx(expected_precision)
    assert recall == pytest.approx(expected_recall)
    if precision + recall:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert 0 <= min(f1, precision, recall) <= max(f1, precision, recall) <= 1
    assert selection_scores(random.sample(truth, len(truth)), selected) == (f1, precision, recall)


points = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@given(points, points)
def test_distance_equals_the_angle_between_vectors(first, second):
    def make_vector(place):
        lat, lon = np.radians(place)
        return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])

    a, b = make_vector(first), make_vector(second)
    angle = math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    # Where arccos is steepest, the last bit of a cosine of 1 is worth 1.5e-8 of the radius: some 0.1 m.
    assert great_circle_distance(first, second) == pytest.approx(EARTH_RADIUS * angle, abs=3e-4)
    assert great_circle_distance(first, second) == pytest.approx(great_circle_distance(second, first), abs=3e-4)


def test_known_distances():
    assert EARTH_RADIUS == 6137
    assert great_circle_distance((0, 0), (0, 180)) == pytest.approx(math.pi * 6137)
    # As above: the last bit of a cosine of 1.
    assert great_circle_distance((51.5, -6.2), (51.5, -6.2)) == pytest.approx(0, abs=3e-4)
    assert great_circle_distance((0, 10), (0, 11), radius=360 / math.tau) == pytest.approx(1)
    steps = [great_circle_distance((48, 2), (48, 2 + step)) for step in range(1, 90)]
    assert steps == sorted(steps)


def score(subtask, truth, run, **options):
    answers = Annotations(subtask, {identity: [result] for identity, result in run.items()})
    return score_annotation(Annotations(subtask, truth), answers, **options)[0]


def test_summary_of_selections():
    scores = score(Subtask.SELECTION, {"a": [(0, 1), (0,)], "b": [(2,)]}, {"a": (0, 2)})
    assert list(scores.values()) == pytest.approx([0.3, 0.25, 0.375])


def test_recall_and_success_differ_with_several_correct_pictures():
    scores = score(Subtask.ILLUSTRATION, {"a": [("w", "x")], "b": [("y",)]}, {"a": ("z", "x")}, ranks=(2,))
    assert scores == {"recall-at-2": 0.25, "success-at-2": 0.5}


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
    captions = {"b": "Two boys are playing with a dog.", "c": "A tree.", "a": "Two boys play with a dog."}
    scores = meteor_scores(captions, references)
    assert list(scores) == ["b", "c", "a"]
    assert 1 >= scores["a"] > scores["b"] > scores["c"] >= 0
