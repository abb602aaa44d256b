"""The run file of the ImageCLEF 2011 plant task: ``2107.jpg Platanus x hispanica 1 1.0``, a prediction a line.

The species name is everything between the first word and the last two. Lines come in any order.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 3.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError, ProblemsError
from leafid.files import is_utf8, open_output
from leafid.runs.checks import KnownNames, find_problems
from leafid.runs.lines import LINE, parse_run
from leafid.runs.run import Prediction, Run
from leafid.textfiles import LineProblems, read_lines


def read_run(path: str | os.PathLike[str], known: KnownNames | None = None, *, official: bool = False) -> Run:
    r"""Read a run file, refusing it when anything is wrong with it.

    `known` has the pictures and species that the run may name; without it only the file itself is checked. With
    `official` it is read as the official scorer does: of several lines of one picture and rank the last one counts,
    species may be unknown or repeated, ranks may have gaps. A `ProblemsError` has the first problems as ``run.txt:17:
    expected …, found …``, and the number of the others.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.txt"
    >>> _ = file.write_text("213.jpg Sorbus torminalis 1 0.7\n213.jpg Crataegus azarolus 2 0.3\n")
    >>> list(read_run(file))[0]
    Prediction(picture='213.jpg', species='Sorbus torminalis', rank=1, score=0.7)
    """
    run, problems = examine_run(path, known, official=official)
    if problems:
        raise ProblemsError(problems)
    return run


def examine_run(
    path: str | os.PathLike[str], known: KnownNames | None = None, *, official: bool = False
) -> tuple[Run, list[str]]:
    """Read the lines of a run file that can be parsed, and list what is wrong with it, line by line.

    Parameters are those of `read_run`. A file that can't be read at all raises a `LeafidError`.
    """
    file = Path(path)
    # Wrong bytes become lone surrogates, which are then reported with their line.
    problems = LineProblems(file)
    run = parse_run(read_lines(file, "utf-8-sig"), file.name, problems)
    is_empty = not len(run) and not problems
    if known is not None and known.identifiers:
        run = run.rename_species(known.identifiers)
    if official:
        run = _keep_last_of_each_rank(run)
    for line, complaint in find_problems(run, known, official=official):
        problems.add(line, complaint)
    if is_empty:
        problems.add(1, f"expected lines {LINE}, found an empty file")
    return run, problems.list_messages()


def write_run(
    file: str | os.PathLike[str], predictions: Mapping[str, Sequence[tuple[str, float]]] | Iterable[Prediction]
) -> None:
    """Write a run file, which appears only when it is complete.

    `predictions` are each picture's species with their scores, the best first, or `Prediction` records. A name that
    this format can't hold, or a score that is not finite, raises a `LeafidError`.
    """
    with open_output(file) as stream:
        for prediction in _rank(predictions) if isinstance(predictions, Mapping) else predictions:
            stream.write(format_run_line(*prediction))


def format_run_line(picture: str, species: str, rank: int, score: float) -> str:
    r"""Format one prediction as a line of a run file, with its line end; reading gives the same score.

    A name that the format can't hold, or a score that isn't finite, raises a `LeafidError`.

    Examples
    --------
    >>> format_run_line("2107.jpg", "Platanus x hispanica", 1, 1)
    '2107.jpg Platanus x hispanica 1 1.0\n'
    """
    if problem := find_name_problem(picture):
        raise LeafidError(f"picture {picture!r}: {problem}; rename the file")
    if not species.isprintable() or " ".join(species.split()) != species or not species:
        raise LeafidError(f"picture {picture!r}: expected a species name with single blanks, found {species!r}")
    if not math.isfinite(score):
        raise LeafidError(f"picture {picture!r}, species {species!r}: expected a finite score, found {score}")
    return f"{picture} {species} {int(rank)} {float(score)!r}\n"


def find_name_problem(picture: str) -> str | None:
    """Return the reason why a run file can't hold a picture's name, or None; `read_run` accepts all other names."""
    if picture.split() != [picture]:
        return "a run file can't hold a picture name with blanks"
    if not is_utf8(picture):
        return "expected a name in UTF-8, as run files are"
    if not picture.isprintable():
        return "a run file can't hold a picture name with invisible characters"
    if picture.startswith("<"):
        return "a run file can't hold a picture name that begins with '<'"
    return None if "." in picture else "expected a picture name with an extension such as '.jpg'"


def _rank(predictions: Mapping[str, Sequence[tuple[str, float]]]) -> Iterable[Prediction]:
    for picture, ranking in predictions.items():
        for rank, (species, score) in enumerate(ranking, 1):
            yield Prediction(picture, species, rank, score)


def _keep_last_of_each_rank(run: Run) -> Run:
    # Sorted by picture, rank, line: the last of equal (picture, rank) stays.
    same = (run.picture_index[1:] == run.picture_index[:-1]) & (run.rank[1:] == run.rank[:-1])
    if not same.any():
        return run
    return replace(run.select(np.append(~same, True)), repeated=int(same.sum()))
