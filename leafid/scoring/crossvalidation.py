"""Tables of held-out answers, of a cross-validation and of the grid of an experiment; and runs of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tabulate import tabulate

from leafid.errors import ProblemsError
from leafid.grouping import group_by
from leafid.learning.averages import average_score, per_plant_score
from leafid.model.answer import rank_species
from leafid.model.validation import FoldAnswers
from leafid.scoring import calibration, plants
from leafid.scoring.calibration import FirstSpecies
from leafid.scoring.experiment import Cell as GridCell
from leafid.scoring.plants import PlantPictures, collect_plants
from leafid.scoring.resampling import Bootstrap, WeightedScore, bootstrap_scores, correct_holm, randomisation_test
from leafid.scoring.runs import find_name_problem
from leafid.scoring.tables import Cell, Table

#: Titles of the scores of `leafid.learning.held_out.held_out_scores`.
SCORE_TITLES = {"S": "S", "top1": "top-1", "top5": "top-5", "per_plant": "per-plant"}


def make_score_table(scores: Mapping[str, Mapping[str, Any]]) -> Table:
    """Tabulate `cross_validated_scores` by the name of the group."""
    columns = [
        "type",
        *(name for title in SCORE_TITLES.values() for name in (title, f"{title} sd")),
        "pictures",
        "left out",
    ]
    rows: list[list[Cell]] = []
    for name, own in scores.items():
        found = [own.get(key, {"mean": None, "fold_sd": None}) for key in SCORE_TITLES]
        cells = [cell for score in found for cell in (score["mean"], score["fold_sd"])]
        rows.append([name, *cells, *_count_pictures(own)])
    notes = ["means over seeds; sd: standard deviation over all folds", "left out: no training picture of the species"]
    return Table("Held-out scores", columns, rows, notes)


def format_scores(scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Format the same scores for a terminal, as "mean ± standard deviation"."""
    rows = [[name, *format_score_cells(own), *_count_pictures(own)] for name, own in scores.items()]
    titles = ["type", *SCORE_TITLES.values(), "pictures", "left out"]
    alignment = ("left", *["right"] * (len(titles) - 1))
    return tabulate(rows, titles, "plain", colalign=alignment, disable_numparse=True)


def format_score_cells(scores: Mapping[str, Any]) -> list[str]:
    """Format each score of `cross_validated_scores` as "mean ± standard deviation over folds", or "-" without one."""
    return [
        f"{scores[key]['mean']:.3f} ± {scores[key]['fold_sd']:.3f}" if key in scores else "-" for key in SCORE_TITLES
    ]


def _count_pictures(scores: Mapping[str, Any]) -> list[int]:
    """Count the pictures that are scored and those that are left out, by the mean over the seeds."""
    counts = [(repeat["pictures"], repeat["unseen"]) for repeat in scores["repeats"]]
    return np.mean(counts or [(0, 0)], axis=0).round().astype(int).tolist()


def make_plant_table(answers: Sequence[FoldAnswers]) -> Table:
    """Tabulate the scores of plants of all folds and seeds, identified from several pictures of a type."""
    groups: dict[str, list[PlantPictures]] = {}
    for own in answers:
        known = own.held_out.select_known()
        authors = [picture.author or "" for picture in known.pictures]
        names = [picture.group for picture in known.pictures]
        types = [str(own.type)] * len(names)
        found = collect_plants(known.probabilities, known.labels, types, authors, names, own.plant_exponent)
        for name, of_type in found.items():
            groups.setdefault(name, []).extend(of_type)
    return plants.make_plant_table(groups)


def make_reliability_table(answers: Sequence[FoldAnswers]) -> Table:
    """Tabulate how reliable probabilities are, by type."""
    named = {}
    for type_, of_type in group_by(answers, lambda own: str(own.type)).items():
        known = [own.held_out.select_known() for own in of_type]
        confidence = np.concatenate([own.probabilities.max(axis=1) for own in known])
        is_correct = np.concatenate([own.probabilities.argmax(axis=1) == own.labels for own in known])
        units = [picture.group for own in known for picture in own.pictures]
        named[type_] = FirstSpecies(confidence, is_correct, units)
    return calibration.make_reliability_table(named, Bootstrap())


