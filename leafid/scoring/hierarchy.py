"""Scores plant runs that may answer with a higher taxon: ``Quercus *``."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from leafid.checking import check_arguments
from leafid.errors import LeafidError
from leafid.grouping import count_noun
from leafid.metrics.averages import average_score
from leafid.metrics.hierarchy import WILDCARD, WRONG_ERROR
from leafid.pictures.columns import Labelled, TypeName, read_pictures
from leafid.pictures.picture import Collection, Picture
from leafid.pictures.taxonomy import Taxonomy
from leafid.scoring.evaluation import Part, Records, RunsLike
from leafid.scoring.reading.inputs import to_ground_truth, to_runs
from leafid.scoring.reading.runs import KnownNames, Run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.tables import Rows, Table
from leafid.textfiles import LineProblems

logger = logging.getLogger(__name__)


@check_arguments
def evaluate_hierarchy(
    truth: Labelled,
    runs: RunsLike,
    *,
    part: Part | None = None,
    only_type: TypeName | None = None,
    taxonomy: Labelled | None = None,
) -> Records:
    """Score runs that may answer with a higher taxon, as the command does.

    Parameters
    ----------
    truth, runs, part, only_type
        As in `leafid.evaluate`.
    taxonomy : as `truth`, optional
        A collection with more species for the tree.

    Returns
    -------
    list of dict
        A record for each run: the mean "error", the same "by plant", and how many of
        the answers of each rank are correct.

    Raises
    ------
    LeafidError
        When some species has no genus, or something is wrong with a run.
    """
    pictures = read_pictures(truth, "truth")
    if not isinstance(truth, Collection):
        truth = pictures
    ground_truth = to_ground_truth(truth, part=part, only_type=only_type)
    more: Sequence[Picture] = ()
    if taxonomy is not None:
        more = read_pictures(taxonomy, "taxonomy")
    tree = Taxonomy.from_pictures([*pictures, *more])
    if len(tree.ranks) == 1:
        raise LeafidError(
            "truth: expected a genus of every species, found some without; use "
            "'leafid evaluate'"
        )
    answers = {}
    # Any answer may be named, which the taxonomy checks.
    known = KnownNames(ground_truth.known.pictures, frozenset())
    for run in to_runs(runs, known):
        answers[run.name] = select_answers(run, tree)
        if n_missing := len({*ground_truth.pictures} - answers[run.name].keys()):
            logger.warning(
                "%s: lacks %d of %d pictures; each counts 1",
                run.name,
                n_missing,
                len(ground_truth),
            )
    return Records(make_hierarchy_table(answers, ground_truth, tree))


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
        answered = Counter[int]()
        correct = Counter[int]()
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
            f"{count_noun(len(truth), 'picture')}, {len(taxonomy.species)} species; "
            "correct/answered at each rank"
        ],
    )
