"""The formats in which predict reports answers."""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leafid.cli.identify.answers import Selector
from leafid.model.answer import Answer, format_probability
from leafid.model.locating import locate_leaf
from leafid.model.model import Model
from leafid.pictures import Picture
from leafid.scoring.runs import format_run_line
from leafid.scoring.tables import format_csv
from leafid.tasks.annotation2016.files import format_line
from leafid.tasks.annotation2016.results import localise_ranking
from leafid.workers import ordered_map

_CSV_COLUMNS = (
    "picture",
    "type",
    "type_probability",
    "leaf",
    "known",
    "verdict",
    "name",
    "rank",
    "species",
    "common_names",
    "probability",
    "problem",
)


@dataclass(frozen=True)
class AnswerFormat:
    """How answers become text."""

    #: What an entry is, in messages.
    kind: str
    #: From answers to the entries of each.
    format: Callable[[Sequence[Answer]], list[list[str]]]
    #: `head`, `separator`, `tail`: before the first entry, between two of them, and after the last.
    head: str = ""
    separator: str = ""
    tail: str = ""

    def join(self, entries: Sequence[str], *, is_first: bool, is_last: bool) -> str:
        """Join the entries of a batch, whether it begins the output or ends it."""
        head = self.head if is_first else self.separator if entries else ""
        return head + self.separator.join(entries) + (self.tail if is_last else "")


def make_format(arguments: argparse.Namespace, select: Selector) -> AnswerFormat:
    """Make the format that ``--format`` asks for."""
    if arguments.format == "run":
        return AnswerFormat("predictions", _for_each(_format_run, select, arguments))
    if arguments.format == "annotation2016":
        return AnswerFormat("lines", _make_localised_formatter(select, arguments))
    if arguments.format == "text":
        return AnswerFormat(
            "answers", lambda answers: [_format_text(own, select, arguments) for own in answers], separator="\n"
        )
    if arguments.format == "csv":
        head = ",".join(_CSV_COLUMNS) + "\n"
        return AnswerFormat("rows", _for_each(_format_csv, select, arguments), head)
    if arguments.format == "json":
        return AnswerFormat("answers", _for_each(_format_json, select, arguments), "[\n", ",\n", "\n]\n")
    return AnswerFormat("answers", _for_each(_format_jsonl, select, arguments))


def make_run_name(picture: Picture, naming: str) -> str:
    """Return the name of a picture in a run file; with the naming ``underscore``, blanks become underscores."""
    return re.sub(r"\s", "_", picture.name) if naming == "underscore" else picture.name


def check_localised_names(model: Model) -> None:
    """Raise before the work starts if the format of the ImageCLEF 2016 annotation task can't hold a species' name."""
    for species in model.species:
        format_line("species", localise_ranking([(species, 1.0)], (0, 1, 0, 1)))


def _for_each(
    format_answer: Callable[[Answer, Selector, argparse.Namespace], list[str]],
    select: Selector,
    arguments: argparse.Namespace,
) -> Callable[[Sequence[Answer]], list[list[str]]]:
    return lambda answers: [
        [entry for own in answer.expand() for entry in format_answer(own, select, arguments)] for answer in answers
    ]


def _format_run(answer: Answer, select: Selector, arguments: argparse.Namespace) -> list[str]:
    if answer.problem:
        return []
    name = make_run_name(answer.picture, arguments.names)
    factor = answer.known_leaf if arguments.open_world else 1.0
    return [
        format_run_line(name, species, rank, score * factor) for rank, (species, score) in enumerate(select(answer), 1)
    ]


def _make_localised_formatter(
    select: Selector, arguments: argparse.Namespace
) -> Callable[[Sequence[Answer]], list[list[str]]]:
    """Format answers as the run file of the ImageCLEF 2016 annotation task, subtask 1."""

    def format_answers(answers: Sequence[Answer]) -> list[list[str]]:
        readable = [[own for own in answer.expand() if not own.problem] for answer in answers]
        boxes = ordered_map(locate_leaf, [own.picture for group in readable for own in group], arguments.jobs)
        return [[format_answer(own, next(boxes)) for own in group] for group in readable]

    def format_answer(answer: Answer, box: tuple[int, int, int, int]) -> str:
        name = make_run_name(answer.picture, arguments.names)
        return format_line(name, localise_ranking(select(answer), box))

    return format_answers


def _format_record(answer: Answer, select: Selector, arguments: argparse.Namespace) -> dict:
    # With back-off, the name is a key of its own.
    return answer.to_dict(None if arguments.back_off or answer.problem else select(answer))


def _format_json(answer: Answer, select: Selector, arguments: argparse.Namespace) -> list[str]:
    return [json.dumps(_format_record(answer, select, arguments), ensure_ascii=False, indent=1)]


def _format_jsonl(answer: Answer, select: Selector, arguments: argparse.Namespace) -> list[str]:
    return [json.dumps(_format_record(answer, select, arguments), ensure_ascii=False) + "\n"]


def _format_csv(answer: Answer, select: Selector, arguments: argparse.Namespace) -> list[str]:
    record = _format_record(answer, select, arguments)
    species = [
        {**named, "rank": rank, "common_names": ", ".join(named["common_names"])}
        for rank, named in enumerate(record["ranking"], 1)
    ]
    rows = [record | named for named in species] or [record]
    return [format_csv([[row.get(column) for column in _CSV_COLUMNS]]) for row in rows]


def _format_text(answer: Answer, select: Selector, arguments: argparse.Namespace) -> list[str]:
    """Format an answer for a person to read; the ranking of a rejected picture is given only if it is asked for."""
    if answer.problem:
        return []
    lines = [
        f"{part.picture.file}  ({describe_picture(part)})" for part in answer.parts or [answer] if not part.problem
    ]
    if answer.parts:
        lines.append(f"together  ({answer.evidence})")
    lines.append(f"  {answer.verdict_text}")
    if answer.name or arguments.top or arguments.set or arguments.back_off:
        lines += _format_ranking(select(answer), answer)
    return ["".join(f"{line}\n" for line in lines)]


def describe_picture(answer: Answer) -> str:
    """Say which type a picture has, and how probable a leaf and a known species are."""
    return "; ".join(filter(None, [str(answer.type), answer.evidence]))


def _format_ranking(selected: Sequence[tuple[str, float]], answer: Answer) -> Iterator[str]:
    if not selected:
        yield "  no species is likely enough"
        return
    if answer.name is None:
        yield f"  {answer.condition}:"
    width = max(len(name) for name, _ in selected)
    for rank, (name, probability) in enumerate(selected, 1):
        if name in answer.common_names:
            remark = ", ".join(answer.common_names[name][:2])
        else:
            remark = "likeliest: " + ", ".join(
                f"{species} {format_probability(p, 1)}" for species, p in answer.ranking[:3]
            )
        yield f"  {rank}  {format_probability(probability, 1):>6}  {name:<{width}}  {remark}".rstrip()
