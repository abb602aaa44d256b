"""Cross-validated figures of recipes as rows of a Markdown table, one for each type."""

import sys
import time
from collections.abc import Mapping, Sequence

from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.learning.held_out import FIGURES
from leafid.model.crossvalidation import N_FOLDS, FoldAnswers, cross_validate, cross_validated_scores
from leafid.pictures import AcquisitionType, Picture
from leafid.pictures.protocols import make_fold_splits
from leafid.report.crossvalidation import format_score_cells

HEAD = f"| type | what | {' | '.join(FIGURES)} | pictures |\n|---|---|{'---|' * (len(FIGURES) + 1)}"


def print_rows(
    what: str,
    recipes: Mapping[AcquisitionType, Recipe],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    repeats: int = 1,
) -> None:
    """Cross-validate recipes, with codebooks shared by the folds; print a row for each, and the time to stderr."""
    started = time.monotonic()
    seeds = range(repeats)
    found = list(
        cross_validate(pictures, recipes, loader, make_fold_splits(pictures, N_FOLDS, seeds), shared_codebooks=True)
    )
    for type_ in recipes:
        own = format_cells([answers for answers in found if answers.type == type_])
        print(f"| {type_} | {what} | {' | '.join(own)} |", flush=True)
    print(f"{what}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def format_cells(answers: Sequence[FoldAnswers]) -> list[str]:
    """Format each figure (mean over the seeds, spread over the folds), and the number of pictures."""
    scores = cross_validated_scores(answers)
    return [*format_score_cells(scores), f"{scores['repeats'][0]['pictures']:.0f}"]
