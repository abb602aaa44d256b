"""Train and score by folds of plants, or of places.

Every picture is named by a model that saw no picture of its plant. Pictures of species that a fold's training part
lacks can't be right: they are left out of the figures and counted apart. This is repeated with several seeds, which
deal the plants out anew; figures are the means over the seeds, and ± the standard deviation over all folds.

With --by-place no model saw a picture of the same place (plants within 5 km of each other, or joined by a chain of such
plants): what only holds at one garden is found out. With --context the answers by looks and those by looks, place and
day together are scored apart.

examples:
  leafid crossval imageclef2011
  leafid crossval imageclef2011 --only-type scan --recipe fast --repeats 1
  leafid crossval imageclef2011 --context --by-place
"""

from __future__ import annotations

import argparse

from leafid.cli.computing import add_cache, on_workers, open_loader
from leafid.cli.training_input import add_recipe, add_training_types, load_recipes, read_training_pictures
from leafid.console.arguments import add_cluster, add_jobs, add_layout, add_seed, positive_int
from leafid.console.environment import Environment


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("collection", metavar="COLLECTION", help="a folder of labelled pictures")
    parser.add_argument("--folds", metavar="N", type=positive_int, default=5, help="number of folds (default: 5)")
    parser.add_argument("--repeats", metavar="N", type=positive_int, default=3, help="number of seeds (default: 3)")
    parser.add_argument(
        "--shared-codebooks",
        action="store_true",
        help="learn the codebooks once, without labels, from the pictures of all folds: much quicker",
    )
    parser.add_argument("--by-place", action="store_true", help="fold whole places instead of plants")
    parser.add_argument(
        "--context", action="store_true", help="score beside it answers that place and day of the year had a say in"
    )
    parser.add_argument("--json", action="store_true", help="print every fold's figures as JSON; folds count from 1")
    add_training_types(parser)
    add_recipe(parser)
    add_layout(parser)
    add_cache(parser)
    add_seed(parser)
    add_jobs(parser)
    add_cluster(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Cross-validate; 1 when any picture could not be read."""
    import json
    from dataclasses import replace

    from leafid.errors import UsageError
    from leafid.identification.crossvalidation import cross_validate, cross_validated_scores

    if arguments.folds < 2:
        raise UsageError(f"--folds: expected at least 2, found {arguments.folds}; see 'leafid crossval --help'")
    pictures = read_training_pictures(arguments)
    recipes = load_recipes(arguments, pictures)
    seeds = range(arguments.seed, arguments.seed + arguments.repeats)
    with on_workers(arguments, [arguments.collection]), open_loader(arguments, environment) as loader:
        answers = []
        folds = cross_validate(
            pictures,
            recipes,
            loader,
            arguments.folds,
            seeds,
            shared_codebooks=arguments.shared_codebooks,
            context=arguments.context,
            by_place=arguments.by_place,
        )
        for answer in folds:
            learned = f"; context: {answer.context}" if answer.context else ""
            environment.note(f"seed {answer.seed}, fold {answer.fold + 1}: {answer.type} done{learned}")
            answers.append(answer)
    by_type = {}
    for type_ in recipes:
        own = [one for one in answers if one.type == type_]
        by_type[str(type_)] = cross_validated_scores(own)
        if arguments.context:
            in_context = [replace(one, held_out=one.with_context) for one in own if one.with_context]
            by_type[f"{type_} + context"] = cross_validated_scores(in_context)
    if arguments.json:
        for figures in by_type.values():
            # Counted from 1, as in the messages.
            figures["folds"] = [{**one, "fold": one["fold"] + 1} for one in figures["folds"]]
        environment.print(json.dumps(by_type, indent=1))
    else:
        _print_table(by_type, environment)
    return 1 if loader.unreadable else 0


# Headings of the figures whose names in JSON have other spellings.
_TITLES = {"top1": "top-1", "top5": "top-5", "per_plant": "per-plant"}


def figure_cells(scores: dict) -> list[str]:
    """Write each figure of `cross_validated_scores`, mean ± spread; "-" where it is missing."""
    from leafid.classifiers.held_out import FIGURES

    return [
        f"{scores[name]['mean']:.3f} ± {scores[name]['fold_sd']:.3f}" if name in scores else "-" for name in FIGURES
    ]


def _print_table(by_type: dict[str, dict], environment: Environment) -> None:
    import numpy as np

    from leafid.classifiers.held_out import FIGURES

    width = max(10, *map(len, by_type))
    titles = [_TITLES.get(name, name) for name in FIGURES]
    environment.print(f"{'type':<{width}}" + "".join(f"  {title:>14}" for title in titles) + "   pictures   left out")
    for type_, figures in by_type.items():
        counts = [(one["pictures"], one["unseen"]) for one in figures["repeats"]]
        pictures, unseen = np.mean(counts, axis=0) if counts else (0, 0)
        line = f"{type_:<{width}}" + "".join(f"  {cell:>14}" for cell in figure_cells(figures))
        environment.print(line + f"{pictures:>11.0f}{unseen:>11.0f}")
