"""Score localised and named objects by the interpretation metric of Hemery et al.

The truth and the result are both label masks (a PNG whose pixels hold 0 for the background and a number for each
object, or a folder of such PNGs with the same names), or both JSON files in the COCO format, of which segmentations
are compared where there are any, otherwise boxes. The classes of the objects in label masks are read from objects.csv
beside them: mask,label,class,confidence; without it only detection and localisation are scored. If the result lacks a
picture, all its objects count as missed. A crowd (iscrowd 1) can't be missed, and hides found objects of its class.

The error ranges from 0 (all objects found, in place and with the correct class) to 1. The localisation metrics are
means over the matched pairs. A picture without any true or found object has no error: it is left out of the mean, or
counts with an error of 0 (--count-empty).

examples:
  leafid evaluate-interpretation truth-masks my-masks
  leafid evaluate-interpretation --matching one-to-one --alpha 0.5 truth.json result.json
  leafid evaluate-interpretation --explain branch.jpg truth.json result.json
  leafid evaluate-interpretation --distances distances.csv --by-picture truth.json result.json
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.cli.arguments import add_options, number_type
from leafid.cli.environment import Environment
from leafid.cli.outputs import print_tables
from leafid.errors import LeafidError, UsageError, suggest
from leafid.pictures import read_and_warn
from leafid.scoring.tables import Cell, Table
from leafid.tasks.file_kinds import find_other_command

if TYPE_CHECKING:
    from leafid.tasks.interpretation.class_distances import Distance
    from leafid.tasks.interpretation.metric import Parameters
    from leafid.tasks.interpretation.picture_errors import PictureError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("truth", metavar="TRUTH", help="label masks or boxes of the ground truth")
    parser.add_argument("result", metavar="RESULT", help="label masks or boxes of the result")
    add_parameters(parser)
    parser.add_argument(
        "--fom-alpha",
        type=number_type("a number above 0", lambda value: value > 0),
        metavar="A",
        help="weight of a squared distance in the figure of merit of label masks (default: 1/9)",
    )
    parser.add_argument(
        "--contours",
        choices=("truth", "result", "both"),
        help="the label masks of the truth, the result or both show closed contours, which are filled",
    )
    parser.add_argument("--by-picture", action="store_true", help="show the errors of every picture")
    parser.add_argument(
        "--count-empty",
        action="store_true",
        help="count pictures without true and found objects with an error of 0 (default: leave them out)",
    )
    parser.add_argument(
        "--explain",
        metavar="PICTURE",
        action="append",
        default=[],
        help="show the matrices of every step and the errors of every object of a picture; may be repeated",
    )
    parser.add_argument(
        "--compare",
        metavar="RESULT",
        help="test whether another result differs, by paired randomisation over pictures",
    )
    add_options(parser, "format", "table")


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the parameters of the metric."""
    parser.add_argument("--matching", choices=("multiple", "one-to-one"), default="multiple", help="default: multiple")
    parser.add_argument(
        "--threshold",
        type=number_type("a number from 0 to below 1", lambda value: 0 <= value < 1),
        metavar="T",
        help="overlap above which objects match, with multiple matching (default: 0.2)",
    )
    parser.add_argument(
        "--alpha",
        type=number_type("a number from 0 to 1", lambda value: 0 <= value <= 1),
        default=0.8,
        metavar="A",
        help="weight of the localisation (default: 0.8)",
    )
    distances = parser.add_mutually_exclusive_group()
    distances.add_argument("--distances", metavar="CSV", help="distances between classes, 0 to 1 (default: all 1)")
    distances.add_argument("--similarities", metavar="CSV", help="similarities between classes, 0 to 1")
    distances.add_argument(
        "--taxonomy",
        metavar="TREE",
        help="distances in a tree of classes: a CSV with the columns class and parent, or the species of a collection",
    )


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    from leafid.tasks.interpretation.explanation import explain_scene

    parameters = read_parameters(arguments)
    errors = _score_pictures(arguments, environment, parameters)
    tables = [_make_summary(errors, arguments.count_empty)]
    if arguments.compare:
        others = argparse.Namespace(**{**vars(arguments), "result": arguments.compare})
        results = {arguments.result: errors, arguments.compare: _score_pictures(others, environment, parameters)}
        tables.append(_compare(results))
    if arguments.by_picture:
        tables.append(_list_pictures(errors))
    by_name = {error.picture: error for error in errors}
    for picture in arguments.explain:
        if picture not in by_name:
            raise UsageError(f"--explain {picture}: expected a picture of the truth{suggest(picture, by_name)}")
        tables += explain_scene(picture, by_name[picture].scene, by_name[picture].interpretation)
    print_tables(tables, arguments, environment)
    return 0


def _compare(results: dict[str, list[PictureError]]) -> Table:
    """Compare two results by the mean error of the pictures that have an object in the truth or in either."""
    from leafid.scoring.comparison import compare_values, make_comparison_table

    errors = [[error.error for error in pictures] for pictures in results.values()]
    has_objects = [any(math.isfinite(error) for error in pair) for pair in zip(*errors, strict=True)]
    # Without true and found objects there is no error.
    values = [
        [0.0 if math.isnan(error) else error / max(sum(has_objects), 1) for error in pictures] for pictures in errors
    ]
    units = [error.picture for error in next(iter(results.values()))]
    comparisons = compare_values([*results], values, units, higher_is_better=False)
    return make_comparison_table(comparisons, "error", units="pictures")


