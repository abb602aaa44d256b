"""The cost and the scores of classifiers of scikit-learn in the experts of a recipe.

    python -m benchmarks.classifiers imageclef2011

Trains the experts of the recipe `small` for scans, without jittered copies, on the same
rows, weights and folds with each classifier, fuses them, and prints S, top-1 and
log-loss of the pictures of held-out plants (five folds, one seed), and the seconds of
the six fits, on one thread.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from threadpoolctl import threadpool_limits

from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import load_recipe
from leafid.model.held_out import held_out_scores
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.training.folds import FoldPlan
from leafid.training.fusing import fuse_experts, select_scores
from leafid.training.identifiers import train_expert
from leafid.training.training_set import build_training_set

#: By the name in the table: classifiers and their parameters, for all experts; None
#: takes the classifiers of the recipe.
CLASSIFIERS: dict[str, tuple[str, dict[str, object]] | None] = {
    "the recipe's": None,
    "ridge": ("ridge", {}),
    "RidgeClassifier": ("sklearn.linear_model.RidgeClassifier", {"alpha": 0.1}),
    "LogisticRegression": (
        "sklearn.linear_model.LogisticRegression",
        {"C": 10.0, "max_iter": 500},
    ),
    "LinearSVC": ("sklearn.svm.LinearSVC", {"C": 1.0}),
    "LDA": (
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        {"solver": "lsqr", "shrinkage": 0.1},
    ),
    "RandomForestClassifier": (
        "sklearn.ensemble.RandomForestClassifier",
        {"n_estimators": 100},
    ),
    "SVC, RBF": ("sklearn.svm.SVC", {"C": 10.0}),
}


def main() -> None:
    """Print the table, a row as soon as its classifier is done."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path)
    parser.add_argument(
        "--only", nargs="*", choices=[*CLASSIFIERS], help="some of the classifiers"
    )
    options = parser.parse_args()
    type_ = AcquisitionType.SCAN
    recipe = replace(
        load_recipe("small", type_), types=(type_,), training_types=(type_,), jittered=0
    )
    pictures = read_collection(options.collection).select_labelled().pictures
    loader = FeatureLoader(cache=FeatureCache(choose_cache_folder()))
    training_set = build_training_set(pictures, recipe, loader)
    print("classifier", "S", "top-1", "log-loss", "seconds", sep="\t")
    for name in options.only or CLASSIFIERS:
        experts = dict(recipe.experts)
        if classifier := CLASSIFIERS[name]:
            changes = {"classifier": classifier[0], "classifier_options": classifier[1]}
            experts = {
                expert: replace(settings, **changes)
                for expert, settings in experts.items()
            }
        plan = FoldPlan(
            dataclasses.replace(training_set, recipe=replace(recipe, experts=experts)),
            [type_],
            np.arange(len(training_set.pictures)),
            seed=0,
            learn_rejection=False,
        )
        start = time.perf_counter()
        with threadpool_limits(1):
            fitted = {
                expert: train_expert(plan, expert, keep_statistics=False)
                for expert in experts
            }
        seconds = time.perf_counter() - start
        selected = select_scores(plan, type_, fitted)
        _, answers = fuse_experts(plan, type_, fitted, selected)
        known, scores = answers.select_known(), held_out_scores([answers])
        probabilities = known.probabilities[np.arange(len(known.labels)), known.labels]
        row = [
            name,
            scores["S"],
            scores["top-1"],
            -np.log(np.maximum(probabilities, 1e-15)).mean(),
            seconds,
        ]
        print(
            *(value if isinstance(value, str) else f"{value:.3f}" for value in row),
            sep="\t",
            flush=True,
        )


if __name__ == "__main__":
    main()
