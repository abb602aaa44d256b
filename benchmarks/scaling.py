"""Time and memory of training on 1, 2, 4, 8 and 16 times as many pictures.

Prints the tables of docs/scaling.md: `leafid train` on drawn collections, without and with cached features; the ridge
regression alone, on many more vectors than there are pictures; and the projection to large collections. CPU seconds
are those of the process and its workers.

    python -m benchmarks.scaling train [--plants 3] [--steps 5] [--recipe fast] [--jobs 1] [--no-cache]
    python -m benchmarks.scaling ridge [--rows 5000] [--steps 5] [--columns 512]
    python -m benchmarks.scaling plan
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from benchmarks.commands import Spent, run
from benchmarks.planning import plan_table

COMMAND = ("-m", "leafid")
N_SPECIES = 10
PICTURES_PER_PLANT = 2


def format_figures(spent: Spent) -> list[str]:
    """Format wall-clock and CPU seconds, and the peak memory in MiB."""
    return [f"{spent.wall:.0f}", f"{spent.cpu:.1f}", f"{spent.peak_mb * 1e6 / 2**20:.0f}"]


def link_plants(collection: Path, part: Path, plants: int) -> int:
    """Link the files of the first plants of every species into a new collection; return the number of pictures."""
    from leafid.pictures import read_collection

    pictures = [p for p in read_collection(collection).pictures if p.species and p.plant]
    by_species: dict[str, dict[str, None]] = {}
    for picture in pictures:
        by_species.setdefault(picture.species or "", {})[picture.plant or ""] = None
    kept = {plant for own in by_species.values() for plant in list(own)[:plants]}
    folder = part / "Train"
    folder.mkdir(parents=True)
    for picture in pictures:
        if picture.plant in kept:
            for file in (picture.file, picture.file.with_suffix(".xml")):
                os.link(file, folder / file.name)
    return sum(picture.plant in kept for picture in pictures)


def print_train_table(
    first: int, steps: int, recipe: str, jobs: int, no_cache: bool, folder: Path, drawn: Path | None = None
) -> None:
    """Train on collections of growing size, and print a line for each."""
    plants = [first * 2**step for step in range(steps)]
    size = "400" if recipe == "fast" else "800"
    drawing = ["--species", str(N_SPECIES), "--plants", str(plants[-1]), "--test-plants", "0", "--only-type", "scan"]
    drawing += ["--pictures", str(PICTURES_PER_PLANT), "--size", size, "--jobs", str(jobs)]
    if drawn is None:
        drawn = folder / "all"
        run([*COMMAND, "sample", str(drawn), *drawing])
    print("| pictures | anew: wall s | CPU s | peak MiB | from the store: wall s | CPU s | peak MiB | store MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for n_plants in plants:
        collection, store = folder / f"{n_plants}", folder / f"store-{n_plants}"
        n_pictures = link_plants(drawn, collection, n_plants)
        words = [*COMMAND, "train", str(collection), "--only-type", "scan", "--recipe", recipe, "--jobs", str(jobs)]
        words += ["--output", str(folder / "model.leafid")]
        kept = ["--no-cache"] if no_cache else ["--cache", str(store)]
        cells = [str(n_pictures)]
        for _ in range(1 if no_cache else 2):
            cells += format_figures(run([*words, *kept]))
        if not no_cache:
            cells.append(f"{sum(file.stat().st_size for file in store.iterdir()) / 1e6:.1f}")
        print("| " + " | ".join(cells + ["–"] * (8 - len(cells))) + " |", flush=True)
        shutil.rmtree(store, ignore_errors=True)


def fit_ridge(n_rows: int, n_columns: int) -> None:
    """Fit on random vectors as an expert does: with five folds, their held-out scores, and on all vectors."""
    import numpy as np

    from leafid.features.recipe import ClassifierSettings
    from leafid.learning.cross_fitting import cross_fit
    from leafid.learning.disk_backed_array import DiskBackedArray
    from leafid.learning.training_matrix import TrainingMatrix

    random = np.random.default_rng(0)
    labels = np.arange(n_rows) % 100
    with DiskBackedArray(in_memory=2**20) as array:  # as if there were more than may be held
        for start in range(0, n_rows, 1000):
            array.append(random.normal(size=(len(labels[start : start + 1000]), n_columns)) / n_columns**0.5)
        folds = [np.sort(fold) for fold in np.array_split(random.permutation(n_rows), 5)]
        held_out = np.arange(min(n_rows, 20_000))
        rows = TrainingMatrix(array, "none", standardise=False, batch_size=1000)
        cross_fit(rows, labels, np.ones(n_rows), [folds], held_out, ClassifierSettings())


def print_ridge_table(first: int, steps: int, n_columns: int) -> None:
    """Fit on growing numbers of vectors, and print a line for each."""
    print("| vectors | size of them, MiB | wall s | CPU s | peak MiB |\n|---:|---:|---:|---:|---:|", flush=True)
    for step in range(steps):
        n_rows = first * 2**step
        words = ["-m", "benchmarks.scaling", "single-ridge", "--rows", str(n_rows), "--columns", str(n_columns)]
        size = n_rows * n_columns * 4 / 2**20
        print("| " + " | ".join([f"{n_rows}", f"{size:.0f}", *format_figures(run(words))]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["train", "ridge", "single-ridge", "plan"])
    parser.add_argument("--plants", type=int, default=3, help="of each species, in the smallest collection")
    parser.add_argument("--rows", type=int, default=5000, help="of the smallest table of vectors")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--columns", type=int, default=512)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--drawn", type=Path, help="a collection that `leafid sample` has drawn; by default a new one")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-cache", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "single-ridge":
        fit_ridge(arguments.rows, arguments.columns)
    elif arguments.what == "ridge":
        print_ridge_table(arguments.rows, arguments.steps, arguments.columns)
    elif arguments.what == "plan":
        print(plan_table())
    else:
        with tempfile.TemporaryDirectory(prefix="scaling-") as folder:
            print_train_table(
                arguments.plants,
                arguments.steps,
                arguments.recipe,
                arguments.jobs,
                arguments.no_cache,
                Path(folder),
                arguments.drawn,
            )


if __name__ == "__main__":
    main()
