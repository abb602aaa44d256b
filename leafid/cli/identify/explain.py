"""Explain the answer to a picture: its leaf, traits, and reasons for the species.

For each picture, explain prints the answer in words, the traits of the leaf with their
numbers, the probabilities that the answer's is made of, what each expert of the model
says and its share of the answer, and the traits in which the first species and its
look-alike differ, with the ranges of both. A trait is left out where it isn't sure, as
in a photo of leaves on the tree.

With --format json, it prints the same and the outline for programs, as
leafid.Explanation.to_dict gives them.

With --output, it writes a page with the same and the picture with its outline, petiole,
tip and base, and the most similar training pictures that the model keeps. The page is a
single file that needs no network.

examples:
  leafid explain my-leaf.jpg
  leafid explain my-leaf.jpg other-leaf.jpg --output explained
"""

import json
from collections.abc import Iterator
from textwrap import fill

from tabulate import tabulate

from leafid.cli.arguments import LANGUAGE, UnlabelledOptions, option
from leafid.cli.outputs import Console, check_output
from leafid.errors import escape_unprintable
from leafid.features.loader import FeatureLoader
from leafid.files import write_text
from leafid.model.answer import format_probability
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.pages.explaining import Explanation, explain_answer
from leafid.pages.rendering import (
    format_range,
    format_share,
    format_trait,
    render_page,
)
from leafid.scoring.tables import WIDTH
from leafid.translation import look_up, translate

FILE_NAME = "explanation.html"


class Options(UnlabelledOptions):
    output: str | None = option(
        f"the folder to write {FILE_NAME} to", metavar="DIR", group="form"
    )
    format: str = option(
        "text (default) or json", choices=("text", "json"), default="text", group="form"
    )
    language: str = LANGUAGE


def run(options: Options, console: Console) -> int:
    """Explain the pictures; return 1 when any could not be read."""
    if options.output:
        check_output(options.output, options.pictures, file=FILE_NAME)
    model = Model.read(options.model or find_bundled_model()).in_language(
        options.language
    )
    collection = options.read(options.pictures)
    loader = FeatureLoader(progress=console.progress)
    explanations: list[Explanation] = []
    for number, answer in enumerate(model.predict(collection.pictures, loader)):
        if answer.problem is not None:
            continue
        explanation = explain_answer(model, answer)
        if options.output or options.format == "json":
            explanations.append(explanation)
            continue
        if number:
            console.print()
        _print_explanation(explanation, console)
    if options.format == "json":
        records = [explanation.to_dict() for explanation in explanations]
        console.print(json.dumps(records, ensure_ascii=False, indent=1))
    elif explanations:
        file = f"{options.output}/{FILE_NAME}"
        write_text(file, render_page("explanations.html", explanations=explanations))
        console.print(file)
    return int(bool(loader.unreadable) or collection.is_incomplete)


def _print_explanation(explanation: Explanation, console: Console) -> None:
    answer = explanation.answer
    heading = f"{answer.picture.file}  ({translate(str(answer.type))})"
    console.print(escape_unprintable(heading))
    for line in _format_explanation(explanation):
        console.print(f"  {line}".rstrip())


def _format_explanation(explanation: Explanation) -> Iterator[str]:
    sentences = [
        explanation.answer.note,
        explanation.answer.verdict_text,
        explanation.traits_text,
    ]
    for sentence in filter(None, sentences):
        yield from _wrap(sentence)
    if explanation.answer.details:
        yield from ["", *_wrap(explanation.answer.details)]
    if explanation.opinions:
        rows = []
        headings = [
            translate("expert"),
            translate("looks at"),
            translate("share"),
            translate("its own answer"),
        ]
        for opinion in explanation.opinions:
            answers = ", ".join(
                f"{name} {format_probability(p)}" for name, p in opinion["ranking"]
            )
            rows.append(
                [
                    look_up(opinion["name"]),
                    opinion["description"],
                    format_share(opinion["share"]),
                    answers,
                ]
            )
        yield from _tabulate(rows, headings)
    if explanation.differences:
        rows = []
        headings = [
            translate("trait"),
            translate("this leaf"),
            *explanation.compared,
            translate("speaks for"),
        ]
        for trait in explanation.differences:
            unit = trait["unit"]
            ranges = [
                format_range(range_.low, range_.high, unit)
                for range_ in trait["ranges"]
            ]
            rows.append(
                [
                    translate(trait["title"]),
                    format_trait(trait["value"], unit),
                    *ranges,
                    translate(trait["favours"]),
                ]
            )
        yield from _tabulate(rows, headings)
    if explanation.note:
        yield from _wrap(explanation.note)


def _wrap(sentence: str) -> list[str]:
    return fill(sentence.rstrip(".") + ".", WIDTH - 2).splitlines()


def _tabulate(rows: list[list[str]], headers: list[str]) -> list[str]:
    return ["", *tabulate(rows, headers, "plain", disable_numparse=True).splitlines()]
