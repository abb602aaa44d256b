"""Is it the leaf that is learned, or the session? Scores with authors, days or places held apart, beside plants alone.

Pictures of one author, day or place share camera, light and background. Three trainings answer the same test pictures:

apart     no picture of the test picture's author (day, place), of whatever type, nor of its plant was trained on
matched   half of the author's (day's, place's) plants stay in the training part, which is then thinned at random to as
          many pictures of each type as `apart` has: what is lost from here to `apart` is what the session told
by plant  five folds of plants: what the other figures of docs/results.md are

Only pictures are scored whose species has a picture of their type in all three training parts. Codebooks are shared.
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

from leafid.classifiers.held_out import FIGURES_WITHOUT_AUTHORS as FIGURES
from leafid.classifiers.held_out import HeldOutAnswers, held_out_scores
from leafid.collection import AcquisitionType, Picture, read_collection, split_by_plant
from leafid.collection.geography import label_places
from leafid.features.cache import FeatureCache, choose_cache_folder
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.identification.crossvalidation import N_FOLDS
from leafid.identification.fitting import fit_identifiers, select_trainable
from leafid.recipes.reader import load_recipe
from leafid.recipes.recipe import Recipe


@dataclass
class Answered:
    """What trainings said: by picture, the probabilities with their species, where its species was trained on."""

    by_file: dict[Path, tuple[np.ndarray, tuple[str, ...]]] = field(default_factory=dict)

    def scores(self, pictures: Sequence[Picture]) -> dict[str, float]:
        """Score some of the pictures."""
        answers = []
        for picture in pictures:
            probabilities, species = self.by_file[picture.file]
            answers.append(HeldOutAnswers([picture], probabilities[None], species, np.ones(1, bool)))
        return held_out_scores(answers)


class Trainer:
    """Trains on parts of a collection, and answers, with codebooks learned once of all of it."""

    def __init__(self, pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader) -> None:
        self.pictures = select_trainable(pictures, recipe)
        self.recipe = recipe
        self.loader = loader
        self.encoders = learn_encoders(self.pictures, recipe, loader, 0)

    def answer(self, training: Sequence[Picture], asked: Sequence[Picture], answered: Answered) -> None:
        """Train, and note the answers to the pictures that can be right."""
        known = {picture.species for picture in training if picture.type == self.recipe.type}
        asked = [picture for picture in asked if picture.species in known]
        if asked:
            [(identifier, _)] = fit_identifiers([self.recipe], training, self.loader, encoders=self.encoders)
            described = self.loader.load(asked, identifier.extractor)
            found = [(picture, one) for picture, one in zip(asked, described, strict=True) if one is not None]
            probabilities = identifier.predict_proba([one for _, one in found])
            for (picture, _), row in zip(found, probabilities, strict=True):
                answered.by_file[picture.file] = (row, identifier.species)


def groups_of(pictures: Sequence[Picture], what: str) -> list[Hashable]:
    """Tell each picture's author, day or place; what isn't known counts as one."""
    if what == "place":
        return [int(label) for label in label_places(pictures)]
    return [picture.author if what == "author" else picture.date for picture in pictures]


def group_folds(groups: Sequence[Hashable], n_folds: int) -> list[set[Hashable]]:
    """Deal groups out, the largest first, each to the fold that has the fewest pictures so far."""
    sizes = {group: groups.count(group) for group in groups}
    folds: list[set[Hashable]] = [set() for _ in range(min(n_folds, len(sizes)))]
    filled = [0] * len(folds)
    for group in sorted(sizes, key=lambda group: (-sizes[group], str(group))):
        fold = filled.index(min(filled))
        folds[fold].add(group)
        filled[fold] += sizes[group]
    return folds


def thinned(pictures: Sequence[Picture], like: Sequence[Picture], random: np.random.Generator) -> list[Picture]:
    """Draw as many pictures of each type as others are."""
    kept: list[Picture] = []
    for type_ in AcquisitionType:
        own = [picture for picture in pictures if picture.type == type_]
        number = min(len(own), sum(picture.type == type_ for picture in like))
        kept += [own[index] for index in np.sort(random.permutation(len(own))[:number])]
    return kept


def without_plants(pictures: Sequence[Picture], asked: Sequence[Picture]) -> list[Picture]:
    """Leave the plants of the asked pictures out."""
    plants = {picture.group for picture in asked}
    return [picture for picture in pictures if picture.group not in plants]


def by_plant(trainer: Trainer) -> Answered:
    """Answer every picture of the recipe's type by folds of plants."""
    answered = Answered()
    for fold in split_by_plant(trainer.pictures, N_FOLDS, 0):
        asked = [trainer.pictures[index] for index in fold]
        own = [picture for picture in asked if picture.type == trainer.recipe.type]
        trainer.answer(without_plants(trainer.pictures, asked), own, answered)
    return answered


def held_apart(trainer: Trainer, what: str) -> tuple[Answered, Answered, int]:
    """Answer with authors, days or places held apart, and with as many pictures but the plants alone apart."""
    groups = groups_of(trainer.pictures, what)
    own_groups = [group for group, p in zip(groups, trainer.pictures, strict=True) if p.type == trainer.recipe.type]
    apart, matched = Answered(), Answered()
    random = np.random.default_rng(0)
    for fold in group_folds(own_groups, N_FOLDS):
        pairs = list(zip(groups, trainer.pictures, strict=True))
        asked = [p for group, p in pairs if group in fold and p.type == trainer.recipe.type]
        training = without_plants([p for group, p in pairs if group not in fold], asked)
        if not any(picture.type == trainer.recipe.type for picture in training):
            continue
        trainer.answer(training, asked, apart)
        for half in halves(asked):
            trainer.answer(thinned(without_plants(trainer.pictures, half), training, random), half, matched)
    return apart, matched, len(set(own_groups))


def halves(pictures: Sequence[Picture]) -> Iterator[list[Picture]]:
    """Part pictures into two halves of the plants, species by species; of one plant: itself."""
    n_plants = len({picture.group for picture in pictures})
    for half in split_by_plant(pictures, 2, 0) if n_plants > 1 else [np.arange(len(pictures))]:
        yield [pictures[index] for index in half.tolist()]


def row(label: str, scores: dict[str, float]) -> str:
    return f"| {label} | " + " | ".join(f"{scores[name]:.3f}" for name in FIGURES) + f" | {scores['pictures']:.0f} |"


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
    plants_apart = by_plant(trainer)
    head = f" | {' | '.join(FIGURES)} | pictures |\n|---|{'---|' * (len(FIGURES) + 1)}"
    print(f"| {recipe.type}{head}", flush=True)
    for what in arguments.by:
        apart, matched, n_groups = held_apart(trainer, what)
        parts = (apart, matched, plants_apart)
        same = [picture for picture in own if all(picture.file in part.by_file for part in parts)]
        if not same:
            print(f"by {what}: no picture has its species in every training part", file=sys.stderr)
            continue
        print(row(f"{what}s apart ({n_groups})", apart.scores(same)))
        print(row("… as many pictures, plants apart", matched.scores(same)))
        print(row("… all pictures, plants apart", plants_apart.scores(same)), flush=True)
    print(f"\n| {recipe.type}, by what it shows{head}")
    for content in sorted({picture.content for picture in own if picture.content}):
        chosen = [p for p in own if p.content == content and p.file in plants_apart.by_file]
        if chosen:
            print(row(str(content), plants_apart.scores(chosen)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
