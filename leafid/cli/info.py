"""Show what a collection holds, or what a model knows.

Of a model, info lists the acquisition types with the scores of the training, and the
species with their families, training pictures and plants, how many held-out pictures
were identified correctly, and what these were taken for. --output writes the field
guide, a page with a plate of each species.

Of a collection, info counts the pictures, species, plants and authors of each
acquisition type, and lists rare species, unreadable files, duplicates, problems in
metadata, and what would spoil an experiment. --similar finds pictures of one leaf by
their details.

examples:
  leafid info imageclef2011
  leafid info scans --similar plants.csv && leafid crossval scans --metadata plants.csv
  leafid info --format json plantnet_300K > what-is-there.json
  leafid info clef11.leafid
  leafid info clef11.leafid --output field-guide
"""

from pathlib import Path

from leafid.cli.arguments import JOBS, LANGUAGE, ReadingOptions, option, positional
from leafid.cli.outputs import Console, check_output
from leafid.errors import UsageError, escape_unprintable
from leafid.features.loader import FeatureLoader
from leafid.features.same_leaf import find_similar
from leafid.files import write_text
from leafid.model.bundled import assign_types, find_bundled_model
from leafid.model.model import Model
from leafid.model.modelfile import is_model
from leafid.pages.field_guide import describe_model, make_guide
from leafid.pages.rendering import render_page
from leafid.parallel.mapping import N_FEW_READ, ordered_map
from leafid.pictures.picture import Collection
from leafid.pictures.readers.tables import get_relative_path
from leafid.pictures.reading import read_collection
from leafid.pictures.summary import FileCheck, check_file, summarise
from leafid.scoring.tables import format_csv, render
from leafid.translation import translate

FILE_NAME = "field-guide.html"
#: Species with fewer pictures are listed.
FEW = 10
# How many groups of similar pictures are listed.
_MAX_GROUPS = 20


class Options(ReadingOptions):
    collection: list[str] = positional(
        "COLLECTION",
        "a folder or pictures, or a model (default: the bundled model)",
        nargs="*",
    )
    format: str = option(
        "json has complete lists (default: text)",
        choices=("text", "json"),
        default="text",
    )
    output: str | None = option(
        f"the folder to write {FILE_NAME} of a model to", metavar="DIR"
    )
    similar: str | None = option(
        "look for pictures of one leaf, scanned twice or resized, among the pictures "
        "of each label, and write a table for --metadata in which they are of one "
        "plant",
        metavar="TABLE",
    )
    language: str = LANGUAGE
    jobs: int = JOBS


def run(options: Options, console: Console) -> None:
    paths = options.collection or [str(find_bundled_model())]
    if len(paths) == 1 and is_model(paths[0]):
        _describe_model(Path(paths[0]), options, console)
        return
    if options.output:
        raise UsageError(f"expected a model with --output, found {', '.join(paths)}")
    if options.similar:
        check_output(options.similar, [*paths, options.metadata])
    collection = read_collection(paths, **options.as_keywords())
    files = [picture.file for picture in collection.pictures if picture.file.is_file()]
    results = ordered_map(
        check_file,
        files,
        jobs=options.jobs,
        make_failure=lambda file, problem: FileCheck(file, error=f"{file}: {problem}"),
        n_few=N_FEW_READ,
    )
    checks = list(console.progress(results, len(files), "reading"))
    summary = summarise(collection, checks)
    if options.format == "json":
        console.print_json(summary)
    else:
        rare = [
            count
            for count in summary["species"]
            if count["pictures"] < FEW or count["plants"] == 1
        ]
        text = render_page("summary.txt", summary=summary, rare=rare, few=FEW)
        console.print(text.rstrip())
    if options.similar:
        _write_similar(options.similar, options.jobs, collection, console)


def _describe_model(file: Path, options: Options, console: Console) -> None:
    if options.output:
        check_output(options.output, [file], file=FILE_NAME)
    model = Model.read(file).in_language(options.language)
    guide = make_guide(model, file)
    if options.output:
        page = f"{options.output}/{FILE_NAME}"
        write_text(page, render_page("field_guide.html", **guide))
        console.print(page)
    elif options.format == "json":
        facts = describe_model(model, str(file))
        console.print_json(facts | {"card": guide["card"]})
    else:
        number = translate("{number} species", number=len(model.species))
        console.print(f"{file}: {number}\n")
        console.stdout.write(render([guide["types"], guide["species"]], digits=3))
        if guide["note"]:
            console.print(f"\n{guide['note']}")


def _write_similar(
    table: str, jobs: int, collection: Collection, console: Console
) -> None:
    """Write the table of plants: each group of similar pictures is a plant."""
    loader = FeatureLoader(jobs=jobs)
    labelled = collection.select_labelled().pictures
    pictures = [picture for picture in labelled if picture.file.is_file()]
    plants = {p.file: p.plant or p.title for p in pictures}
    lines = []
    for group in find_similar(assign_types(pictures, loader), loader):
        plants |= {picture.file: plants[group[0].file] for picture in group}
        lines.append(", ".join(picture.title for picture in group))
    rows = [["file", "label", "plant"]]
    for picture in pictures:
        path = str(get_relative_path(picture.file, collection.root))
        rows.append([path, str(picture.species), plants[picture.file]])
    write_text(table, format_csv(rows))
    for line in lines[:_MAX_GROUPS]:
        console.note(f"one leaf: {escape_unprintable(line)}")
    console.note(
        f"groups of pictures of one leaf: {len(lines)}; {table} has plants, for "
        "--metadata"
    )
