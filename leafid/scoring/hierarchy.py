"""Scores plant runs that may answer with a higher taxon: ``Quercus *``."""

from collections import Counter
from collections.abc import Mapping
from statistics import fmean

from leafid.errors import LeafidError
from leafid.metrics.averages import average_score
from leafid.metrics.hierarchy import WILDCARD, WRONG_ERROR
from leafid.pictures.taxonomy import Taxonomy
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.tables import Rows, Table
from leafid.textfiles import LineProblems


def select_answers(run: Run, taxonomy: Taxonomy) -> dict[str, str]:
    """Select each picture's answer, its line of rank 1.

    A `ProblemsError` has answers that the taxonomy lacks.
    """
    answers = {}
    first = run.select(run.rank == 1)
    with LineProblems(run.name) as problems:
        for line, (picture, answer, _, _) in zip(first.line, first, strict=True):
            answers[picture] = answer
            try:
                taxonomy.find_path(answer)
            except LeafidError as error:
                advice = "name a collection that has it with --taxonomy"
                problems.add(line, f"{error}; {advice}")
    return answers


def make_hierarchy_table(
    answers: Mapping[str, Mapping[str, str]], truth: GroundTruth, taxonomy: Taxonomy
) -> Table:
    """Tabulate the mean error of each run's answers, and how many ranks are correct."""
    rows: Rows = []
    for name, run in answers.items():
        errors = []
        answered, correct = Counter[int](), Counter[int]()
        for picture, species in zip(truth.pictures, truth.species, strict=True):
            if picture not in run:
                errors.append(WRONG_ERROR)
                continue
            errors.append(taxonomy.compute_error(species, run[picture]))
            path = taxonomy.find_path(run[picture])
            depth = len(path) - path.count(WILDCARD)
            answered[depth] += 1
            correct[depth] += path[:depth] == taxonomy.paths[species][:depth]
        depths = range(len(taxonomy.ranks), -1, -1)
        counts = [f"{correct[depth]}/{answered[depth]}" for depth in depths]
        by_plant = average_score(errors, truth.author, truth.official_plant)
        rows.append([name, fmean(errors), by_plant, *counts])
    return Table(
        title="Hierarchical errors",
        columns=["run", "error", "by plant", *reversed(taxonomy.ranks), WILDCARD],
        rows=rows,
        notes=[
            f"{len(truth)} pictures, {len(taxonomy.species)} species; correct/answered "
            "at each rank"
        ],
    )
