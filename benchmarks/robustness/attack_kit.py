"""What the cases of `benchmarks.robustness.attack` consist of, and the pictures, model and run they start from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.targets.model import make_members, pack_members
from leafid.synthetic.plan import Settings
from leafid.synthetic.writer import write_collection

RECIPE = 'codebook_pictures = 6\n[experts.shape]\ndescriptor = "measures"\nfamilies = ["hu"]\n'
#: Names of the pictures of `Kit.copy_good_pictures`.
GOOD = ("good-1.jpg", "good-2.jpg")
#: Words of commands that stand for what the kit has, and for good pictures in the folder of the case.
_PLACES = {
    "DRAWN": "drawn",
    "TEST": "drawn/Test",
    "TRUTH": "drawn/TestXmlWithGroundTruth",
    "MODEL": "model",
    "RECIPE": "recipe",
    "RUN": "run.txt",
}
_COMMANDS = {
    "predict": "predict PICTURES --model MODEL --output output --jobs 1",
    "predict, 2 jobs": "predict PICTURES --model MODEL --output output --jobs 2",
    "segment": "segment PICTURES --output cut --jobs 1 --assume-type scan",
    "describe": "describe PICTURES --output output.csv --families hu --jobs 1 --assume-type scan",
    "info": "info PICTURES --jobs 1",
    "train": "train DRAWN --recipe RECIPE --output output --jobs 2",
    "evaluate": "evaluate TRUTH RUN",
    "report": "report TRUTH RUN --output report",
    "sample": "sample drawn --species 2 --plants 2 --pictures 1 --size 100",
}
COMMANDS = tuple(_COMMANDS)
PICTURE_COMMANDS = ("predict", "segment", "describe", "info")


class Kit:
    """A folder with a drawn collection, a model, a recipe and a run, for all cases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_collection(folder / "drawn", Settings(3, 4, 1, 1, max_side=160))
        (folder / "model").write_bytes(pack_members(make_members()))
        (folder / "recipe").mkdir()
        for type_ in ("scan", "scan-like", "photo"):
            (folder / "recipe" / f"{type_}.toml").write_text(RECIPE)
        self.run("predict", "TEST", "--model", "MODEL", "--output", str(folder / "run.txt"))

    def fill(self, *words: str) -> list[str]:
        """Replace the words that stand for files of the kit."""
        return [str(self.folder / _PLACES[word]) if word in _PLACES else word for word in words]

    def run(self, *words: str) -> None:
        """Run a command that prepares something."""
        command = [sys.executable, "-m", "leafid", *self.fill(*words)]
        subprocess.run(command, capture_output=True, check=False)

    def copy_good_pictures(self, folder: Path) -> Path:
        """Put good pictures into a new folder."""
        folder.mkdir()
        sources = sorted((self.folder / "drawn" / "Test").glob("*.jpg"))
        for name, source in zip(GOOD, sources, strict=False):
            shutil.copy(source, folder / name)
        return folder

    def make_command(self, name: str, folder: Path) -> list[str]:
        """Return the words of a command of `COMMANDS`; `folder` gets good pictures unless it has pictures."""
        pictures = folder / "pictures"
        if not pictures.exists():
            self.copy_good_pictures(pictures)
        return self.fill(*_COMMANDS[name].replace("PICTURES", "pictures").split(" "))


@dataclass(frozen=True)
class Case:
    """A command: `prepare` makes its inputs in a folder, where it runs, and returns its words."""

    group: str
    name: str
    prepare: Callable[[Kit, Path], Sequence[str]]
    #: Shell words before the command and behind it.
    limits: str = ""
    redirections: str = ""
    statuses: frozenset[int] = frozenset({0, 1, 2})
    #: Names that need an answer, and names that need an answer or a message.
    answered: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    on_terminal: bool = False
    #: Whether a file `output` exists before, which a command that fails must not change.
    has_older_output: bool = False
    #: Disturbs the process, which is found by its mark, and returns its status.
    disturb: Callable[[subprocess.Popen[bytes], str], int] | None = None

    def __str__(self) -> str:
        return f"{self.group}: {self.name}"
