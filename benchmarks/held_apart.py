"""Scores with authors, days or places held apart, beside scores with only plants held apart.

Pictures of one author, day or place share camera, light and background: a classifier may learn the session instead of
the leaf. Three trainings answer the same test pictures:

apart     the training pictures have neither the author (day, place) nor the plant of a test picture
matched   half of the author's (day's, place's) plants stay in the training part, which is then thinned at random to as
          many pictures of each type as in `apart`: the loss from here to `apart` is the effect of the session
by plant  five folds of plants, like the other figures of docs/results.md

Only pictures whose species has a picture of their type in all three training parts are scored. Codebooks are shared.
Prints Markdown tables for docs/results.md.

    python -m benchmarks.held_apart COLLECTION --type photo [--recipe default] [--by author day place] [--jobs 2]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from leafid.classifiers.held_out import FIGURES, HeldOutAnswers, held_out_scores
from leafid.collection import AcquisitionType, Picture, read_collection, split_by_plant
from leafid.collection.geography import label_places
from leafid.features.cache import FeatureCache, choose_cache_folder
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.identification.crossvalidation import N_FOLDS
from leafid.identification.fitting import fit_identifiers, select_trainable
from leafid.recipes.reader import load_recipe
from leafid.recipes.recipe import Recipe

# The scores that need no picture's author.
NAMES = FIGURES[1:]


@dataclass
class AnswerTable:
    """Probabilities and their species by picture, for pictures whose species was trained on."""

    by_file: dict[Path, tuple[np.ndarray, tuple[str, ...]]] = field(default_factory=dict)

    def compute_scores(self, pictures: Sequence[Picture]) -> dict[str, float]:
        """Score some of the pictures."""
        answers = []
        for picture in pictures:
            probabilities, species = self.by_file[picture.file]
            answers.append(HeldOutAnswers([picture], probabilities[None], species, np.ones(1, bool)))
        return held_out_scores(answers)


class Trainer:
    """Trains on parts of a collection, with codebooks learned once from all of it."""

    def __init__(self, pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader) -> None:
        self.pictures = select_trainable(pictures, recipe)
        self.recipe = recipe
        self.loader = loader
        self.encoders = learn_encoders(self.pictures, recipe, loader, 0)

    def answer(self, training: Sequence[Picture], held_out: Sequence[Picture], answers: AnswerTable) -> None:
        """Train, and add the answers to held-out pictures whose species was trained on."""
        known = {picture.species for picture in training if picture.type == self.recipe.type}
        held_out = [picture for picture in held_out if picture.species in known]
        if held_out:
            [(identifier, _)] = fit_identifiers(
                [self.recipe], training, self.loader, encoders=self.encoders, learn_rejection=False
            )
            loaded = zip(held_out, self.loader.load(held_out, identifier.extractor), strict=True)
            found = [(picture, features) for picture, features in loaded if features is not None]
            probabilities = identifier.predict_proba([features for _, features in found])
            for (picture, _), row in zip(found, probabilities, strict=True):
                answers.by_file[picture.file] = (row, identifier.species)


def group_pictures(pictures: Sequence[Picture], what: str) -> list[Hashable]:
    """Return the author, day or place of each picture; all unknown values form one group."""
    if what == "place":
        return [int(label) for label in label_places(pictures)]
    return [picture.author if what == "author" else picture.date for picture in pictures]


def make_group_folds(groups: Sequence[Hashable], n_folds: int) -> list[set[Hashable]]:
    """Assign groups to folds: the largest group first, each to the fold with the fewest pictures."""
    sizes = {group: groups.count(group) for group in groups}
    folds: list[set[Hashable]] = [set() for _ in range(min(n_folds, len(sizes)))]
    filled = [0] * len(folds)
    for group in sorted(sizes, key=lambda group: (-sizes[group], str(group))):
        fold = filled.index(min(filled))
        folds[fold].add(group)
        filled[fold] += sizes[group]
    return folds


def thin_out(pictures: Sequence[Picture], like: Sequence[Picture], random: np.random.Generator) -> list[Picture]:
    """Draw as many pictures of each type as `like` has."""
    kept: list[Picture] = []
    for type_ in AcquisitionType:
        own = [picture for picture in pictures if picture.type == type_]
        number = min(len(own), sum(picture.type == type_ for picture in like))
        kept += [own[index] for index in np.sort(random.permutation(len(own))[:number])]
    return kept


def exclude_plants(pictures: Sequence[Picture], held_out: Sequence[Picture]) -> list[Picture]:
    """Return the pictures that share no plant with the held-out ones."""
    plants = {picture.group for picture in held_out}
    return [picture for picture in pictures if picture.group not in plants]


def evaluate_by_plant(trainer: Trainer) -> AnswerTable:
    """Answer every picture of the recipe's type by folds of plants."""
    answers = AnswerTable()
    for fold in split_by_plant(trainer.pictures, N_FOLDS, 0):
        held_out = [trainer.pictures[index] for index in fold]
        own = [picture for picture in held_out if picture.type == trainer.recipe.type]
        trainer.answer(exclude_plants(trainer.pictures, held_out), own, answers)
    return answers


