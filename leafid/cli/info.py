"""Show what a collection holds, or what a model knows.

Of a model, info lists the acquisition types with the scores of the training, and the species with their families,
training pictures and plants, how many held-out pictures were identified correctly, and what these were taken for; then
the model card. --format csv has a line for each species and type. --output writes the field guide, a page with a plate
of each species.

Of a collection, info counts the pictures, species, plants and authors of each acquisition type, and lists rare species,
unreadable files, duplicates, problems in metadata, and what would spoil an experiment. --quick reads only the headers
of pictures. --similar finds pictures of one leaf by their details.

examples:
  leafid info imageclef2011
  leafid info --quick my-leaves
  leafid info scans --similar plants.csv && leafid crossval scans --metadata plants.csv
  leafid info --format json plantnet_300K > what-is-there.json
  leafid info clef11.leafid
  leafid info clef11.leafid --output field-guide
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from leafid.cli.arguments import JOBS, ReadingOptions, option, positional, positive_int, switch
from leafid.cli.environment import Environment
from leafid.cli.outputs import check_output_file, refuse_inputs, text_output_path
from leafid.errors import UsageError, escape_unprintable
from leafid.features.loader import FeatureLoader
from leafid.features.same_leaf import find_similar
from leafid.files import check_writable, write_text
from leafid.grouping import count_noun
from leafid.model.archive import is_archive
from leafid.model.bundled import find_bundled_model, recognise_types
from leafid.model.model import Model
from leafid.pages import field_guide
from leafid.pages.rendering import render_page
from leafid.pictures import Collection, read_collection
from leafid.pictures.readers.records import get_relative_path
from leafid.pictures.summary import FileCheck, check_file, summarise
from leafid.scoring.tables import Cell, format_csv, render
from leafid.workers import ordered_map

MAX_LINES = 20
FILE_NAME = "field-guide.html"
# Maximum length of a line in a list; JSON has all of it.
_MAX_LENGTH = 400


class Options(ReadingOptions):
    """The options of info."""

    collection: list[str] = positional(
        "COLLECTION", "a folder or pictures, or a model (default: the bundled model)", nargs="*"
    )
    quick: bool = switch("read only the headers of pictures")
    few: int = option(
        "list the species with fewer pictures than this (default: 10)", type=positive_int, default=10, metavar="N"
    )
    format: str = option(
        "json has complete lists, csv the species of a model (default: text)",
        choices=("text", "csv", "json"),
        default="text",
    )
    output: str | None = option(f"the folder to write {FILE_NAME} of a model to", metavar="DIR")
    similar: str | None = option(
        "look for pictures of one leaf, scanned twice or resized, among those of each label, and write a table "
        "for --metadata in which they are of one plant",
        metavar="TABLE",
        type=text_output_path,
    )
    jobs: int = JOBS


def run(options: Options, environment: Environment) -> int:
    """Describe the model, or summarise the collection."""
    given = options.collection or [str(find_bundled_model())]
    if len(given) == 1 and is_archive(given[0]):
        return _describe_model(Path(given[0]), options, environment)
    for name, is_given in (("--output", options.output), ("--format csv", options.format == "csv")):
        if is_given:
            raise UsageError(f"expected a model with {name}, found {', '.join(given)}")
    if options.similar:
        refuse_inputs(options.similar, [path for path in (*options.collection, options.metadata) if path])
        check_writable(options.similar)
    collection = read_collection(options.collection, **options.as_keywords())
    missing = {picture.file for picture in collection.find_missing()}
    files = [picture.file for picture in collection.pictures if picture.file not in missing]
    check = partial(check_file, decode=not options.quick)
    results = ordered_map(
        check,
        files,
        options.jobs,
        lambda file, problem: FileCheck(file, error=f"{file}: {problem}"),
        item_seconds=0.002 if options.quick else 0.03,
    )
    checks = list(environment.progress(results, len(files), "reading"))
    summary = summarise(collection, checks)
    if options.format == "json":
        environment.print(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        for line in _format_summary(summary, options.few):
            environment.print(line)
    if options.similar:
        _write_similar(options.similar, options.jobs, collection, environment)
    return 0


def _describe_model(file: Path, options: Options, environment: Environment) -> int:
    if options.output:
        check_output_file(options.output, FILE_NAME, [file])
    model = Model.read(file)
    guide = field_guide.make_guide(model, file)
    if options.output:
        write_text(f"{options.output}/{FILE_NAME}", render_page("field_guide.html", **guide))
        environment.print(f"{options.output}/{FILE_NAME}")
    elif options.format == "json":
        described = field_guide.describe_model(model, str(file)) | {"card": guide["card"]}
        environment.print(json.dumps(described, ensure_ascii=False, indent=2))
    elif options.format == "csv":
        environment.stdout.write(render([field_guide.tabulate_species_by_type(model)], "csv"))
    else:
        environment.print(f"{file}: {len(model.species)} species\n")
        environment.stdout.write(render([guide["types"], guide["species"]], digits=3))
        for text in (guide["note"], guide["card"]):
            if text:
                environment.print(f"\n{escape_unprintable(text.rstrip(), keep=chr(10))}")
    return 0


def _write_similar(table: str, jobs: int, collection: Collection, environment: Environment) -> None:
    """Write the table of plants, in which the pictures of each group of similar ones are one plant."""
    loader = FeatureLoader(jobs=jobs, progress=environment.progress)
    pictures = [picture for picture in collection.select_labelled().pictures if picture.file.is_file()]
    typed, _ = recognise_types(pictures, loader)
    groups = list(find_similar(typed, loader))
    plants = {picture.file: group[0].plant or group[0].name for group in groups for picture in group}
    rows: list[list[Cell]] = [
        [str(get_relative_path(p.file, collection.root)), p.species, plants.get(p.file) or p.plant or p.name]
        for p in pictures
    ]
    write_text(table, format_csv([["file", "label", "plant"], *rows]))
    for group in groups[:MAX_LINES]:
        environment.note(f"one leaf: {', '.join(picture.name for picture in group)[:_MAX_LENGTH]}")
    environment.note(f"{count_noun(len(groups), 'group')} of pictures of one leaf; {table} has plants, for --metadata")


def _format_summary(summary: dict[str, Any], few: int) -> Iterable[str]:
    yield f"{summary['root']} (layout: {summary['layout']})"
    yield ""
    yield from _format_types(summary)
    yield ""
    parts = ", ".join(f"{part} {number}" for part, number in summary["parts"].items())
    yield _format_entry("parts", parts)
    yield from _format_rare_species(summary, few)
    yield ""
    yield from _format_files(summary)
    yield from _format_section("warnings", summary["warnings"], "risk", " for an experiment")


def _format_types(summary: dict[str, Any]) -> Iterable[str]:
    columns = ("pictures", "species", "plants", "authors")
    rows = [[type_, *(counts[c] for c in columns)] for type_, counts in summary["types"].items()]
    if len(rows) > 1:
        rows.append(["all", *(summary["total"][c] for c in columns)])
    yield from _format_table(rows, ["type", *columns])


def _format_rare_species(summary: dict[str, Any], few: int) -> Iterable[str]:
    rare = [entry for entry in summary["species"] if entry["pictures"] < few or entry["plants"] == 1]
    if not rare:
        return
    types = list(summary["types"])
    yield ""
    yield f"species with fewer than {few} pictures, or a single plant: {len(rare)} of {len(summary['species'])}"
    rows = [
        [entry["species"], entry["pictures"], entry["plants"], *(entry["by_type"].get(type_, 0) for type_ in types)]
        for entry in rare
    ]
    yield from _indent(_format_table(rows, ["species", "pictures", "plants", *types]))


def _format_files(summary: dict[str, Any]) -> Iterable[str]:
    looked_at = summary["total"]["pictures"] - len(summary["missing"])
    yield from _format_section("missing", summary["missing"], "picture", " with metadata but no file")
    yield from _format_section("unreadable", summary["unreadable"], "file", f" of {looked_at}")
    yield from _format_section("damaged", summary["damaged"], "file", ", readable only in part")
    duplicates = [" = ".join(files) for files in summary["duplicates"]]
    yield from _format_section("duplicates", duplicates, "group", " of files with the same content")
    yield from _format_section("problems", summary["problems"], "problem", " in folders or metadata")


def _format_section(title: str, lines: Sequence[str], noun: str, about: str) -> Iterable[str]:
    yield _format_entry(title, count_noun(len(lines), noun) + about if lines else "none")
    yield from _indent(line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}…" for line in lines[:MAX_LINES])
    if len(lines) > MAX_LINES:
        yield f"  … and {len(lines) - MAX_LINES} more; --format json lists them all"


def _format_entry(title: str, text: str) -> str:
    return f"{title:<14}{text}"


def _indent(lines: Iterable[str]) -> Iterable[str]:
    return (f"  {line}" for line in lines)


def _format_table(rows: Sequence[Sequence[object]], headers: Sequence[str]) -> list[str]:
    return tabulate(rows, headers, tablefmt="plain", floatfmt=".3f").splitlines()
