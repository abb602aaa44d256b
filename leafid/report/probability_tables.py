"""Tables of what scores tell that are probabilities: how reliable they are, of plants, and of unknown species."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple

from leafid.evaluation.open_world import OpenWorldScores
from leafid.evaluation.plant_scores import PlantPictures, score_plants
from leafid.evaluation.reliability import FirstSpecies, score_reliability
from leafid.evaluation.resampling import Bootstrap
from leafid.metrics.calibration import N_BINS
from leafid.metrics.open_world import METRICS as OPEN_WORLD_METRICS
from leafid.report.tables import Cell, Table


def make_open_world_table(scores: Mapping[str, Sequence[OpenWorldScores]]) -> Table:
    """Tabulate how each run tells known species from unknown ones."""
    headings = ["known", "unknown", "top-1", "mAP", *(metric.column for metric in OPEN_WORLD_METRICS)]
    rows: list[list[Cell]] = [[name, *astuple(row)] for name, found in scores.items() for row in found]
    notes = ["mAP: without the unknown pictures; a picture's highest score says how surely its species is known"]
    return Table("Open world", ["run", "type", *headings], rows, notes)


def make_plant_table(plants: Mapping[str, Sequence[PlantPictures]], first_column: str = "pictures of") -> Table:
    """Tabulate the scores of plants that are identified from several pictures, by a name for each group of plants."""
    rows: list[list[Cell]] = [
        [name, "all" if row.n_pictures is None else row.n_pictures, row.plants, row.single, row.top1, row.S]
        for name, own in plants.items()
        for row in score_plants(own)
        if row.plants
    ]
    notes = ["single: share of the pictures of these plants that are named correctly by themselves, averaged by plant"]
    headings = [first_column, "pictures", "plants", "single", "top-1", "S"]
    return Table("Per plant, fused from several pictures", headings, rows, notes)


def make_reliability_table(
    named: Mapping[str, FirstSpecies], bootstrap: Bootstrap, first_column: str = "pictures of"
) -> Table:
    """Tabulate how reliable the probabilities of first species are, by a name for each group of pictures."""
    found = {name: score_reliability(own, bootstrap) for name, own in named.items()}
    rows: list[list[Cell]] = [
        [
            *(name, row.pictures, row.plants, row.accuracy, row.confidence),
            *(row.error, *row.interval, row.chance, row.beyond_chance),
        ]
        for name, row in found.items()
    ]
    headings = ["pictures", "plants", "top-1", "confidence", "ECE", "ECE low", "ECE high", "by chance", "beyond"]
    notes = [
        f"ECE: {N_BINS} bins of equal mass; low, high: {bootstrap.confidence:.0%} interval, bootstrap over plants, "
        f"{bootstrap.resamples} resamples, seed {bootstrap.seed}",
        "by chance: the mean ECE of calibrated probabilities of as many plants; beyond: the ECE without it, by squares",
    ]
    return Table("Reliability of the probability of the first species", [first_column, *headings], rows, notes)
