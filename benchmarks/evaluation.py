"""Cases of evaluation: a run of a million lines, and a hundred runs of the plant task's size."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import Command, leafid

N_SPECIES = 71
_DIFFERENT_RUNS = 4
_XML = """<?xml version="1.0" encoding="UTF-8"?>
<Image><FileName>{number}.jpg</FileName><Type>{type}</Type><Author>Author {author}</Author>
<IndividualPlantId>{plant}</IndividualPlantId><Taxon><Order>Order</Order><Family>Family{family}</Family>
<Species>species{species:02}</Species><Genus>Genus{genus:02}</Genus></Taxon><Content>Leaf</Content></Image>
"""
_TYPES = ("Scan", "pseudoscan", "photograph")


def list_evaluation_commands(folder: Path, *, quick: bool = False) -> list[Command]:
    """List the commands; ground truths and runs are written into a folder when they are first needed.

    Parameters
    ----------
    folder : Path
    quick : bool, default False
        A hundredth of the lines.
    """
    scale, word = (100, " (a hundredth)") if quick else (1, "")
    million, hundred = Inputs(folder / "million", 14085 // scale, 1), Inputs(folder / "hundred", 1440 // scale, 100)

    def command(name: str, words: tuple[str, ...], inputs: Inputs) -> Command:
        return Command(f"evaluate/{name}{word}", words, before=inputs.write, slow=inputs is hundred)

    of_million, of_hundred = (("evaluate", inputs.truth, *inputs.runs, "--jobs", 1) for inputs in (million, hundred))
    return [
        command("10⁶ lines, library", _library(million), million),
        command("10⁶ lines, command", leafid(*of_million), million),
        command("100 runs, library", _library(hundred), hundred),
        command("100 runs, command, no intervals", leafid(*of_hundred, "--intervals", "none"), hundred),
        command("100 runs, command", leafid(*of_hundred), hundred),
    ]


@dataclass(frozen=True)
class Inputs:
    """The XML of some pictures, and runs that name every species for each.

    Only four runs differ in content; the others are hard links to these.
    """

    folder: Path
    n_pictures: int
    n_runs: int

    @property
    def truth(self) -> Path:
        """A folder of XML."""
        return self.folder / "truth"

    @property
    def runs(self) -> list[Path]:
        """The run files."""
        return [self.folder / f"run-{index:03}.txt" for index in range(self.n_runs)]

    def write(self) -> None:
        """Write all files, unless they exist."""
        if self.truth.exists():
            return
        self.truth.mkdir(parents=True)
        for number in range(1, self.n_pictures + 1):
            species = number * 7 % N_SPECIES
            text = _XML.format(
                number=number,
                type=_TYPES[number % 3],
                author=number % 17,
                plant=number // 5,
                family=species // 10,
                genus=species // 2,
                species=species,
            )
            (self.truth / f"{number}.xml").write_text(text, encoding="utf-8")
        for index, run in enumerate(self.runs):
            if index < _DIFFERENT_RUNS:
                _write_run(run, self.n_pictures, seed=index)
            else:
                run.hardlink_to(self.runs[index % _DIFFERENT_RUNS])


def _write_run(file: Path, n_pictures: int, seed: int) -> None:
    draw = random.Random(seed)
    order = list(range(N_SPECIES))
    with file.open("w", encoding="utf-8") as stream:
        for number in range(1, n_pictures + 1):
            draw.shuffle(order)
            stream.writelines(
                f"{number}.jpg Genus{species // 2:02} species{species:02} {rank} {1 / (rank + 1):.9f}\n"
                for rank, species in enumerate(order, 1)
            )


def _library(inputs: Inputs) -> tuple[str, ...]:
    return ("-m", "benchmarks.evaluation", str(inputs.truth), *map(str, inputs.runs))


def score(truth_path: str, runs: Sequence[str]) -> list[float]:
    """Score runs through the library; return S of each, over all types."""
    from leafid.evaluation.judged_run import judge_run
    from leafid.evaluation.summary import RunScorer
    from leafid.metrics.plant_task import list_plant_metrics
    from leafid.runs import read_run
    from leafid.runs.ground_truth_files import read_ground_truth

    truth = read_ground_truth(truth_path)
    judged = [judge_run(read_run(run, truth.known), truth) for run in runs]
    return [RunScorer(truth, run, list_plant_metrics()).score_by("type")[-1].scores[0] for run in judged]


if __name__ == "__main__":
    print(*score(sys.argv[1], sys.argv[2:]), sep="\n")
