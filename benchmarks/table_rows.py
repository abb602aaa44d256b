"""Cross-validated figures of recipes as rows of a Markdown table, one for each type."""

import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np

from leafid.collection import AcquisitionType, Picture
from leafid.evaluation.held_out import held_out_scores
from leafid.learning.crossvalidation import FoldAnswers, cross_validate
from leafid.learning.descriptions import Descriptions
from leafid.learning.recipe import Recipe

N_FOLDS = 5
FIGURES = ("S", "top1", "top5", "per_plant")
HEAD = f"| type | what | {' | '.join(FIGURES)} | pictures |\n|---|---|{'---|' * (len(FIGURES) + 1)}"


def print_rows(
    what: str,
    recipes: Mapping[AcquisitionType, Recipe],
    pictures: Sequence[Picture],
    descriptions: Descriptions,
    repeats: int = 1,
) -> None:
    """Cross-validate recipes, with codebooks that the folds share, and print a row for each; the time to stderr."""
    started = time.monotonic()
    seeds = range(repeats)
    found = list(cross_validate(pictures, recipes, descriptions, N_FOLDS, seeds, shared_codebooks=True))
    for type_ in recipes:
        own = cells([one for one in found if one.type == type_], seeds)
        print(f"| {type_} | {what} | {' | '.join(own)} |", flush=True)
    print(f"{what}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def cells(answers: Sequence[FoldAnswers], seeds: Sequence[int]) -> list[str]:
    """Give each figure, the mean over the seeds and the spread over the folds, and how many pictures it is of."""
    by_seed = [held_out_scores([one.held_out for one in answers if one.seed == seed]) for seed in seeds]
    folds = [held_out_scores([one.held_out]) for one in answers]
    figures = [
        f"{np.mean([one[name] for one in by_seed]):.3f} ± {np.std([one[name] for one in folds if name in one]):.3f}"
        for name in FIGURES
    ]
    return [*figures, f"{by_seed[0]['pictures']:.0f}"]