def collect_runs(answers: Sequence[FoldAnswers]) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Collect the rankings of all pictures, of every type, by the name of their setting and seed.

    A `ProblemsError` is raised when two pictures have one name, or a run file can't hold it.
    """
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    problems = []
    for own in answers:
        name = f"{own.setting.replace(' ', '-')}-seed-{own.seed}".lstrip("-")
        run = runs.setdefault(name, {})
        for picture, row in zip(own.held_out.pictures, own.held_out.probabilities, strict=True):
            if picture.name in run:
                problems.append(f"{picture.file}: expected picture names that differ, found {picture.name} twice")
            if problem := find_name_problem(picture.name):
                problems.append(f"{picture.file}: {problem}; rename the file")
            run[picture.name] = rank_species(row, own.held_out.species)
    if problems:
        raise ProblemsError(dict.fromkeys(problems))
    return runs


@dataclass(frozen=True)
class Result:
    """A row of the table; scores are means over seeds."""

    collection: str
    type: str
    protocol: str
    #: Of the protocol: the number of training pictures or plants of each species, if it has several.
    setting: str
    recipe: str
    seeds: int
    pictures: int
    left_out: int
    top1: float
    top5: float
    per_plant: float
    #: S of the plant task.
    score: float
    #: Of top-1; NaN where no plant can be exchanged for another.
    interval: tuple[float, float]
    difference: float | None
    p: float | None


def summarise_experiment(cells: Sequence[GridCell], baseline: str, bootstrap: Bootstrap) -> list[Result]:
    """Score each recipe on each collection, type and setting of a protocol.

    Recipes are compared with the baseline on the same pictures, or protocols, if the baseline is one of these, by
    paired randomisation over plants. Left out are pictures whose species no recipe, or not every protocol, has training
    pictures of; where only some recipes have, the others are wrong.
    """
    compares_protocols = any(cell.protocol == baseline for cell in cells) and all(c.recipe != baseline for c in cells)
    blocks: dict[tuple[str, ...], dict[str, list[GridCell]]] = {}
    for cell in cells:
        kept, compared = (cell.recipe, cell.protocol) if compares_protocols else (cell.protocol, cell.recipe)
        for setting in cell.ranks:
            block = blocks.setdefault((cell.collection, cell.type, kept, setting), {})
            block.setdefault(compared, []).append(cell)
    results: list[Result] = []
    for (*_, setting), block in blocks.items():
        results += _summarise_block(block, setting, baseline, bootstrap, needs_all=compares_protocols)
    return results


def _summarise_block(
    block: Mapping[str, Sequence[GridCell]], setting: str, baseline: str, bootstrap: Bootstrap, *, needs_all: bool
) -> Iterator[Result]:
    rows = [(key, cell.seed, *row) for key, cells in block.items() for cell in cells for row in cell.ranks[setting]]
    found = {name: (plant, author) for _, _, name, plant, author, _ in rows}
    names, seeds = sorted(found), sorted({seed for _, seed, *_ in rows})
    # Of what is compared, by seed and picture; 0: the species has no training picture.
    rank_of = {(key, seed, name): rank for key, seed, name, _, _, rank in rows}
    ranks = np.array([[[rank_of.get((key, seed, name), 0) for name in names] for seed in seeds] for key in block])
    known = np.asarray((ranks > 0).any(axis=0))
    if needs_all:
        known = np.broadcast_to((ranks > 0).all(axis=(0, 1)), known.shape)
    is_scored = np.asarray(known.any(axis=0))
    if not is_scored.any():
        return
    names = [name for name, is_kept in zip(names, is_scored, strict=True) if is_kept]
    ranks, known = ranks[..., is_scored], known[:, is_scored]
    plants, authors = (np.array([found[name][column] for name in names]) for column in (0, 1))
    unit_names, units = np.unique(plants, return_inverse=True)
    one_group, equal_weights = np.zeros(len(names), np.intp), np.full(len(names), 1 / len(names))
    # A picture's share of the seeds in which it is known.
    top1 = dict(zip(block, ((ranks == 1) & known).sum(axis=1) / known.sum(axis=0), strict=True))
    top5 = dict(zip(block, ((ranks >= 1) & (ranks <= 5) & known).sum(axis=1) / known.sum(axis=0), strict=True))
    p_values = {
        name: randomisation_test((own - top1[baseline]) / len(names), units, seed=bootstrap.seed)
        for name, own in top1.items()
        if baseline in top1 and name != baseline
    }
    corrected = dict(zip(p_values, correct_holm([*p_values.values()]).tolist(), strict=True)) if p_values else {}
    for name, cells in block.items():
        weighted = WeightedScore(top1[name], equal_weights, one_group, units)
        samples = bootstrap_scores([weighted], len(unit_names), bootstrap)
        yield Result(
            *(cells[0].collection, cells[0].type, cells[0].protocol, setting, cells[0].recipe),
            *(len(cells), len(names), len(found) - len(names), float(top1[name].mean())),
            float(top5[name].mean()),
            per_plant_score(top1[name], authors, plants),
            average_score(top1[name], authors, plants),
            (float("nan"), float("nan")) if samples is None else bootstrap.compute_interval(samples[0]),
            float(top1[name].mean() - top1[baseline].mean()) if name in corrected else None,
            corrected.get(name),
        )


def make_experiment_table(
    results: Sequence[Result], baseline: str, bootstrap: Bootstrap, *, is_complete: bool = True
) -> Table:
    """Tabulate results; unless it has to be complete, what all of them share is in the title alone."""
    keys = {
        "collection": [own.collection for own in results],
        "type": [own.type for own in results],
        "protocol": [f"{own.protocol}, {own.setting}" if own.setting else own.protocol for own in results],
        "recipe": [own.recipe for own in results],
    }
    shared = [] if is_complete else [name for name, values in keys.items() if len(set(values)) == 1]
    columns = [name for name in keys if name not in shared]
    rows: list[list[Cell]] = [
        [
            *(keys[name][index] for name in columns),
            *(own.pictures, own.left_out, own.score, own.top1, *own.interval, own.top5, own.per_plant),
            *(own.difference, own.p),
        ]
        for index, own in enumerate(results)
    ]
    columns += ["pictures", "left out", "S", "top-1", "top-1 low", "top-1 high", "top-5", "per-plant"]
    columns += ["difference", "p (Holm)"]
    count = f"{results[0].seeds} seed{'s' if results[0].seeds > 1 else ''}"
    notes = [
        f"scores: means over {count}; low, high: {100 * bootstrap.confidence:g}% interval, bootstrap over plants, "
        f"{bootstrap.resamples} resamples; left out: no training picture of the species",
        f"difference: of top-1 from {baseline}; p: paired randomisation over plants, Holm's correction within a test",
    ]
    title = ", ".join(values[0] for name, values in keys.items() if name in shared)
    return Table(f"Experiment: {title}" if title else "Experiment", columns, rows, notes)