def read_parameters(arguments: argparse.Namespace) -> Parameters:
    """Read the parameters of the metric from the options of `add_parameters`."""
    from leafid.tasks.interpretation.metric import Parameters

    if arguments.threshold is not None and arguments.matching == "one-to-one":
        raise UsageError("--threshold has no effect with --matching one-to-one")
    threshold = 0.2 if arguments.threshold is None else arguments.threshold
    return Parameters(arguments.matching, threshold, arguments.alpha, _read_distance(arguments))


def _score_pictures(
    arguments: argparse.Namespace, environment: Environment, parameters: Parameters
) -> list[PictureError]:
    from leafid.tasks.interpretation.label_masks import list_masks, read_mask_pairs
    from leafid.tasks.interpretation.localisation import FOM_ALPHA
    from leafid.tasks.interpretation.picture_errors import score_masks

    has_boxes = [Path(source).suffix.lower() == ".json" for source in (arguments.truth, arguments.result)]
    for source in (arguments.truth, arguments.result):
        if problem := find_other_command(source, "evaluate-interpretation"):
            raise LeafidError(problem)
    if has_boxes[0] != has_boxes[1]:
        raise UsageError("expected boxes (.json) or label masks for both truth and result, found one of each")
    if has_boxes[0]:
        return _score_coco(arguments, environment, parameters)
    true_files = list_masks(arguments.truth)
    missing = sorted(set(true_files) - set(list_masks(arguments.result)))
    if missing and Path(arguments.truth).is_dir():
        environment.warn(
            f"{arguments.result}: lacks {len(missing)} masks ({missing[0]} …); their objects count as missed"
        )
    contours = {"truth", "result"} if arguments.contours == "both" else {arguments.contours}
    pairs = read_mask_pairs(arguments.truth, arguments.result, contours=contours)
    errors = []
    for pair in environment.progress(pairs, len(true_files), "scoring"):
        if pair.true_objects is None and parameters.distance is not None:
            raise UsageError("distances between classes have no effect without objects.csv beside the masks")
        errors.append(score_masks(pair, parameters, arguments.fom_alpha or FOM_ALPHA))
    return errors


def _score_coco(arguments: argparse.Namespace, environment: Environment, parameters: Parameters) -> list[PictureError]:
    from leafid.tasks.interpretation.coco import read_coco
    from leafid.tasks.interpretation.localisation import FOM_ALPHA
    from leafid.tasks.interpretation.picture_errors import score_objects

    truth = read_coco(arguments.truth)
    result = read_coco(arguments.result, truth)
    has_regions = truth.has_regions and result.has_regions
    if truth.has_regions != result.has_regions:
        only, other = (arguments.truth, arguments.result) if truth.has_regions else (arguments.result, arguments.truth)
        environment.warn(f"only {only} has segmentations; they are compared with the boxes of {other}")
    if arguments.contours:
        raise UsageError("--contours has no effect on JSON files; it is for label masks")
    if arguments.fom_alpha and not has_regions:
        raise UsageError("--fom-alpha has no effect on boxes, which have no contours")
    fom_alpha = (arguments.fom_alpha or FOM_ALPHA) if has_regions else None
    return [
        score_objects(
            name, objects, result.objects[name], parameters, crowds=truth.crowds.get(name, ()), fom_alpha=fom_alpha
        )
        for name, objects in sorted(truth.objects.items())
    ]


def _read_distance(arguments: argparse.Namespace) -> Distance | None:
    from leafid.tasks.interpretation.class_distances import make_distance, read_distances, read_taxonomy

    if arguments.distances:
        return read_distances(arguments.distances)
    if arguments.similarities:
        return read_distances(arguments.similarities, similarities=True)
    if arguments.taxonomy and Path(arguments.taxonomy).suffix.lower() == ".csv":
        return read_taxonomy(arguments.taxonomy)
    if arguments.taxonomy:
        from leafid.pictures.taxonomy import Taxonomy

        tree = Taxonomy.from_pictures(read_and_warn(arguments.taxonomy).pictures)
        return make_distance(tree.species, tree.compute_distances(), arguments.taxonomy)
    return None


def _make_summary(errors: list[PictureError], count_empty: bool) -> Table:
    from leafid.tasks.interpretation.localisation import METRICS as LOCALISATION
    from leafid.tasks.interpretation.metric import METRICS as INTERPRETATION
    from leafid.tasks.interpretation.picture_errors import average_errors

    metrics = {metric.name: metric for metric in (*INTERPRETATION, *LOCALISATION)}
    rows = [
        [name, value, "higher" if metrics[name].higher_is_better else "lower", metrics[name].summary]
        for name, value in average_errors(errors, count_empty=count_empty).items()
    ]
    true_objects = sum(len(error.scene.true_names) for error in errors)
    missed = sum(len(error.interpretation.missed) for error in errors)
    invented = sum(len(error.interpretation.invented) for error in errors)
    objects = f"{len(errors)} pictures, {true_objects} objects: {missed} missed, {invented} invented"
    notes = [f"{objects}; means over pictures"]
    if empty := sum(math.isnan(error.error) for error in errors):
        treatment = "count with an error of 0" if count_empty else "are left out; --count-empty counts them as 0"
        notes.append(f"{empty} of the pictures have neither true nor found objects and {treatment}")
    if ignored := sum(error.ignored for error in errors):
        notes.append(f"{ignored} found objects are in crowds and don't count")
    return Table("", ["metric", "mean", "better", "what"], rows, notes)


def _list_pictures(errors: list[PictureError]) -> Table:
    columns = ["picture", "objects", "found", "matches", "missed", "invented", "error", *errors[0].measures]
    rows: list[list[Cell]] = []
    for error in errors:
        found = error.interpretation
        counts = [*found.matches.shape, int(found.matches.sum()), len(found.missed), len(found.invented)]
        rows.append([error.picture, *counts, found.error, *error.measures.values()])
    return Table("", columns, rows)
