"""The formats of runs: each is split into words, and some can be written.

A file is in the 2011 format (`leafid.scoring.reading.run_reading`); in the six columns
of TREC; a CSV table with a row for each prediction, as in PlantCLEF 2022, or for each
picture with a column for each species; or an ``.npz``.
"""

import csv
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from leafid.errors import InputError
from leafid.files import open_input
from leafid.pictures.picture import to_run_name
from leafid.pictures.records import FIELDS, find_fields
from leafid.scoring.reading.runs import Prediction, Run, Words, format_run_line
from leafid.textfiles import (
    LineProblems,
    escape_formula,
    parse_finite_number,
    read_first_line,
    read_lines,
    read_table,
)

_log = logging.getLogger(__name__)

#: What a line looks like, for messages.
LINE = "'<picture> <Genus species> <rank> <score>'"
_HEADING = (
    "a heading with columns for picture, species and maybe score, or for the picture "
    "and each species"
)
_COLUMNS = {
    # The index of a frame has no name, or this one.
    "picture": (*FIELDS["file"], "file", "observation", "observationid", "", "index"),
    # Beside a prediction, a label is the truth.
    "prediction": (
        "predicted",
        "predictedlabel",
        "predictedclass",
        "predictedspecies",
        "predlabel",
        "pred",
        "ypred",
        "species",
        *FIELDS["label"],
        "label",
        "classid",
    ),
    "rank": (),
    "score": ("probability", "prob", "confidence"),
}
# What pandas calls an index that is no picture.
_INDEX = re.compile(r"(unnamed: [\d.]+|index)?", re.IGNORECASE)


def split_run(file: Path, problems: LineProblems) -> Iterator[Words]:
    """Split a run, whose format is detected from its content.

    What can't be split is added to the problems.
    """
    line = read_first_line(file)
    if line is None:
        return _split_archive(file, problems)
    if _is_table_heading(line):
        return _split_table(file, problems)
    return _split_lines(file, problems)


def _is_table_heading(line: str) -> bool:
    words = line.split()
    # The name of a picture may have separators, too.
    ends_in_numbers = all(parse_finite_number(word) is not None for word in words[-2:])
    if len(words) >= 4 and ends_in_numbers:
        return False
    cells = re.split(r"[,;\t|]", line)
    if len(cells) > 2 and len(words) < 4:
        return True
    return len(cells) > 1 and "picture" in find_fields(cells, _COLUMNS)


def _split_lines(file: Path, problems: LineProblems) -> Iterator[Words]:
    for number, line in enumerate(read_lines(file, "utf-8-sig"), 1):
        words = line.split()
        if len(words) == 6 and words[1] == "Q0":
            yield number, words[0], words[2].replace("_", " "), words[3], words[4]
        elif len(words) >= 4 and not words[0].startswith("<"):
            yield number, words[0], " ".join(words[1:-2]), words[-2], words[-1]
        elif words:
            problem = f"expected {LINE}, found {line.strip()!r}"
            problems.add(number, problem, words[0].lstrip("<"))
        else:
            problems.add(number, f"expected {LINE}, found a blank line; remove it")


def _split_table(file: Path, problems: LineProblems) -> Iterator[Words]:
    rows = read_table(file)
    first = next(rows)
    heading = _clean_cells(first[1])
    n_index = 0
    while _is_index(heading[n_index:]):
        n_index += 1
    heading = heading[n_index:]
    fields = find_fields(heading, _COLUMNS)
    if "picture" not in fields and _is_prediction(heading):
        fields = ["picture", "prediction", "score", "rank"]
        rows = chain([first], rows)
    is_long = _is_long(heading, fields)
    if not is_long and (fields[0] != "picture" or "prediction" in fields):
        problems.add(first[0], f"expected {_HEADING}, found {heading}")
        return
    if is_long:
        _warn_of_unused(file, heading, fields)
    for number, row in rows:
        cells = _clean_cells(row[n_index:])
        if len(cells) != len(fields):
            problem = f"expected {n_index + len(fields)} cells, found {len(row)}"
            row_cells = dict(zip(fields, cells, strict=False))
            problems.add(number, problem, row_cells.get("picture"))
        elif is_long:
            yield _make_words(number, dict(zip(map(str, fields), cells, strict=True)))
        else:
            picture = to_run_name(cells[0])
            for species, score in zip(heading[1:], cells[1:], strict=True):
                yield number, picture, species, None, score.replace(",", ".")


