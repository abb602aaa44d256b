"""The formats of runs: each is split into words, which `collect` takes, and some can be written.

A file is in the 2011 format (`leafid.scoring.reading.run_reading`); in the six columns of TREC; a CSV table with a row
for each prediction, as in PlantCLEF 2022, or for each picture with a column for each species; or an ``.npz``.
"""

import csv
import logging
import re
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from leafid.errors import InputError
from leafid.files import open_input
from leafid.pictures.picture import to_run_name
from leafid.pictures.records import FIELDS, find_fields
from leafid.scoring.reading.runs import Prediction, Run, format_run_line
from leafid.textfiles import (
    LineProblems,
    escape_formula,
    parse_finite_number,
    parse_whole_number,
    read_first_line,
    read_lines,
    read_table,
)

_log = logging.getLogger(__name__)

#: What a line looks like, for messages.
LINE, _TREC_LINE = (
    "'<picture> <Genus species> <rank> <score>'",
    "'<picture> Q0 <Genus_species> <rank> <score> <tag>'",
)
_HEADING = "a heading with columns for picture, species and maybe score, or for the picture and each species"
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
# What numpy raises for files that are no archive of arrays, or claim sizes beyond the memory.
_NO_ARRAYS = (
    MemoryError,
    OverflowError,
    OSError,
    EOFError,
    TypeError,
    ValueError,
    LookupError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)

#: Number of the line, picture, species, rank (None where it follows from the scores) and score.
Words = tuple[int, str, str, str | None, str]


def split_run(file: Path, problems: LineProblems) -> Iterator[Words]:
    """Split a run, whose format is detected from its content; what can't be split is added to the problems."""
    line = read_first_line(file)
    if line is None or file.suffix == ".npz":
        return _split_archive(file, problems)
    words = line.split()
    is_trec = len(words) == 6 and words[1] == "Q0"
    # The name of a picture may have separators, too.
    ends_in_numbers = all(parse_finite_number(word) is not None for word in words[-2:])
    if not is_trec and not (len(words) >= 4 and ends_in_numbers):
        cells = re.split(r"[,;\t|]", line)
        if (len(cells) > 2 and len(words) < 4) or (
            len(cells) > 1 and "picture" in find_fields(cells, _COLUMNS)
        ):
            return _split_table(file, problems)
    return _split_lines(file, problems, is_trec=is_trec)


def collect(
    rows: Iterable[Words], problems: LineProblems
) -> tuple[Sequence[str], Sequence[str], NDArray[np.float64]]:
    """Collect pictures, species and table of a run, as `leafid.scoring.reading.runs.make_run` takes them."""
    pictures: dict[str, int] = {}
    species: dict[str, int] = {}
    # There are five numbers a line; a list of objects would take several times as much memory.
    values = array("d")
    for number, picture, kind, rank_word, score_word in rows:
        rank = 0 if rank_word is None else parse_whole_number(rank_word)
        score = parse_finite_number(score_word)
        # Bytes that are no UTF-8 are lone surrogates, which aren't printable.
        if not picture.isprintable() or not kind.isprintable():
            line = " ".join(filter(None, (picture, kind, rank_word, score_word)))
            problems.add(
                number,
                f"expected UTF-8 text without invisible characters, found {line!r}",
            )
        elif not picture or not kind:
            problems.add(
                number, "expected a picture and a species, found an empty cell"
            )
        elif rank is None or (rank == 0 and rank_word is not None):
            problems.add(
                number,
                f"expected a rank (1, 2, …) before the score, found {rank_word!r}",
            )
        elif score is None:
            problems.add(
                number, f"expected a score as a finite number, found {score_word!r}"
            )
        else:
            codes = (
                pictures.setdefault(picture, len(pictures)),
                species.setdefault(kind, len(species)),
            )
            values.extend((*codes, rank, score, number))
    return [*pictures], [*species], np.array(values).reshape(-1, 5)


def _split_lines(
    file: Path, problems: LineProblems, *, is_trec: bool
) -> Iterator[Words]:
    for number, line in enumerate(read_lines(file, "utf-8-sig"), 1):
        words = line.split()
        if is_trec and len(words) == 6:
            yield number, words[0], words[2].replace("_", " "), words[3], words[4]
        elif is_trec or len(words) < 4 or words[0].startswith("<"):
            content = repr(line.strip()) if words else "a blank line; remove it"
            problems.add(
                number, f"expected {_TREC_LINE if is_trec else LINE}, found {content}"
            )
        else:
            yield number, words[0], " ".join(words[1:-2]), words[-2], words[-1]


def _split_table(file: Path, problems: LineProblems) -> Iterator[Words]:
    rows = read_table(file)
    first = next(rows)
    heading = [" ".join(cell.split()) for cell in first[1]]
    start = 0
    while _INDEX.fullmatch(heading[0]) and "picture" in find_fields(
        heading[1:], _COLUMNS
    ):
        del heading[0]
        start += 1
    fields = find_fields(heading, _COLUMNS)
    is_number = [parse_finite_number(cell) is not None for cell in heading]
    if "picture" not in fields and len(fields) == 4 and all(is_number[2:]):
        # PlantCLEF 2022 has no heading.
        fields, rows = ["picture", "prediction", "score", "rank"], chain([first], rows)
    # Without scores, no column may be one by an unknown name.
    is_certain = "score" in fields or all(fields)
    is_long = {"picture", "prediction"} <= {*fields} and is_certain
    if not is_long and (fields[0] != "picture" or "prediction" in fields):
        problems.add(first[0], f"expected {_HEADING}, found {heading}")
        return
    unused = [cell for cell, field in zip(heading, fields, strict=True) if not field]
    if is_long and unused:
        # One of them may hold the predictions, beside true labels.
        column = heading[fields.index("prediction")]
        names = ", ".join(unused)
        _log.warning("%s: %r is the prediction; not used: %s", file, column, names)
    for number, row in rows:
        cells = [" ".join(cell.split()) for cell in row[start:]]
        if len(cells) != len(fields):
            expected = f"expected {start + len(fields)} cells, found {len(row)}"
            problems.add(number, expected)
        elif is_long:
            record = dict(zip(fields, cells, strict=True))
            yield (
                number,
                to_run_name(record["picture"]),
                record["prediction"],
                record.get("rank", None if "score" in fields else "1"),
                record.get("score", "1").replace(",", "."),
            )
        else:
            for species, score in zip(heading[1:], cells[1:], strict=True):
                word = score.replace(",", ".")
                yield number, to_run_name(cells[0]), species, None, word


def _split_archive(file: Path, problems: LineProblems) -> Iterator[Words]:
    try:
        with open_input(file) as stream, np.load(stream, allow_pickle=False) as arrays:
            yield from split_scores(
                arrays["scores"], arrays["pictures"], arrays["species"]
            )
    except InputError as error:
        problems.add(1, str(error))
    except _NO_ARRAYS:
        expected = f"expected a run: lines {LINE}, a table or an .npz with arrays scores, pictures and species"
        problems.add(1, f"{expected}, found another kind of file")


def split_scores(scores: Any, pictures: Any, species: Any) -> Iterator[Words]:
    """Split scores, (n, n_species), of n pictures and of the species; a row counts as a line."""
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
            f"expected scores as numbers, pictures and species as text, found an error: {error}"
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
        stream.write(
            f"{picture} Q0 {species.replace(' ', '_')} {rank} {score!r} {tag}\n"
        )


#: Functions that write a run to a stream, by the name of the format.
WRITERS: dict[str, Callable[[Run, IO[str]], None]] = {
    "run": _write_lines,
    "csv": _write_table,
    "trec": _write_trec,
}
