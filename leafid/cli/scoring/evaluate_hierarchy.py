"""Score plant runs that may answer with a higher taxon: 'Quercus *' for an unidentified oak.

The answer to a picture is its line of rank 1: a species, a genus, family or order followed by '*', or just '*'. Its
error is that of an IRMA code over order, family, genus and species: 0 for the correct species, 1 for another order or
a picture that the run lacks. A mistake costs more at a high rank or where there are few choices; "don't know" costs
half of a wrong name. 'by plant' averages as the official plant score does: over pictures, plants, authors.

To see whether backing off pays, score the run with it and the run without it together.

examples:
  leafid evaluate-hierarchy imageclef2011 species.txt backed-off.txt
  leafid evaluate-hierarchy --taxonomy imageclef2011/Train imageclef2011/TestXmlWithGroundTruth run.txt
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from leafid.cli.arguments import (
    PART,
    ReadingOptions,
    TableOptions,
    check_runs_to_compare,
    compare_switch,
    option,
    positional,
)
from leafid.cli.environment import Environment
from leafid.cli.outputs import print_tables
from leafid.errors import LeafidError, ProblemsError
from leafid.learning.averages import average_score
from leafid.learning.backing_off import WRONG_ERROR, hierarchical_error
from leafid.pictures import Picture, read_and_warn
from leafid.pictures.names import parse_label
from leafid.pictures.taxonomy import RANKS, WILDCARD, Taxonomy
from leafid.scoring.comparison import compare_values, make_comparison_table
from leafid.scoring.run_reading import read_run
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth, make_ground_truth, select_scored

_OTHER_TAXONOMY = "name a collection that has it with --taxonomy"


class Options(ReadingOptions, TableOptions):
    """The options of evaluate-hierarchy."""

    truth: str = positional("COLLECTION", "labelled pictures")
    runs: list[str] = positional("RUN", "run files in the 2011 format", nargs="+")
    taxonomy: str | None = option(
        "a collection with more species for the tree (default: the truth's)", metavar="COLLECTION"
    )
    part: str | None = PART
    compare: bool = compare_switch("plants")


def run(options: Options, environment: Environment) -> int:
    if options.compare:
        check_runs_to_compare(options.runs)
    pictures = read_and_warn(options.truth, **options.as_keywords()).pictures
    truth = make_ground_truth(select_scored(pictures, options.part, source=options.truth), source=options.truth)
    more = read_and_warn(options.taxonomy).pictures if options.taxonomy else ()
    taxonomy = Taxonomy.from_pictures([*pictures, *more])
    if len(taxonomy.ranks) == 1:
        classes = [name for name in taxonomy.species if parse_label(name).genus is None] or [taxonomy.species[0]]
        raise LeafidError(
            f"{options.truth}: expected a taxonomy, found none: {len(classes)} of {len(taxonomy.species)} labels "
            f"have no genus, {classes[0]!r} first; 'leafid evaluate' scores labels without a taxonomy"
        )
    remedy = _explain_missing_ranks([*pictures, *more], taxonomy)
    rows: list[list[Cell]] = []
    values: dict[str, list[float]] = {}
    for path in options.runs:
        answers = _select_answers(read_run(path), path, truth, taxonomy, remedy)
        if n_missing := len(set(truth.pictures) - answers.keys()):
            environment.warn(f"{path}: lacks {n_missing} of {len(truth)} pictures; each counts 1")
        errors = [
            hierarchical_error(species, answers[picture], taxonomy) if picture in answers else WRONG_ERROR
            for picture, species in zip(truth.pictures, truth.species, strict=True)
        ]
        shares = _count_correct(truth, answers, taxonomy)
        means = fmean(errors), average_score(errors, truth.author, truth.plant)
        values[str(path)] = [error / len(truth) for error in errors]
        rows.append([str(path), *means, *shares])
    columns = ["run", "error", "by plant", *reversed(taxonomy.ranks), "*"]
    notes = [f"{len(truth)} pictures, {len(taxonomy.species)} species; correct/answered at each rank"]
    tables = [Table("", columns, rows, notes)]
    if options.compare:
        comparisons = compare_values([*values], [*values.values()], truth.unit, higher_is_better=False)
        tables.append(make_comparison_table(comparisons, "error"))
    print_tables(tables, options, environment)
    return 0


def _count_correct(truth: GroundTruth, answers: Mapping[str, str], taxonomy: Taxonomy) -> list[str]:
    """Write how many of the answers at each rank are correct as far as they go, from the species up; last ``"*"``."""
    ranks = [*reversed(taxonomy.ranks), WILDCARD]
    answered, correct = Counter[str](), Counter[str]()
    for picture, species in zip(truth.pictures, truth.species, strict=True):
        if picture in answers:
            path = taxonomy.find_path(answers[picture])
            depth = len(path) - path.count(WILDCARD)
            rank = taxonomy.ranks[depth - 1] if depth else WILDCARD
            answered[rank] += 1
            correct[rank] += path[:depth] == taxonomy.paths[species][:depth]
    return [f"{correct[rank]}/{answered[rank]}" for rank in ranks]


def _explain_missing_ranks(pictures: Sequence[Picture], taxonomy: Taxonomy) -> str:
    """Say why a higher taxon may be unknown: the fault of the pictures' metadata, not of the run."""
    missing = [rank for rank in RANKS if rank not in taxonomy.ranks]
    for picture in pictures:
        for rank in missing:
            if picture.taxon and rank != "genus" and not getattr(picture.taxon, rank):
                return f"the taxonomy has no {' and no '.join(missing)}, as {picture.file} has no {rank}"
    return _OTHER_TAXONOMY


def _select_answers(run: Run, path: str, truth: GroundTruth, taxonomy: Taxonomy, remedy: str) -> dict[str, str]:
    """Select the lines of rank 1, refusing unknown pictures and answers."""
    answers, problems = {}, []
    for prediction, line in zip(run, run.line.tolist(), strict=True):
        if prediction.rank != 1:
            continue
        answers[prediction.picture] = prediction.species
        if prediction.picture not in truth.known.pictures:
            problems.append((line, f"expected a picture of the collection, found {prediction.picture!r}"))
        try:
            taxonomy.find_path(prediction.species)
        except LeafidError as error:
            is_higher = prediction.species.endswith(WILDCARD)
            problems.append((line, f"{error}; {remedy if is_higher else _OTHER_TAXONOMY}"))
    if problems:
        raise ProblemsError(f"{path}:{line}: {problem}" for line, problem in sorted(problems))
    return answers
