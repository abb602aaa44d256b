"""Whether the share of rejected leaves is the same on plants that no training saw.

Neither the classifiers nor the rejection were fitted on them.

    python -m benchmarks.rejection_shares imageclef2011 [--by author] [--seed 0]

Each of five folds of plants, or of authors, is held out of a whole training. Printed
are the shares of its leaves of known species that are rejected where 5 % may be: of
leaves whose species has another plant among the training pictures of the same type, and
of all; as the mean of the plants, with a 95 % interval of the bootstrap, and of the
pictures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

import leafid
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import group_by_training, load_recipe
from leafid.learning.plant_fusion import DEFAULT_EXPONENT
from leafid.model.identifier import TypeModel
from leafid.model.model import REJECTED_SHARE
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splitting.units import split_by_plant, split_by_unit
from leafid.training.identifiers import train_identifiers
from leafid.training.training_set import build_training_set

_N_FOLDS = 5
_N_RESAMPLES = 2000


class _Judgement(NamedTuple):
    """Whether training shows another plant of the species, and the leaf is rejected."""

    plant: str
    is_seen: bool
    is_rejected: bool


def main() -> None:
    """Print a row for each acquisition type."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection")
    parser.add_argument("--by", choices=["plant", "author"], default="plant")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pictures = [
        p
        for p in leafid.read_collection(options.collection).pictures
        if p.species and p.type
    ]
    if options.by == "plant":
        folds = split_by_plant(pictures, _N_FOLDS, options.seed)
    else:
        folds = split_by_unit(pictures, "author", _N_FOLDS, options.seed)
    judged: dict[AcquisitionType, list[_Judgement]] = {}
    for type_, judgements in _judge_folds(pictures, folds, options.seed):
        judged.setdefault(type_, []).extend(judgements)
    rows = []
    for type_, judgements in sorted(judged.items()):
        seen = [judgement for judgement in judgements if judgement.is_seen]
        for name, selected in (("another plant", seen), ("all", judgements)):
            plants = np.array([judgement.plant for judgement in selected])
            is_rejected = np.array([judgement.is_rejected for judgement in selected])
            shares = np.array(
                [is_rejected[plants == plant].mean() for plant in np.unique(plants)]
            )
            samples = (
                np.random.default_rng(0)
                .choice(shares, (_N_RESAMPLES, len(shares)))
                .mean(axis=1)
            )
            low, high = np.quantile(samples, [0.025, 0.975])
            interval = f"{shares.mean():.3f} [{low:.3f}, {high:.3f}]"
            rows.append(
                [
                    type_,
                    name,
                    len(shares),
                    len(selected),
                    interval,
                    f"{is_rejected.mean():.3f}",
                ]
            )
    print(
        tabulate(
            rows,
            ["type", "species", "plants", "pictures", "mean of plants", "of pictures"],
        )
    )


def _judge_folds(
    pictures: Sequence[Picture], folds: Sequence[np.ndarray], seed: int
) -> Iterator[tuple[AcquisitionType, list[_Judgement]]]:
    """Judge the leaves of known species of each fold and type."""
    loader = FeatureLoader(FeatureCache(choose_cache_folder(), 2**33))
    recipes = {type_: load_recipe("default", type_) for type_ in AcquisitionType}
    for types in group_by_training(recipes):
        # With `rows`, kernel matrices are computed once for all folds.
        shared = replace(
            build_training_set(pictures, recipes[types[0]], loader, 0), rows={}
        )
        for fold in folds:
            training = [
                pictures[index]
                for index in np.setdiff1d(np.arange(len(pictures)), fold)
            ]
            seen = {(picture.species, picture.type) for picture in training}
            for type_, (identifier, _) in train_identifiers(
                shared, types, training, loader, seed
            ).items():
                model = TypeModel(identifier, {}, DEFAULT_EXPONENT)
                species = set(identifier.species)
                held_out = [pictures[index] for index in fold]
                queries = [
                    p for p in held_out if p.type == type_ and p.species in species
                ]
                table = list(loader.stream(queries, identifier.extractor))
                answers = [
                    model.answer(picture, features, REJECTED_SHARE, {})
                    for picture, features in zip(queries, table, strict=True)
                    if features is not None
                ]
                judgements = [
                    _Judgement(
                        answer.picture.group,
                        (answer.picture.species, type_) in seen,
                        answer.name is None,
                    )
                    for answer in answers
                ]
                rejected_share = np.mean(
                    [judgement.is_rejected for judgement in judgements]
                )
                print(type_, len(judgements), f"{rejected_share:.3f}", flush=True)
                yield type_, judgements


if __name__ == "__main__":
    main()
