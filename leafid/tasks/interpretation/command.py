"""Score localised and named objects by the interpretation metric of Hemery et al.

The truth and the result are both label masks (a PNG whose pixels hold 0 for the ground and a number for each object,
or a folder of such PNGs under the same names), or both boxes (a JSON file in the COCO style). What the objects of label
masks are stands in objects.csv beside them: mask,label,class,confidence; without it only detection and localisation are
scored. A picture that the result lacks has all its objects missed.

The error goes from 0 (all objects found in their place and rightly named) to 1. The localisation metrics are those of
the matched pairs, averaged, each by itself.

examples:
  leafid evaluate-interpretation truth-masks my-masks
  leafid evaluate-interpretation --matching one-to-one --alpha 0.5 truth.json result.json
  leafid evaluate-interpretation --distances distances.csv --by-picture truth.json result.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from leafid.console.arguments import add_format, nonempty_path, number_type
from leafid.console.environment import Environment
from leafid.errors import UsageError

if TYPE_CHECKING:
    from leafid.report.tables import Table
    from leafid.tasks.interpretation.metric import Parameters
    from leafid.tasks.interpretation.picture_errors import PictureError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("truth", metavar="TRUTH", help="label masks or boxes of the ground truth")
    parser.add_argument("result", metavar="RESULT", help="label masks or boxes of the result")
    parser.add_argument("--matching", choices=("multiple", "one-to-one"), default="multiple", help="default: multiple")
    parser.add_argument(
        "--threshold",
        type=number_type("a number from 0 to below 1", lambda found: 0 <= found < 1),
        default=0.2,
        metavar="T",
        help="with multiple matching, the overlap above which objects match (default: 0.2)",
    )
    parser.add_argument(
        "--alpha",
        type=number_type("a number from 0 to 1", lambda found: 0 <= found <= 1),
        default=0.8,
        metavar="A",
        help="weight of the localisation (default: 0.8)",
    )
    far = parser.add_mutually_exclusive_group()
    far.add_argument(
        "--distances", metavar="CSV", type=nonempty_path, help="distances between classes, 0 to 1 (default: all 1)"
    )
    far.add_argument(
        "--taxonomy",
        metavar="COLLECTION",
        type=nonempty_path,
        help="distances between species by the taxa of a collection",
    )
    parser.add_argument("--by-picture", action="store_true", help="show every picture")
    add_format(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Compare the result with the truth and print the errors."""
    from leafid.report.tables import render
    from leafid.tasks.interpretation.metric import Parameters

    parameters = Parameters(arguments.matching, arguments.threshold, arguments.alpha, _distance(arguments))
    errors = _errors(arguments, environment, parameters)
    tables = [_summary(errors)]
    if arguments.by_picture:
        tables.append(_by_picture(errors))
    environment.stdout.write(render(tables, arguments.format))
    return 0


def _errors(arguments: argparse.Namespace, environment: Environment, parameters: Parameters) -> list[PictureError]:
    from pathlib import Path

    from leafid.tasks.interpretation.box_files import read_boxes
    from leafid.tasks.interpretation.label_masks import mask_files, read_mask_pairs
    from leafid.tasks.interpretation.picture_errors import score_boxes, score_masks

    boxed = [Path(source).suffix.lower() == ".json" for source in (arguments.truth, arguments.result)]
    if boxed[0] != boxed[1]:
        raise UsageError("expected boxes (.json) or label masks for both truth and result, found one of each")
    if boxed[0]:
        truth = read_boxes(arguments.truth)
        found = read_boxes(arguments.result, truth).objects
        return [score_boxes(name, things, found[name], parameters) for name, things in sorted(truth.objects.items())]
    missing = sorted(set(mask_files(arguments.truth)) - set(mask_files(arguments.result)))
    if missing and Path(arguments.truth).is_dir():
        environment.warn(
            f"{arguments.result}: lacks {len(missing)} masks ({missing[0]} …); their objects count as missed"
        )
    pairs = environment.progress(
        read_mask_pairs(arguments.truth, arguments.result), len(mask_files(arguments.truth)), "scoring"
    )
    return [score_masks(*pair, parameters) for pair in pairs]


def _distance(arguments: argparse.Namespace) -> Callable[[str, str], float] | None:
    from leafid.tasks.interpretation.class_distances import distances_between, read_distances

    if arguments.distances:
        return read_distances(arguments.distances)
    if arguments.taxonomy:
        from leafid.collection import read_and_warn
        from leafid.metrics.taxonomy import Taxonomy

        tree = Taxonomy.of_pictures(read_and_warn(arguments.taxonomy).pictures)
        return distances_between(tree.species, tree.distances(), arguments.taxonomy)
    return None


def _summary(errors: list[PictureError]) -> Table:
    from leafid.report.tables import Table
    from leafid.tasks.interpretation.localisation import METRICS as LOCALISATION
    from leafid.tasks.interpretation.metric import METRICS as INTERPRETATION
    from leafid.tasks.interpretation.picture_errors import mean_errors

    metrics = {metric.name: metric for metric in (*INTERPRETATION, *LOCALISATION)}
    rows = [
        [name, value, "higher" if metrics[name].higher_is_better else "lower", metrics[name].summary]
        for name, value in mean_errors(errors).items()
    ]
    total = {what: sum(getattr(error, what) for error in errors) for what in ("true_objects", "missed", "invented")}
    note = (
        f"{len(errors)} pictures, {total['true_objects']} objects: "
        f"{total['missed']} missed, {total['invented']} invented; means over pictures"
    )
    return Table("", ["metric", "mean", "better", "what"], rows, [note])


def _by_picture(errors: list[PictureError]) -> Table:
    from leafid.report.tables import Cell, Table

    columns = ["picture", "objects", "found", "matches", "missed", "invented", "error", *errors[0].measures]
    rows: list[list[Cell]] = [
        [e.picture, e.true_objects, e.objects, e.matches, e.missed, e.invented, e.error, *e.measures.values()]
        for e in errors
    ]
    return Table("", columns, rows)
