"""Compares leafid's scores with those of the references: ``python -m benchmarks.reference_numbers DATA``.

DATA is a folder with `imageclef2011/Train`, and with the runs and output of the official 2011 scorer in
`golden/imageclef2011`. METEOR needs Java and the package pycocoevalcap. The table of docs/reference-numbers.md is
rewritten.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.tables import rewrite_regions
from leafid.errors import LeafidError
from leafid.evaluation.average_sets import score_average_k
from leafid.evaluation.judged_run import judge_run
from leafid.evaluation.official import format_official_files
from leafid.metrics.averaging import accuracy_score, average_by_group, macro_average
from leafid.metrics.plant_task import top_k_scores
from leafid.pictures.picture import Picture, Taxon
from leafid.runs import read_run, write_run
from leafid.runs.ground_truth import make_ground_truth
from leafid.runs.ground_truth_files import read_ground_truth
from leafid.tasks.annotation2016.meteor import find_missing_requirement, meteor_scores
from leafid.tasks.interpretation.metric import Scene, score_scene
from leafid.tasks.irma.metrics import axis_error

# The ten answers to the code 463 and their errors, which the document gives with six digits.
IRMA_ERRORS = {
    "463": 0.0,
    "46*": 0.025531,
    "461": 0.051061,
    "4*1": 0.069297,
    "4**": 0.069297,
    "47*": 0.138594,
    "473": 0.138594,
    "477": 0.138594,
    "***": 0.125,
    "731": 0.25,
}
IRMA_BRANCHING = (11, 7, 8)
INTERPRETATION_ERROR = 0.328
# Captions, each with two by people: equal, reworded, with synonyms and other forms of words, punctuated, and unrelated.
CAPTIONS = (
    ("Two boys play with a dog.", "Two boys play with a dog.", "Children and their dog"),
    ("Two boys are playing with a dog.", "Two boys play with a dog.", "Children and their dog"),
    ("A large automobile in front of a house", "There is a big car near the building.", "A house with a car"),
    ('An "old" oak-tree, 300 years old; it\'s tall!', "The oak is 300 years old.", "It is a tall old tree."),
    ("Leaves of a maple on the ground in autumn", "In autumn, maple leaves fall.", "Fallen leaves cover the ground"),
    ("A red bus", "Three women sit at a table.", "People talking"),
)
PAGE = Path(__file__).parents[1] / "docs" / "reference-numbers.md"
HEADING = "| reference | what | numbers | largest difference | the reference has |\n|---|---|---:|---:|---|\n"


class Row(NamedTuple):
    """A line of the table: `difference` is the largest absolute one."""

    reference: str
    what: str
    numbers: int
    difference: float
    digits: str


def main() -> None:
    rows = (
        *compare_official(Path(sys.argv[1])),
        compare_irma(),
        compare_interpretation(),
        *compare_plantnet(),
        compare_meteor(),
    )
    page = rewrite_regions(PAGE.read_text(encoding="utf-8"), {"references": HEADING + "".join(map(format_row, rows))})
    PAGE.write_text(page, encoding="utf-8")


def format_row(row: Row) -> str:
    """Write a line of the table in Markdown."""
    return f"| {row.reference} | {row.what} | {row.numbers:,} | {row.difference:.1e} | {row.digits} |\n"


def compare_official(data: Path) -> Iterator[Row]:
    """Compare every number in the files of the official 2011 scorer."""
    golden = data / "golden" / "imageclef2011"
    truth = read_ground_truth(data / "imageclef2011" / "Train")
    for folder in sorted((golden / "expected").iterdir()):
        runs = [golden / "runs" / f"{name}.txt" for name in folder.name.split("+")]
        judged = [judge_run(read_run(run, truth.known, official=True), truth) for run in runs]
        files = format_official_files(truth, judged, leave_out_missing=True)
        differences = []
        for file in folder.iterdir():
            ours, theirs = (sorted(text.split("\n")) for text in (files[file.name], file.read_text(encoding="utf-8")))
            cells = zip(";".join(ours).split(";"), ";".join(theirs).split(";"), strict=True)
            differences += [abs(float(our) - float(their)) for our, their in cells if _is_number(their)]
        what = f"{len(list(folder.iterdir()))} files for {folder.name}"
        yield Row("official 2011 scorer", what, len(differences), max(differences), "all digits")


def compare_irma() -> Row:
    """Compare the errors of the ten answers in the document of ImageCLEF 2009."""
    differences = [abs(axis_error("463", answer, IRMA_BRANCHING) - error) for answer, error in IRMA_ERRORS.items()]
    return Row("IRMA 2009", "ten answers to the code 463", 10, max(differences), "six digits")


def compare_interpretation() -> Row:
    """Compare the worked example of Hemery et al., section 2.5: seven objects, four found."""
    common, true_areas, areas = np.zeros((7, 4)), np.ones(7), np.ones(4)
    # True object, found object, overlap, localisation error, area; 0.007 is assumed for "below 0.01".
    for u, v, overlap, error, area in (
        (0, 3, 0.6, 0.065, 3000.0),
        (4, 0, 0.941, 0.024, 80000.0),
        (5, 1, 0.9, 0.017, 50000.0),
        (1, 2, 0.186, 0.007, 9000.0),
        (2, 2, 0.235, 0.007, 9000.0),
        (3, 2, 0.242, 0.007, 9000.0),
    ):
        common[u, v] = area / (1 / overlap + 1 - 1 / (1 - error))
        true_areas[u], areas[v] = common[u, v] / (1 - error), area
    names = ["person"] * 4 + ["bus", "aeroplane", "car"]
    scene = Scene(common, true_areas, areas, names, ["lorry", "aeroplane", "person", "person"], np.ones(4))
    difference = abs(score_scene(scene).error - INTERPRETATION_ERROR)
    return Row("Hemery et al., section 2.5", "the error of the worked example", 1, difference, "three digits")


def compare_plantnet(n_classes: int = 40, n_pictures: int = 400) -> Iterator[Row]:
    """Compare with the formulae of Garcin et al., written down literally, on made-up logits with a long tail."""
    rng = np.random.default_rng(0)
    classes = [f"Genus species{number:02d}" for number in range(n_classes)]
    tail = np.arange(1, n_classes + 1) ** -1.0
    labels = rng.choice(n_classes, n_pictures, p=tail / tail.sum())
    logits = rng.normal(size=(2, n_pictures, n_classes))
    logits[1, np.arange(n_pictures), labels] += 1.5
    validation, p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    pictures = (Picture(Path(f"{n}.jpg"), taxon=Taxon(classes[label])) for n, label in enumerate(labels))
    truth = make_ground_truth(pictures)
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (("run", p), ("validation", validation)):
            rankings = {
                f"{n}.jpg": sorted(zip(classes, row.tolist(), strict=True), key=lambda entry: -entry[1])
                for n, row in enumerate(values)
            }
            write_run(Path(folder) / f"{name}.txt", rankings)
        run, fitted = (read_run(Path(folder) / f"{name}.txt") for name in ("run", "validation"))
    index = truth.encode("species")[1]
    judged, of_classes = judge_run(run, truth), sorted(set(labels.tolist()))
    top, average = [], []
    for k, found in zip((1, 3, 5, 10), score_average_k(truth, run, (1, 3, 5, 10), fitted), strict=True):
        hits = (np.argsort(-p, axis=1)[:, :k] == labels[:, None]).any(axis=1)
        ours = top_k_scores(judged.rank, k)
        top += [accuracy_score(ours) - hits.mean()]
        top += [macro_average(average_by_group(ours, index)) - np.mean([hits[labels == c].mean() for c in of_classes])]
        s = np.sort(validation, axis=None)[::-1]
        threshold = (s[n_pictures * k - 1] + s[n_pictures * k]) / 2
        hits = p[np.arange(n_pictures), labels] >= threshold
        average += [found.threshold - threshold, found.accuracy - hits.mean()]
        average += [found.macro_accuracy - np.mean([hits[labels == c].mean() for c in of_classes])]
        average += [found.size - (p >= threshold).sum(axis=1).mean()]
    for what, differences in (("top-K, macro top-K", top), ("λ, average-K, macro average-K, mean size", average)):
        difference = float(np.abs(differences).max())
        yield Row("Pl@ntNet-300K", f"{what}; K = 1, 3, 5, 10", len(differences), difference, "all digits")


def compare_meteor() -> Row:
    """Compare with what METEOR's own program prints for files of captions and references."""
    if missing := find_missing_requirement():
        raise LeafidError(missing)
    ours = meteor_scores(
        {str(number): caption for number, (caption, *_) in enumerate(CAPTIONS)},
        {str(number): references for number, (_, *references) in enumerate(CAPTIONS)},
    )
    from pycocoevalcap.meteor import meteor

    program = Path(meteor.__file__).with_name(meteor.METEOR_JAR)
    with tempfile.TemporaryDirectory() as folder:
        captions, references = Path(folder, "captions"), Path(folder, "references")
        captions.write_text("".join(f"{caption}\n" for caption, *_ in CAPTIONS))
        references.write_text("".join(f"{text}\n" for _, *texts in CAPTIONS for text in texts))
        # Quiet, it prints the score of each line to stderr.
        options = ["-l", "en", "-norm", "-q", "-r", "2"]
        command = ["java", "-Xmx2G", "-jar", str(program), str(captions), str(references), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = [float(line.split()[-1]) for line in done.stderr.splitlines()]
    difference = max(abs(our - their) for our, their in zip(ours.values(), theirs, strict=True))
    return Row("METEOR 1.5", "captions with two references each", len(theirs), difference, "all digits")


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


if __name__ == "__main__":
    main()
