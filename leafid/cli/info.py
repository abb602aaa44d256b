"""Tell what a collection holds.

Counts pictures, species, plants and authors per acquisition type, shows the long tail of species with few pictures,
and lists pictures that can't be read, files that are there twice, and problems of the metadata.

A collection is an ImageCLEF 2011, 2012 or 2013 folder (pictures with an XML file each), Pl@ntNet-300K, a folder per
species, or just pictures. Every picture is opened to see whether it can be read; --quick looks at headers only.

examples:
  leafid info imageclef2011
  leafid info --quick my-leaves
  leafid info --json plantnet_300K > what-is-there.json
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from leafid.console.arguments import add_jobs, add_layout, positive_int
from leafid.console.environment import Environment

if TYPE_CHECKING:
    from leafid.collection.summary import DuplicatesEntry, Summary

MAX_LINES = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("collection", nargs="+", metavar="COLLECTION", help="a folder, or pictures")
    add_layout(parser)
    parser.add_argument("--quick", action="store_true", help="look at the headers of pictures only")
    parser.add_argument(
        "--few",
        type=positive_int,
        default=10,
        metavar="N",
        help="list the species with fewer pictures than this (default: 10)",
    )
    parser.add_argument("--json", action="store_true", help="write everything as JSON, lists in full")
    add_jobs(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Read the collection and print its summary."""
    import json
    from functools import partial

    from leafid.collection import read_collection
    from leafid.collection.checking import check_file
    from leafid.collection.summary import summarise
    from leafid.parallel import ordered_map

    collection = read_collection(arguments.collection, arguments.layout)
    missing = {picture.file for picture in collection.find_missing()}
    files = [picture.file for picture in collection.pictures if picture.file not in missing]
    results = ordered_map(partial(check_file, decode=not arguments.quick), files, arguments.jobs)
    checks = list(environment.progress(results, len(files), "reading"))
    summary = summarise(collection, checks, decoded=not arguments.quick)
    if arguments.json:
        environment.print(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        for line in _lines(summary, arguments.few):
            environment.print(line)
    return 0


def _lines(summary: Summary, few: int) -> Iterable[str]:
    yield f"{summary['root']} (layout: {summary['layout']})"
    yield ""
    yield from _types(summary)
    yield ""
    yield _pair("contents", _listed(summary["contents"]))
    yield _pair("parts", _listed(summary["parts"]))
    if summary["dates"]:
        yield _pair("taken", " to ".join(summary["dates"]))
    yield from _tail(summary)
    yield from _rare_species(summary, few)
    yield ""
    yield from _files(summary)


def _types(summary: Summary) -> Iterable[str]:
    columns = ("pictures", "species", "plants", "authors")
    rows = [[type_, *(counts[c] for c in columns)] for type_, counts in summary["types"].items()]
    if len(rows) > 1:
        rows.append(["all", *(summary["total"][c] for c in columns)])
    yield from _table(rows, ["type", *columns])


def _tail(summary: Summary) -> Iterable[str]:
    if summary["gini_index"] is None:
        yield _pair("species", "not known of any picture")
        return
    shares = ", ".join(f"{float(top):.0%} hold {held:.0%}" for top, held in summary["top_shares"].items())
    yield _pair("long tail", f"of the species, the largest {shares} of the pictures")
    yield _pair("", f"Gini index {summary['gini_index']:.3f} (0: all species hold the same number)")


def _rare_species(summary: Summary, few: int) -> Iterable[str]:
    rare = [one for one in summary["species"] if one["pictures"] < few or one["plants"] == 1]
    if not rare:
        return
    types = list(summary["types"])
    yield ""
    yield f"species with fewer than {few} pictures, or a single plant: {len(rare)} of {len(summary['species'])}"
    rows = [
        [one["species"], one["pictures"], one["plants"], *(one["by_type"].get(t, 0) for t in types)] for one in rare
    ]
    yield from _indented(_table(rows, ["species", "pictures", "plants", *types]))


def _files(summary: Summary) -> Iterable[str]:
    how = "decoded" if summary["decoded"] else "by their header alone"
    looked_at = summary["total"]["pictures"] - len(summary["missing"])
    yield from _section("missing", summary["missing"], "pictures with metadata but no file")
    yield from _section("unreadable", summary["unreadable"], f"of {looked_at} files ({how})")
    yield from _section("damaged", summary["damaged"], "files that can be read in part")
    duplicates = [_duplicates_line(entry) for entry in summary["duplicates"]]
    yield from _section("duplicates", duplicates, "groups of files with the same content")
    names = [f"{name}: {', '.join(files)}" for name, files in summary["name_clashes"].items()]
    yield from _section(
        "name clashes", names, "file names that several pictures share; a run file can't tell them apart"
    )
    yield from _section("problems", summary["problems"], "in folders or metadata")


def _duplicates_line(entry: DuplicatesEntry) -> str:
    crossed = {"species": entry["cross_species"], "plants": entry["cross_plants"]}
    marks = [word for word, is_crossed in crossed.items() if is_crossed]
    return " = ".join(entry["files"]) + (f"  (different {' and '.join(marks)})" if marks else "")


def _section(title: str, lines: Sequence[str], what: str) -> Iterable[str]:
    yield _pair(title, f"{len(lines)} {what}" if lines else "none")
    yield from _indented(lines[:MAX_LINES])
    if len(lines) > MAX_LINES:
        yield f"  … and {len(lines) - MAX_LINES} more; --json lists them all"


def _pair(title: str, text: str) -> str:
    return f"{title:<14}{text}"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def _indented(lines: Iterable[str]) -> Iterable[str]:
    return (f"  {line}" for line in lines)


def _table(rows: Sequence[Sequence[object]], headers: Sequence[str]) -> list[str]:
    from tabulate import tabulate

    return tabulate(rows, headers, tablefmt="plain").splitlines()
