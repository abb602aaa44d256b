"""How often intervals hold the true score, in simulated runs whose score is known.

    python -m benchmarks.coverage
    python -m benchmarks.coverage --repetitions 1000 --plants 30

Prints, as Markdown, the share of 95 % intervals that hold the true score (the score of
20,000 plants): of leafid's intervals, then of the bootstrap with corrected bias and
acceleration (BCa) [1]_, also for scores that have no interval in leafid. The last table
is of leafid's intervals of the difference of two runs: the second one gives the first
one's answers to most plants, and is worse on the others. It takes some minutes.

Plants have 1 to 24 pictures, whose first answers tend to be correct or wrong together:
half of the variance is between plants. Half of the plants are by one of four authors, a
tenth by another. There are six species, some more difficult, and a plant that isn't
recognised is taken for the same species in each picture.

References
----------
.. [1] B. Efron, "Better bootstrap confidence intervals", JASA 82, 1987.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import norm
from tabulate import tabulate

from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import find_metric
from leafid.scoring.resampling import Bootstrap, Statistics, bootstrap_scores
from leafid.scoring.score_table import compute_statistics

PLANTS = (12, 30, 100, 200)
#: The mean shares of correct first answers.
ACCURACIES = (0.6, 0.9, 0.98)
METRICS = (
    "S",
    "per-plant",
    "top-1",
    "top-5",
    "mrr",
    "balanced-accuracy",
    "log-loss",
    "brier",
)
WITHOUT_INTERVALS = ("precision", "macro-f1", "weighted-f1", "kappa", "mcc")
CONFIDENCE = 0.95
_POPULATION = 20_000
_RESAMPLES = 1000
_SHARES_OF_AUTHORS = (0.5, 0.25, 0.15, 0.1)
_SPECIES = 6
# How many times as many wrong answers as on average a species gets.
_DIFFICULTY = (0.4, 0.6, 0.8, 1.0, 1.4, 1.8)
# Correlation of the first answers to two pictures of a plant.
_CORRELATION = 0.5
# The share of plants that two runs give the same answers for, and by how much fewer of
# the second run's other answers are correct.
_AGREEMENT = 0.7
_DECREASE = 0.1

Floats = NDArray[np.float64]
#: The ends of the interval of a score.
Interval = Callable[[Statistics, int], tuple[float, float]]


def simulate_run(
    n_plants: int, accuracy: float, random: Generator, answers: Generator | None = None
) -> JudgedRun:
    """Simulate a run on pictures of some plants, drawn from all authors and species.

    Where there are two generators, the first one draws the pictures, the second one the
    answers.
    """
    answers = answers or random
    author = np.searchsorted(
        np.cumsum(_SHARES_OF_AUTHORS), (np.arange(n_plants) + 0.5) / n_plants
    )
    species = random.permutation(np.arange(n_plants) % _SPECIES)
    mean = 1 - (1 - accuracy) * np.array(_DIFFICULTY)[species]
    size = 1 / _CORRELATION - 1
    share = answers.beta(mean * size, (1 - mean) * size)
    similar = (species + answers.integers(1, _SPECIES, n_plants)) % _SPECIES
    plant = np.repeat(np.arange(n_plants), random.geometric(0.2, n_plants).clip(1, 24))
    n = len(plant)
    is_correct = answers.random(n) < share[plant]
    probability = np.where(
        is_correct, answers.uniform(0.5, 1, n), 0.4 * answers.random(n)
    )
    return JudgedRun(
        name="run",
        rank=np.where(is_correct, 1, answers.choice([2, 3, 8, 0], n)).astype(np.int32),
        size=np.full(n, _SPECIES),
        label=species[plant],
        first=np.where(is_correct, species[plant], similar[plant]),
        answer=np.full(n, "species", object),
        first_score=np.maximum(probability, 1 - probability),
        probability=probability,
        squares=probability**2 + (1 - probability) ** 2,
        genus_correct=is_correct,
        family_correct=is_correct,
        is_known=np.ones(n, bool),
        author=author[plant],
        official_plant=plant,
        plant=plant,
    )


def simulate_pair(
    n_plants: int, accuracy: float, seed: int
) -> tuple[JudgedRun, JudgedRun]:
    """Simulate two runs on the same pictures, of which the second one is worse."""
    random = np.random.default_rng([seed, 1])
    first, second = (
        simulate_run(n_plants, share, np.random.default_rng([seed, 0]), random)
        for share in (accuracy, accuracy - _DECREASE)
    )
    is_equal = (random.random(n_plants) < _AGREEMENT)[first.plant]
    answers = {
        name: np.where(is_equal, getattr(first, name), getattr(second, name))
        for name in ("rank", "first", "first_score", "probability", "squares")
    }
    return first, replace(second, **answers)


def compute_interval(score: Statistics, seed: int) -> tuple[float, float]:
    """Compute leafid's interval."""
    [(low, high)] = bootstrap_scores([score], Bootstrap(_RESAMPLES, seed=seed))
    tail = (1 - CONFIDENCE) / 2
    return float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))


