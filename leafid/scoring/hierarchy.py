"""Scores plant runs that may answer with a higher taxon: ``Quercus *`` for an unidentified oak."""

from collections import Counter
from collections.abc import Mapping
from statistics import fmean

from leafid.errors import LeafidError
from leafid.metrics.averages import average_score
from leafid.metrics.hierarchy import WRONG_ERROR, hierarchical_error
from leafid.pictures.taxonomy import WILDCARD, Taxonomy
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.tables import Cell, Table
from leafid.textfiles import LineProblems


def select_answers(run: Run, truth: GroundTruth, taxonomy: Taxonomy) -> dict[str, str]:
    """Select each picture's answer, its line of rank 1; a `ProblemsError` has unknown pictures and answers."""
    answers = {}
    with LineProblems(run.name) as problems:
        for prediction, line in zip(run, run.line.tolist(), strict=True):
            if prediction.rank != 1:
                continue
            answers[prediction.picture] = prediction.species
            if prediction.picture not in truth.known.pictures:
                problems.add(
                    line,
                    f"expected a picture of the collection, found {prediction.picture!r}",
                )
            try:
                taxonomy.find_path(prediction.species)
            except LeafidError as error:
                problems.add(
                    line, f"{error}; name a collection that has it with --taxonomy"
                )
    return answers


def make_hierarchy_table(
    answers: Mapping[str, Mapping[str, str]], truth: GroundTruth, taxonomy: Taxonomy
) -> Table:
    """Tabulate the mean error of each run's answers, and how many are correct at each rank."""
    rows: list[list[Cell]] = []
    for name, named in answers.items():
        # A picture that the run lacks is wrong.
        errors = [
            hierarchical_error(species, named[picture], taxonomy)
            if picture in named
            else WRONG_ERROR
            for picture, species in zip(truth.pictures, truth.species, strict=True)
        ]
        means = fmean(errors), average_score(errors, truth.author, truth.official_plant)
        rows.append([name, *means, *_count_correct(named, truth, taxonomy)])
    columns = ["run", "error", "by plant", *reversed(taxonomy.ranks), WILDCARD]
    notes = [
        f"{len(truth)} pictures, {len(taxonomy.species)} species; correct/answered at each rank"
    ]
    return Table("Hierarchical errors", columns, rows, notes)


def _count_correct(
    answers: Mapping[str, str], truth: GroundTruth, taxonomy: Taxonomy
) -> list[str]:
    """Write how many of the answers at each rank are correct as far as they go, from the species up; last ``"*"``."""
    answered, correct = Counter[int](), Counter[int]()
    for picture, species in zip(truth.pictures, truth.species, strict=True):
        if picture in answers:
            path = taxonomy.find_path(answers[picture])
            depth = len(path) - path.count(WILDCARD)
            answered[depth] += 1
            correct[depth] += path[:depth] == taxonomy.paths[species][:depth]
    return [
        f"{correct[depth]}/{answered[depth]}"
        for depth in reversed(range(len(taxonomy.ranks) + 1))
    ]
