"""The formats in which predict reports answers."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leafid.model.answer import Answer, format_probability
from leafid.scoring.runs import format_run_line
from leafid.scoring.tables import format_csv

Ranking = Sequence[tuple[str, float]]
#: From an answer, which ranks all species, to the names that are reported, with their probabilities.
Selector = Callable[[Answer], Ranking]
FORMATS = ("text", "json", "jsonl", "csv", "run")
_CSV_COLUMNS = (
    *("picture", "type", "type_probability", "leaf", "known", "verdict", "name"),
    *("rank", "species", "common_names", "probability", "problem"),
)


@dataclass(frozen=True)
class AnswerFormat:
    """How answers become text."""

    #: What an entry is, in messages.
    kind: str
    #: From an answer to its entries; one of a plant has entries for each picture, but in text.
    format: Callable[[Answer], list[str]]
    #: `head`, `separator`, `tail`: before the first entry, between two of them, and after the last.
    head: str = ""
    separator: str = ""
    tail: str = ""

    def join(self, entries: Sequence[str], *, is_first: bool, is_last: bool) -> str:
        """Join the entries of a batch, whether it begins the output or ends it."""
        head = self.head if is_first else self.separator if entries else ""
        return head + self.separator.join(entries) + (self.tail if is_last else "")


def make_format(name: str, select: Selector, *, open_world: bool, rank_rejected: bool) -> AnswerFormat:
    """Make one of the `FORMATS`.

    With `open_world`, runs have the probabilities of a leaf of the species; with `rank_rejected`, text has a ranking
    of rejected pictures as well.
    """

    def make_record(answer: Answer) -> dict:
        # With back-off, the name is a key of its own.
        return answer.to_dict(None if answer.backed_off or answer.problem else select(answer))

    def format_run(answer: Answer) -> list[str]:
        factor = answer.known_leaf if open_world else 1.0
        ranking = [] if answer.problem else select(answer)
        return [
            format_run_line(answer.picture.name, species, rank, score * factor)
            for rank, (species, score) in enumerate(ranking, 1)
        ]

    def for_each_picture(format_answer: Callable[[Answer], list[str]]) -> Callable[[Answer], list[str]]:
        return lambda answer: [entry for own in answer.expand() for entry in format_answer(own)]

    if name == "run":
        return AnswerFormat("predictions", for_each_picture(format_run))
    if name == "csv":
        head = ",".join(_CSV_COLUMNS) + "\n"
        return AnswerFormat("rows", for_each_picture(lambda answer: _format_csv(make_record(answer))), head)
    if name == "json":
        dump = for_each_picture(lambda answer: [json.dumps(make_record(answer), ensure_ascii=False, indent=1)])
        return AnswerFormat("answers", dump, "[\n", ",\n", "\n]\n")
    if name == "jsonl":
        dump = for_each_picture(lambda answer: [json.dumps(make_record(answer), ensure_ascii=False) + "\n"])
        return AnswerFormat("answers", dump)
    return AnswerFormat("answers", lambda answer: _format_text(answer, select, rank_rejected), separator="\n")


def _format_csv(record: dict) -> list[str]:
    species = [
        {**named, "rank": rank, "common_names": ", ".join(named["common_names"])}
        for rank, named in enumerate(record["ranking"], 1)
    ]
    rows = [record | named for named in species] or [record]
    return [format_csv([[row.get(column) for column in _CSV_COLUMNS]]) for row in rows]


def _format_text(answer: Answer, select: Selector, rank_rejected: bool) -> list[str]:
    """Format an answer for a person to read."""
    if answer.problem:
        return []
    lines = [
        f"{part.picture.file}  ({describe_picture(part)})" for part in answer.parts or [answer] if not part.problem
    ]
    if answer.parts:
        lines.append(f"together  ({answer.evidence})")
    lines.append(f"  {answer.verdict_text}")
    if answer.name or rank_rejected:
        lines += _format_ranking(select(answer), answer)
    return ["".join(f"{line}\n" for line in lines)]


def describe_picture(answer: Answer) -> str:
    """Say which type a picture has, and how probable a leaf and a known species are."""
    return "; ".join(filter(None, [str(answer.type), answer.evidence]))


def _format_ranking(selected: Ranking, answer: Answer) -> Iterator[str]:
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