def _clean_cells(row: Sequence[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in row]


def _is_index(heading: Sequence[str]) -> bool:
    """Tell whether the first column is what pandas calls an index."""
    is_followed = "picture" in find_fields(heading[1:], _COLUMNS)
    return is_followed and _INDEX.fullmatch(heading[0]) is not None


def _is_prediction(cells: Sequence[str]) -> bool:
    """Tell whether a row is a prediction of PlantCLEF 2022, which has no heading."""
    numbers = [parse_finite_number(cell) for cell in cells[2:]]
    return len(numbers) == 2 and None not in numbers


def _is_long(heading: Sequence[str], fields: Sequence[str | None]) -> bool:
    """Tell whether each row is a prediction, as the columns have it."""
    # Without scores, no column may be one by an unknown name. That of the true labels
    # has a known one.
    is_certain = "score" in fields or all(
        field or any(find_fields([cell], _COLUMNS))
        for cell, field in zip(heading, fields, strict=True)
    )
    return {"picture", "prediction"} <= {*fields} and is_certain


def _warn_of_unused(
    file: Path, heading: Sequence[str], fields: Sequence[str | None]
) -> None:
    unused = [cell for cell, field in zip(heading, fields, strict=True) if not field]
    if unused:
        # One of them may hold the predictions, beside true labels.
        column = heading[fields.index("prediction")]
        names = ", ".join(unused)
        _log.warning("%s: %r is the prediction; not used: %s", file, column, names)


def _make_words(number: int, record: Mapping[str, str]) -> Words:
    rank = record.get("rank", None if "score" in record else "1")
    score = record.get("score", "1").replace(",", ".")
    return number, to_run_name(record["picture"]), record["prediction"], rank, score


def _split_archive(file: Path, problems: LineProblems) -> Iterator[Words]:
    try:
        with open_input(file) as stream, np.load(stream, allow_pickle=False) as arrays:
            yield from split_scores(
                arrays["scores"], arrays["pictures"], arrays["species"]
            )
    except InputError as error:
        problems.add(1, str(error))
    # numpy has many errors for what is no archive, or claims sizes beyond the memory.
    except Exception:
        problems.add(
            1,
            f"expected a run: lines {LINE}, a table or an .npz with arrays scores, "
            "pictures and species, found another kind of file",
        )


def split_scores(scores: Any, pictures: Any, species: Any) -> Iterator[Words]:
    """Split scores, (n, n_species), of n pictures and of the species.

    A row counts as a line.
    """
    try:
        array = np.asarray(scores)
        if array.dtype.kind in "cmMV":
            raise TypeError(f"scores of type {array.dtype}")
        # What is too large becomes infinite, which is refused by its line.
        with np.errstate(over="ignore"):
            values = array.astype(np.float64)
        names, kinds = (
            np.ravel(array).astype(str).tolist() for array in (pictures, species)
        )
    except (ArithmeticError, TypeError, ValueError) as error:
        raise InputError(
            "expected scores as numbers, pictures and species as text, found an "
            f"error: {error}"
        ) from None
    if values.shape != (len(names), len(kinds)):
        raise InputError(
            f"expected scores of shape {(len(names), len(kinds))}, found {values.shape}"
        )
    for number, (name, row) in enumerate(zip(names, values.tolist(), strict=True), 1):
        for kind, score in zip(kinds, row, strict=True):
            yield number, to_run_name(name), kind, None, repr(score)


def _write_lines(run: Run, stream: IO[str]) -> None:
    stream.writelines(format_run_line(*prediction) for prediction in run)


def _write_table(run: Run, stream: IO[str]) -> None:
    csv.writer(stream, lineterminator="\n").writerows(
        map(escape_formula, row) for row in chain([Prediction._fields], run)
    )


def _write_trec(run: Run, stream: IO[str]) -> None:
    tag = to_run_name(Path(run.name).stem)
    for picture, species, rank, score in run:
        name = _to_trec_name(species)
        stream.write(f"{picture} Q0 {name} {rank} {score!r} {tag}\n")


def _to_trec_name(species: str) -> str:
    return species.replace(" ", "_")


def write_qrels(
    pictures: Iterable[str], species: Iterable[str], stream: IO[str]
) -> None:
    """Write the species of pictures as TREC's qrels, which trec_eval reads.

    Names are written as in a run in the format ``trec``.
    """
    for picture, name in zip(pictures, species, strict=True):
        stream.write(f"{picture} 0 {_to_trec_name(name)} 1\n")


#: Functions that write a run to a stream, by the name of the format.
WRITERS: Mapping[str, Callable[[Run, IO[str]], None]] = {
    "run": _write_lines,
    "csv": _write_table,
    "trec": _write_trec,
}