def evaluate_groups_apart(trainer: Trainer, what: str) -> tuple[AnswerTable, AnswerTable, int]:
    """Answer with authors, days or places held apart, and with as many training pictures, only plants held apart."""
    groups = group_pictures(trainer.pictures, what)
    own_groups = [group for group, p in zip(groups, trainer.pictures, strict=True) if p.type == trainer.recipe.type]
    apart, matched = AnswerTable(), AnswerTable()
    random = np.random.default_rng(0)
    for fold in make_group_folds(own_groups, N_FOLDS):
        pairs = list(zip(groups, trainer.pictures, strict=True))
        held_out = [p for group, p in pairs if group in fold and p.type == trainer.recipe.type]
        training = exclude_plants([p for group, p in pairs if group not in fold], held_out)
        if not any(picture.type == trainer.recipe.type for picture in training):
            continue
        trainer.answer(training, held_out, apart)
        for half in split_in_halves(held_out):
            trainer.answer(thin_out(exclude_plants(trainer.pictures, half), training, random), half, matched)
    return apart, matched, len(set(own_groups))


def split_in_halves(pictures: Sequence[Picture]) -> Iterator[list[Picture]]:
    """Split pictures into two halves by plant, species by species; the pictures of a single plant stay together."""
    n_plants = len({picture.group for picture in pictures})
    for half in split_by_plant(pictures, 2, 0) if n_plants > 1 else [np.arange(len(pictures))]:
        yield [pictures[index] for index in half.tolist()]


def format_row(label: str, scores: dict[str, float]) -> str:
    return f"| {label} | " + " | ".join(f"{scores[name]:.3f}" for name in NAMES) + f" | {scores['pictures']:.0f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--type", required=True, choices=list(map(str, AcquisitionType)))
    parser.add_argument("--by", nargs="+", choices=["author", "day", "place"], default=["author", "day", "place"])
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", default=str(choose_cache_folder()))
    arguments = parser.parse_args()
    recipe = load_recipe(arguments.recipe, AcquisitionType(arguments.type))
    pictures = read_collection(arguments.collection).select_labelled().pictures
    trainer = Trainer(pictures, recipe, FeatureLoader(FeatureCache(arguments.cache), arguments.jobs))
    own = [picture for picture in trainer.pictures if picture.type == recipe.type]
    plants_apart = evaluate_by_plant(trainer)
    head = f" | {' | '.join(NAMES)} | pictures |\n|---|{'---|' * (len(NAMES) + 1)}"
    print(f"| {recipe.type}{head}", flush=True)
    for what in arguments.by:
        apart, matched, n_groups = evaluate_groups_apart(trainer, what)
        parts = (apart, matched, plants_apart)
        same = [picture for picture in own if all(picture.file in part.by_file for part in parts)]
        if not same:
            print(f"by {what}: no picture has its species in every training part", file=sys.stderr)
            continue
        print(format_row(f"{what}s apart ({n_groups})", apart.compute_scores(same)))
        print(format_row("… as many pictures, plants apart", matched.compute_scores(same)))
        print(format_row("… all pictures, plants apart", plants_apart.compute_scores(same)), flush=True)
    print(f"\n| {recipe.type}, by what it shows{head}")
    for content in sorted({picture.content for picture in own if picture.content}):
        chosen = [p for p in own if p.content == content and p.file in plants_apart.by_file]
        if chosen:
            print(format_row(str(content), plants_apart.compute_scores(chosen)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
