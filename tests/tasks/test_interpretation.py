from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from leafid.tasks.interpretation.metric import (
    Parameters,
    Scene,
    count_unmatched,
    score_scene,
)
from leafid.tasks.interpretation.regions import Box, BoxedObject


def literal_error(scene: Scene, threshold: float, alpha: float, distance=None) -> float:
    """Compute the four steps on lists of lists; fill the compensation cell by cell."""
    rows, cols = scene.common.shape
    match = [[0] * cols for _ in range(rows)]
    score = [[None] * cols for _ in range(rows)]
    for u, v in product(range(rows), range(cols)):
        common, a, b = scene.common[u][v], scene.true_areas[u], scene.areas[v]
        if common / (a + b - common) > threshold:
            s_loc = min((a - common) / a, (b - common) / b)
            same = scene.true_names[u] == scene.names[v]
            far = (
                distance(scene.true_names[u], scene.names[v])
                if distance
                else float(not same)
            )
            mu = scene.confidences[v]
            match[u][v] = 1
            score[u][v] = alpha * s_loc + (1 - alpha) * far * (
                (1 - mu) / 2 if same else (1 + mu) / 2
            )

    def free_column():
        return next(
            (
                v
                for v in range(len(match[0]) if match else 0)
                if not any(row[v] for row in match)
            ),
            None,
        )

    for u in range(rows):
        if not any(match[u]):
            v = free_column()
            if v is None:
                for r in range(rows):
                    match[r].append(0)
                    score[r].append(None)
                v = len(match[u]) - 1
            match[u][v], score[u][v] = 1, 1.0
    extra = [] if rows else [1.0] * cols
    while rows and (v := free_column()) is not None:
        match.append([0] * len(match[0]))
        score.append([None] * len(match[0]))
        match[-1][v], score[-1][v] = 1, 1.0
    listed = [value for row in score for value in row if value is not None] + extra
    return sum(listed) / len(listed) if listed else float("nan")


def make_scene(seed: int, truths: int, results: int) -> Scene:
    generator = np.random.default_rng(seed)

    def draw_objects(count):
        return [
            BoxedObject(
                str(generator.choice(["oak", "maple", "ash"])),
                Box(*generator.integers(0, 12, 2), *generator.integers(4, 12, 2)),
                float(generator.choice([0.0, 0.5, 1.0])),
            )
            for _ in range(count)
        ]

    return Scene.from_objects(draw_objects(truths), draw_objects(results))


SCENES = [
    make_scene(seed, truths, results)
    for seed, (truths, results) in enumerate([*product(range(6), repeat=2)])
]


def permute(scene: Scene, rows, cols) -> Scene:
    return Scene(
        scene.common[np.ix_(rows, cols)],
        scene.true_areas[rows],
        scene.areas[cols],
        [scene.true_names[u] for u in rows],
        [scene.names[v] for v in cols],
        scene.confidences[cols],
    )


def make_worked_example() -> Scene:
    """Make the scene of section 2.5: seven objects, four found.

    Areas give its overlaps and errors.

    The document only says that the localisation errors of two persons are below 0.01;
    0.007 is assumed.
    """
    common = np.zeros((7, 4))
    true_areas, areas = np.ones(7), np.ones(4)

    def pair(u, v, overlap, s_loc, area):
        common[u, v] = area / (1 / overlap + 1 - 1 / (1 - s_loc))
        true_areas[u] = common[u, v] / (1 - s_loc)
        areas[v] = area

    pair(0, 3, 0.6, 0.065, 3000.0)  # a person by himself
    pair(4, 0, 0.941, 0.024, 80000.0)  # the bus, taken for a lorry
    pair(5, 1, 0.9, 0.017, 50000.0)  # the aeroplane
    pair(1, 2, 0.186, 0.007, 9000.0)  # three persons found as one
    pair(2, 2, 0.235, 0.007, 9000.0)
    pair(3, 2, 0.242, 0.007, 9000.0)
    names = ["person"] * 4 + ["bus", "aeroplane", "car"]
    return Scene(
        common,
        true_areas,
        areas,
        names,
        ["lorry", "aeroplane", "person", "person"],
        np.ones(4),
    )


def test_the_worked_example():
    scene = make_worked_example()
    assert scene.overlap[[1, 2, 3, 4], [2, 2, 2, 0]] == pytest.approx(
        [0.186, 0.235, 0.242, 0.941]
    )
    error, matches = score_scene(scene)
    assert np.argwhere(matches).tolist() == [
        [0, 3],
        [2, 2],
        [3, 2],
        [4, 0],
        [5, 1],
    ]
    # The true objects 1 and 6 are missed.
    assert count_unmatched(matches) == (2, 0)
    # The document gives three digits. The missing objects contribute 2/7, the found
    # ones the rest.
    assert error == pytest.approx(0.328, abs=5e-4)
    assert error - 2 / 7 == pytest.approx(0.043, abs=1e-3)


def measure_distance(true_name, name):
    return abs(len(true_name) - len(name)) / 4


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(),
        Parameters(threshold=0.0, alpha=0.3),
        Parameters(threshold=0.5, distance=measure_distance),
    ],
)
def test_error_equals_the_literal_version(parameters):
    for scene in SCENES:
        error = literal_error(
            scene, parameters.threshold, parameters.alpha, parameters.distance
        )
        # The same terms, summed exactly in the one and term by term in the other.
        assert score_scene(scene, parameters)[0] == pytest.approx(
            error, abs=1e-12, nan_ok=True
        )


@pytest.mark.parametrize("matching", ["multiple", "one-to-one"])
def test_order_of_objects_does_not_matter(matching):
    parameters, generator = Parameters(matching=matching), np.random.default_rng(0)
    for scene in SCENES:
        rows, cols = (
            generator.permutation(len(scene.true_areas)),
            generator.permutation(len(scene.areas)),
        )
        # Ties of overlaps and of local errors alike leave the sum the same, up to their
        # rounding.
        expected = pytest.approx(
            score_scene(scene, parameters)[0], abs=1e-8, nan_ok=True
        )
        assert score_scene(permute(scene, rows, cols), parameters)[0] == expected


def test_symmetric_in_truth_and_result():
    for scene in SCENES:
        sure = replace(scene, confidences=np.ones(len(scene.names)))
        swapped = Scene(
            sure.common.T,
            sure.areas,
            sure.true_areas,
            sure.names,
            sure.true_names,
            np.ones(len(sure.true_names)),
        )
        assert score_scene(swapped)[0] == pytest.approx(
            score_scene(sure)[0], abs=1e-12, nan_ok=True
        )


@pytest.mark.parametrize("matching", ["multiple", "one-to-one"])
def test_a_perfect_result_has_error_0(matching):
    # Side by side, so that no object overlaps with another.
    objects = [
        BoxedObject("oak", Box(20 * i, 0, 3 * i + 1, 19 - 3 * i)) for i in range(6)
    ]
    assert (
        score_scene(
            Scene.from_objects(objects, objects), Parameters(matching=matching)
        )[0]
        == 0
    )