def compute_difference_interval(
    scores: Sequence[Statistics], seed: int
) -> tuple[float, float]:
    """Compute leafid's interval of the difference of two runs."""
    bootstrap = Bootstrap(_RESAMPLES, seed=seed)
    first, second = bootstrap_scores(scores, bootstrap, is_paired=True)
    low, high = first - second[::-1]
    tail = (1 - CONFIDENCE) / 2
    return float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))


def compute_bca(score: Statistics, seed: int) -> tuple[float, float]:
    """Compute the BCa interval, whose acceleration is a jackknife over plants."""
    n_plants = score.sums.shape[1]
    random = np.random.default_rng(seed)
    times = random.multinomial(n_plants, np.full(n_plants, 1 / n_plants), _RESAMPLES)
    samples = score.to_scores(score.sums @ times.T.astype(np.float64))
    value = score.compute()
    total = score.sums.sum(axis=1)[:, None]
    jackknife = score.to_scores(total - score.sums.toarray())
    influence = np.nanmean(jackknife) - jackknife
    spread = np.nansum(influence**2) ** 1.5
    acceleration = np.nansum(influence**3) / (6 * spread) if spread else 0
    below = np.mean(samples < value) / 2 + np.mean(samples <= value) / 2
    bias = norm.ppf(np.clip(below, 1 / _RESAMPLES, 1 - 1 / _RESAMPLES))
    z = bias + norm.ppf([(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    low, high = np.nanquantile(samples, norm.cdf(bias + z / (1 - acceleration * z)))
    return float(low), float(high)


@cache
def find_truth(name: str, accuracy: float) -> float:
    """Find the score on many plants."""
    run = simulate_run(_POPULATION, accuracy, np.random.default_rng(0))
    [score] = compute_statistics(find_metric(name), [[run]])
    return score.compute()


def measure_coverage(
    n_plants: int,
    accuracy: float,
    repetitions: int,
    metrics: Sequence[str] = METRICS,
    compute: Interval = compute_interval,
) -> list[float]:
    """Measure the share of each metric's intervals that hold the true score."""
    n_held = dict.fromkeys(metrics, 0)
    for seed in range(1, repetitions + 1):
        run = simulate_run(n_plants, accuracy, np.random.default_rng(seed))
        for name in metrics:
            [score] = compute_statistics(find_metric(name), [[run]])
            low, high = compute(score, seed)
            n_held[name] += low <= find_truth(name, accuracy) <= high
    return [n / repetitions for n in n_held.values()]


@cache
def find_true_difference(name: str, accuracy: float) -> float:
    """Find the difference of two runs on many plants."""
    runs = [[run] for run in simulate_pair(_POPULATION, accuracy, 0)]
    first, second = compute_statistics(find_metric(name), runs)
    return first.compute() - second.compute()


def measure_difference_coverage(
    n_plants: int,
    accuracy: float,
    repetitions: int,
    metrics: Sequence[str] = METRICS,
) -> list[float]:
    """Measure the share of intervals that hold the true difference of two runs."""
    n_held = dict.fromkeys(metrics, 0)
    for seed in range(1, repetitions + 1):
        runs = [[run] for run in simulate_pair(n_plants, accuracy, seed)]
        for name in metrics:
            scores = compute_statistics(find_metric(name), runs)
            low, high = compute_difference_interval(scores, seed)
            n_held[name] += low <= find_true_difference(name, accuracy) <= high
    return [n / repetitions for n in n_held.values()]


def _tabulate(
    plants: Sequence[int],
    metrics: Sequence[str],
    measure: Callable[[int, float], list[float]],
) -> str:
    columns = [
        [f"{share:.2f}" for share in measure(n, a)] for a in ACCURACIES for n in plants
    ]
    headings = ["score"] + [f"{a:g}: {n}" for a in ACCURACIES for n in plants]
    rows = [[name, *row] for name, *row in zip(metrics, *columns, strict=True)]
    return tabulate(rows, headings, tablefmt="github", disable_numparse=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repetitions", type=int, default=200, metavar="N")
    parser.add_argument("--plants", type=int, nargs="+", default=PLANTS, metavar="N")
    options = parser.parse_args(words)
    repetitions = options.repetitions
    of_bca = ("S", "top-1", *WITHOUT_INTERVALS)
    for title, metrics, measure in (
        ("leafid", METRICS, lambda n, a: measure_coverage(n, a, repetitions)),
        (
            "BCa",
            of_bca,
            lambda n, a: measure_coverage(n, a, repetitions, of_bca, compute_bca),
        ),
        (
            "leafid's differences",
            METRICS,
            lambda n, a: measure_difference_coverage(n, a, repetitions),
        ),
    ):
        table = _tabulate(options.plants, metrics, measure)
        print(
            f"{title} (share of correct first answers: number of plants)\n\n{table}\n"
        )


if __name__ == "__main__":
    main()
