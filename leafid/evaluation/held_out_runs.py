"""Runs of the held-out answers of protocols, for run files."""

from collections.abc import Sequence

from leafid.errors import ProblemsError
from leafid.model.crossvalidation import FoldAnswers
from leafid.model.prediction import rank_species
from leafid.runs import find_name_problem


def collect_runs(answers: Sequence[FoldAnswers]) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Collect the rankings of all pictures, of every type, by the name of their setting and seed.

    A `ProblemsError` is raised when two pictures have one name, or a run file can't hold it.
    """
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    problems: dict[str, None] = {}
    for own in answers:
        name = f"{own.setting.replace(' ', '-')}-seed-{own.seed}".lstrip("-")
        run = runs.setdefault(name, {})
        for picture, row in zip(own.held_out.pictures, own.held_out.probabilities, strict=True):
            if picture.name in run:
                problems[f"{picture.file}: expected picture names that differ, found {picture.name} twice"] = None
            if problem := find_name_problem(picture.name):
                problems[f"{picture.file}: {problem}; rename the file"] = None
            run[picture.name] = rank_species(row, own.held_out.species)
    if problems:
        raise ProblemsError(problems)
    return runs
