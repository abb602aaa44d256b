"""Study how the interpretation metric responds to alterations of a ground truth.

The true objects are altered with growing strength, and scored against the unaltered ones. All objects of a picture are
shifted (by up to their width or height) or scaled (by up to 3), or a share of them is removed, added, given another
class, split into halves, or merged into one. These are the plausibility experiments of Hemery et al., section 3.

The truth is given as for 'leafid evaluate-interpretation'; boxes are rounded to whole pixels.

examples:
  leafid study-interpretation truth-masks
  leafid study-interpretation --output curves.svg truth.json
  leafid study-interpretation --alteration shift --matching one-to-one --output shift.pdf truth.json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from leafid.cli.arguments import add_options, positive_int
from leafid.cli.environment import Environment
from leafid.cli.outputs import binary_output_path, print_tables, refuse_inputs
from leafid.cli.tasks.evaluate_interpretation import add_parameters, read_parameters
from leafid.errors import LeafidError, UsageError
from leafid.files import open_output
from leafid.report.tables import Table

if TYPE_CHECKING:
    from leafid.tasks.interpretation.region import BoxedObject

# Copies of the names in leafid.tasks.interpretation.alterations, whose import would slow the help down.
_ALTERATIONS = ("shift", "scale", "remove", "add", "relabel", "split", "merge")
# No pictures: one of the truth could be overwritten.
_FORMATS = (".svg", ".pdf")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("truth", metavar="TRUTH", help="label masks, or a JSON file in the COCO format")
    parser.add_argument(
        "--alteration",
        choices=_ALTERATIONS,
        action="append",
        help="alteration to study; may be repeated (default: all)",
    )
    parser.add_argument("--steps", type=positive_int, default=20, metavar="N", help="strengths above 0 (default: 20)")
    parser.add_argument(
        "--output", metavar="FILE", type=binary_output_path, help="draw the curves to this .svg or .pdf file"
    )
    add_parameters(parser)
    add_options(parser, "format", "table")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Print the mean error by alteration and strength, and draw the curves."""
    from leafid.tasks.interpretation.alterations import study_alterations

    if arguments.output and Path(arguments.output).suffix.lower() not in _FORMATS:
        raise UsageError(f"--output {arguments.output}: expected a name that ends in {' or '.join(_FORMATS)}")
    if arguments.output:
        refuse_inputs(arguments.output, [arguments.truth])
    parameters = read_parameters(arguments)
    pictures = [objects for objects in _read_truth(arguments) if objects]
    if not pictures:
        raise LeafidError(f"{arguments.truth}: expected at least one object, found none")
    strengths = [step / arguments.steps for step in range(arguments.steps + 1)]
    curves: dict[str, list[float]] = {}
    for name in environment.progress(dict.fromkeys(arguments.alteration or _ALTERATIONS), None, "altering"):
        curves |= study_alterations(pictures, strengths, parameters, [name])
    rows = [[strength, *errors] for strength, *errors in zip(strengths, *curves.values(), strict=True)]
    note = f"{len(pictures)} pictures with {sum(map(len, pictures))} objects; mean interpretation errors"
    print_tables([Table("", ["strength", *curves], rows, [note])], arguments, environment)
    if arguments.output:
        _draw_curves(arguments.output, strengths, curves)
    return 0


def _read_truth(arguments: argparse.Namespace) -> list[Sequence[BoxedObject]]:
    from leafid.tasks.interpretation.coco import read_coco
    from leafid.tasks.interpretation.label_masks import read_mask_pairs
    from leafid.tasks.interpretation.region import make_objects

    if Path(arguments.truth).suffix.lower() == ".json":
        return list(read_coco(arguments.truth).objects.values())
    return [make_objects(pair.truth, pair.true_objects) for pair in read_mask_pairs(arguments.truth, arguments.truth)]


def _draw_curves(path: str, strengths: Sequence[float], curves: dict[str, list[float]]) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from leafid.report.plots import COLOURS

    form = Path(path).suffix.lower().removeprefix(".")
    # The salt makes equal figures equal files.
    with rc_context({"svg.hashsalt": "leafid"}):
        figure = Figure((6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        for index, (name, errors) in enumerate(curves.items()):
            axes.plot(strengths, errors, "o-", ms=3, lw=1.4, color=COLOURS[index % len(COLOURS)], label=name)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="strength", ylabel="interpretation error")
        axes.grid(alpha=0.4)
        axes.legend(frameon=False)
        stream: IO
        with open_output(path, "wb") as stream:
            # Without a date, equal figures give equal bytes.
            figure.savefig(stream, format=form, metadata={"Date" if form == "svg" else "CreationDate": None})
