"""Tables of held-out answers: scores of each group of them, of each species, and confusions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from leafid.identification.crossvalidation import FoldAnswers
from leafid.report.tables import Cell, Table

_TITLES = {"S": "S", "top1": "top-1", "top5": "top-5", "per_plant": "per-plant"}


def make_score_table(scores: Mapping[str, Mapping[str, Any]]) -> Table:
    """Tabulate `cross_validated_scores` by the name of the group."""
    columns = ["type", *(name for title in _TITLES.values() for name in (title, f"{title} sd")), "pictures", "left out"]
    rows: list[list[Cell]] = []
    for name, own in scores.items():
        counts = [(repeat["pictures"], repeat["unseen"]) for repeat in own["repeats"]]
        found = [own.get(key, {"mean": None, "fold_sd": None}) for key in _TITLES]
        cells = [cell for score in found for cell in (score["mean"], score["fold_sd"])]
        rows.append([name, *cells, *np.mean(counts or [(0, 0)], axis=0).round().astype(int).tolist()])
    notes = ["means over seeds; sd: standard deviation over all folds", "left out: no training picture of the species"]
    return Table("Held-out scores", columns, rows, notes)


def make_species_table(groups: Mapping[str, Sequence[FoldAnswers]]) -> Table:
    """Tabulate the accuracy on each species, over all seeds, and what it is taken for most often."""
    rows: list[list[Cell]] = []
    for name, answers in groups.items():
        ranks: dict[str, list[int]] = {}
        taken: dict[str, Counter[str]] = {}
        for species, predicted, rank in _list_answers(answers):
            ranks.setdefault(species, []).append(rank)
            taken.setdefault(species, Counter()).update([predicted] if predicted != species else [])
        n_seeds = len({own.seed for own in answers})
        for species, found in sorted(ranks.items()):
            shares = [sum(0 < rank <= k for rank in found) / len(found) for k in (1, 5)]
            most = next((other for other, _ in taken[species].most_common(1)), None)
            rows.append([name, species, len(found) // n_seeds, *shares, most])
    return Table("Scores by species", ["type", "species", "pictures", "top-1", "top-5", "taken for"], rows)


def make_confusion_table(groups: Mapping[str, Sequence[FoldAnswers]]) -> Table:
    """Tabulate which species are taken for which, over all seeds, the most frequent first."""
    rows: list[list[Cell]] = []
    for name, answers in groups.items():
        pairs = list(_list_answers(answers))
        totals = Counter(species for species, _, _ in pairs)
        confused = Counter((species, predicted) for species, predicted, _ in pairs if species != predicted)
        rows += [[name, *pair, count, count / totals[pair[0]]] for pair, count in confused.most_common()]
    return Table("Confusions", ["type", "species", "taken for", "answers", "share of the species"], rows)


def _list_answers(answers: Sequence[FoldAnswers]) -> Iterator[tuple[str, str, int]]:
    """Yield the species of each picture, the first answer, and the rank of the species, 0 if it is not known."""
    for own in answers:
        order = np.argsort(-own.held_out.probabilities, axis=1, kind="stable")
        for picture, columns in zip(own.held_out.pictures, order.tolist(), strict=True):
            ranking = [own.held_out.species[column] for column in columns]
            species = str(picture.species)
            yield species, ranking[0], ranking.index(species) + 1 if species in ranking else 0
