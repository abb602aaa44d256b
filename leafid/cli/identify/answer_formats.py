"""The formats in which predict reports answers."""

import json
from collections.abc import Callable, Iterator, Sequence

from leafid.errors import escape_unprintable
from leafid.model.answer import Answer, format_probability
from leafid.pictures.names import describe_common_names
from leafid.scoring.reading.runs import format_run_line
from leafid.scoring.tables import format_csv
from leafid.translation import translate

Ranking = Sequence[tuple[str, float]]
#: Selects the names to report of an answer, which ranks all species, and their
#: probabilities.
Selector = Callable[[Answer], Ranking]
_COLUMNS = """
picture type type_probability leaf known n_leaves verdict name answer_probability
rank species accepted_name common_names probability reasons problem
"""
_CSV_COLUMNS = _COLUMNS.split()
#: The text before, between and after the entries of all answers, by the format.
FORMATS = {
    "text": ("", "\n", ""),
    "json": ("[\n", ",\n", "\n]\n"),
    "csv": (",".join(_CSV_COLUMNS) + "\n", "", ""),
    "run": ("", "", ""),
}


def format_answer(
    form: str,
    answer: Answer,
    select: Selector,
    *,
    open_world: bool,
    rank_rejected: bool,
) -> list[str]:
    """Format an answer as entries in one of the `FORMATS`.

    Formats other than text have entries for each picture of a plant.

    With `open_world`, runs have the calibrated probabilities of a leaf of the species,
    as text has; with `rank_rejected`, text has a ranking of rejected pictures as well.
    """
    if form == "text":
        return _format_text(answer, select, rank_rejected)
    entries: list[str] = []
    for part in answer.expand():
        if form == "run":
            entries += _format_run_lines(part, select, open_world)
            continue
        ranking = None
        # With back-off, the record has the name besides the ranking.
        if not part.backed_off and not part.problem:
            ranking = select(part)
        record = part.to_dict(ranking)
        if form == "csv":
            entries.append(_format_rows(record))
        else:
            entries.append(json.dumps(record, ensure_ascii=False, indent=1))
    return entries


def _format_run_lines(
    answer: Answer, select: Selector, open_world: bool
) -> Iterator[str]:
    if answer.problem:
        return
    for rank, (species, score) in enumerate(select(answer), 1):
        if open_world:
            score = answer.calibrate(score)
        yield format_run_line(answer.picture.name, species, rank, score)


def _format_rows(record: dict) -> str:
    species = [
        {**named, "rank": rank, "common_names": ", ".join(named["common_names"])}
        for rank, named in enumerate(record["ranking"], 1)
    ]
    record = {**record, "reasons": "; ".join(record["reasons"])}
    rows = [record | named for named in species] or [record]
    return format_csv([[row.get(column) for column in _CSV_COLUMNS] for row in rows])


def _format_text(answer: Answer, select: Selector, rank_rejected: bool) -> list[str]:
    if answer.problem:
        return []
    lines = []
    for part in answer.parts or [answer]:
        if not part.problem:
            file = escape_unprintable(str(part.picture.file))
            lines.append(f"{file}  ({translate(str(part.type))})")
        if part.note:
            lines.append(f"  {part.note}")
    if answer.parts:
        lines.append(translate("together"))
    lines.append(f"  {answer.verdict_text}")
    if answer.name or rank_rejected:
        lines += _format_ranking(select(answer), answer)
    return [escape_unprintable("\n".join([*lines, ""]), keep="\n\N{NO-BREAK SPACE}")]


def _format_ranking(selected: Ranking, answer: Answer) -> list[str]:
    if not selected:
        return [f"  {translate('no species is likely enough')}"]
    lines = []
    width = max(len(name) for name, _ in selected)
    for rank, (name, probability) in enumerate(selected, 1):
        common_names = describe_common_names(
            name, answer.common_names.get(name, ())[:1]
        )
        share = format_probability(answer.calibrate(probability), 1)
        lines.append(f"  {rank}  {share:>6}  {name:<{width}}  {common_names}".rstrip())
    return lines
