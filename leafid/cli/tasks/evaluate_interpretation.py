"""Score localised and named objects by the interpretation metric of Hemery et al.

The truth and the result are both label masks (a PNG whose pixels hold 0 for the
background and a number for each object, or a folder of such PNGs with the same names),
or both JSON files in the COCO format. Objects are compared by their pixels where all
objects of a picture have them, otherwise by their boxes. The classes of the objects in
label masks are read from objects.csv beside them: mask,label,class,confidence; without
it only detection and localisation are scored. If the result lacks a picture, all its
objects count as missed.

The error ranges from 0 (all objects found, in place and with the correct class) to 1.
The localisation metrics are means over the matched pairs. A picture without any object
in truth and result has no error, and is left out of the mean.

examples:
  leafid evaluate-interpretation truth-masks my-masks
  leafid evaluate-interpretation --matching one-to-one --alpha 0.5 a.json b.json
  leafid evaluate-interpretation --distances distances.csv a.json b.json
"""

import math
from collections.abc import Iterator
from pathlib import Path

from leafid.cli.arguments import TableOptions, number_type, option, positional, switch
from leafid.cli.outputs import Console, print_tables
from leafid.errors import UsageError
from leafid.grouping import count_noun
from leafid.scoring.tables import Rows, Table, read_metrics
from leafid.tasks.interpretation.coco import read_coco
from leafid.tasks.interpretation.label_masks import read_mask_pairs
from leafid.tasks.interpretation.metric import (
    Parameters,
    average_errors,
    read_distances,
    score_objects,
)
from leafid.tasks.interpretation.regions import ObjectPair


class Options(TableOptions):
    truth: str = positional("TRUTH", "label masks or a COCO file of the ground truth")
    result: str = positional("RESULT", "label masks or a COCO file of the result")
    matching: str = option(
        "default: multiple", choices=("multiple", "one-to-one"), default="multiple"
    )
    threshold: float = option(
        "overlap above which objects match, with multiple matching (default: 0.2)",
        type=number_type(0, 0.999999),
        default=0.2,
    )
    alpha: float = option(
        "weight of the localisation (default: 0.8)",
        type=number_type(0, 1),
        default=0.8,
    )
    distances: str | None = option(
        "distances between classes, 0 to 1 (default: all 1)", metavar="CSV"
    )
    by_picture: bool = switch("show the errors of every picture")


def run(options: Options, console: Console) -> None:
    distance = read_distances(options.distances) if options.distances else None
    parameters = Parameters(
        options.matching, options.threshold, options.alpha, distance
    )
    pairs = _read_pairs(options.truth, options.result)
    errors = {
        pair.picture: score_objects(pair, parameters)
        for pair in console.progress(pairs, None, "scoring")
    }
    tables = [_make_summary([*errors.values()])]
    if options.by_picture:
        first = next(iter(errors.values()))
        names = [name.removeprefix("interpretation-") for name in first]
        rows: Rows = [[name, *measures.values()] for name, measures in errors.items()]
        tables.append(Table("Errors by picture", ["picture", *names], rows))
    print_tables(tables, options, console)


def _read_pairs(truth: str, result: str) -> Iterator[ObjectPair]:
    are_json = [Path(source).suffix.lower() == ".json" for source in (truth, result)]
    if are_json[0] != are_json[1]:
        raise UsageError(
            "expected boxes (.json) or label masks for both truth and result, found "
            "one of each"
        )
    if not are_json[0]:
        return read_mask_pairs(truth, result)
    true_objects = read_coco(truth)
    objects = read_coco(result, true_objects).objects
    return (
        ObjectPair(name, truths, objects[name])
        for name, truths in sorted(true_objects.objects.items())
    )


def _make_summary(errors: list[dict[str, float]]) -> Table:
    metrics = {metric["metric"]: metric for metric in read_metrics()}
    rows: Rows = [
        [name, mean, metrics[name]["better"], metrics[name]["what it is"]]
        for name, mean in average_errors(errors).items()
        if name in metrics
    ]
    n_objects, n_missed, n_invented = (
        sum(error[name] for error in errors)
        for name in ("objects", "missed", "invented")
    )
    objects = count_noun(int(n_objects), "object")
    parts = f"{objects}: {n_missed} missed, {n_invented} invented"
    pictures = count_noun(len(errors), "picture")
    notes = [f"{pictures}, {parts}; means over pictures"]
    if empty := sum(math.isnan(error["interpretation-error"]) for error in errors):
        notes.append(
            f"{empty} of the pictures have no object in truth or result, and are left "
            "out"
        )
    columns = ["metric", "mean", "better", "what"]
    return Table("Interpretation and localisation", columns, rows, notes)
