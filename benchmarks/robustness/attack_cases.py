"""The hostile commands of `benchmarks.robustness.attack`."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.robustness import disturbances
from benchmarks.robustness.attack_kit import COMMANDS, GOOD, PICTURE_COMMANDS, RECIPE, Case, Kit
from benchmarks.robustness.broken import BOMBS, BROKEN, ODD, Way
from fuzz import mutations, targets
from fuzz.targets.model import make_members, pack_members
from leafid.pictures.decoding import read_image

_NAMES = (
    *(" a.jpg", "a .jpg", "a  b.jpg", "\xa0a.jpg", "a\xa0.jpg", "\u2003.jpg", "<a.jpg", "<a>.jpg", "a\u202eb.jpg"),
    *("\ufeffa.jpg", "a\x1b[31m.jpg", "\x1b]0;title\x07.jpg", "a\nb.jpg", "a\rb.jpg", "a\tb.jpg", "\x7f.jpg"),
    *("a\udce9.jpg", "-.jpg", "--model.jpg", "-rf.jpg", "a;b.jpg", "a|b.jpg", "=1+1.jpg", "+1.jpg", "@a.jpg"),
    *("a,b.jpg", '"a".jpg', "'a'.jpg", "$(id).jpg", "`id`.jpg", "%s.jpg", "{0}.jpg", "a#b.jpg", "a?b.jpg", "a*.jpg"),
    *("[a].jpg", "~.jpg", "é.jpg", "e\u0301.jpg", "葉.jpg", "🍂.jpg", "x" * 245 + ".jpg", "x" * 251 + ".jpg"),
    *("é" * 120 + ".jpg", "1 1.0.jpg", "a.jpg Acer campestre 1 1.0.jpg", "$\\frac{$.jpg", "NUL.jpg", "a.JPG"),
    *("a.jpg.", "Acer campestre.jpg"),
)
_ENDS = (">&-", "<&-", "2>&-", ">&- <&- 2>&-", "2>/dev/full", ">/dev/full", "</dev/zero", "| head -c 1 >/dev/null")
_LIMITS = (
    *("ulimit -n 20;", "ulimit -n 40;", "ulimit -f 8;", "ulimit -v 700000;", "ulimit -v 1500000;", "ulimit -s 256;"),
    *("umask 777;", "unset HOME LEAFID_CACHE;", "export LC_ALL=C PYTHONUTF8=0;", "export TMPDIR=/nowhere;"),
    "export LEAFID_CACHE=/dev/full/x;",
)
_PREDICT_OPTIONS = "model output top set reject-at cache cache-limit jobs cluster format names layout assume-type"
_OPTIONS = {
    "predict": _PREDICT_OPTIONS,
    "evaluate": "xml output top average validation training intervals confidence resamples seed",
    "sample": "species plants size seed",
    "describe": "families output jobs",
}
_VALUES = ("", "-1", "0", "1e999", "nan", "9" * 400, "٣", "a\udce9", "\x1b[31m", "x" * 5000, "/dev/null/x")
#: What stands in place of an input.
_FILE_KINDS = ("pipe", "folder", "loop", "sparse", "nothing", "/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem")
_USES = {
    "picture": "predict FILE --model MODEL --jobs 1",
    "model": "predict TEST --model FILE --jobs 1",
    "collection": "train FILE --output output --jobs 1",
    "recipe": "train DRAWN --recipe FILE --output output --jobs 1",
    "run": "evaluate TRUTH FILE",
    "truth": "evaluate FILE RUN",
    "check": "check FILE",
    "cache": "predict TEST --model MODEL --cache FILE --jobs 1",
    "output": "predict TEST --model MODEL --output FILE --jobs 1",
    "codes": "evaluate-irma RUN RUN --years 2007 --codes FILE",
    "boxes": "evaluate-interpretation FILE FILE",
    "annotation": "check-annotation FILE",
}
#: Targets of the fuzzer: how many mutated files, under which name, and the commands that read them in turn.
_MUTATED = {
    "run-2011": (40, "file.txt", ("check file.txt", "evaluate TRUTH file.txt", "compare TRUTH file.txt RUN",
                                  "report TRUTH file.txt --output report", "evaluate-hierarchy TRUTH file.txt")),
    "ground-truth": (30, "testGroundTruth.txt", ("evaluate testGroundTruth.txt RUN",)),
    "imageclef-xml": (40, "drawn/Train/1.xml", ("info drawn --jobs 1", "check RUN --against drawn")),
    "recipe": (40, "recipe/scan.toml",
               ("train DRAWN --only-type scan --recipe recipe --output output --jobs 1",)),
    "model": (60, "mutated", ("predict TEST --model mutated --jobs 1",)),
    "store": (20, "cache/vectors.sqlite", ("cache", "predict TEST --model MODEL --jobs 1")),
    "annotation-2016": (20, "file.txt", ("check-annotation file.txt", "evaluate-annotation file.txt file.txt")),
    "irma": (10, "file.txt", ("evaluate-irma file.txt file.txt --years 2005",)),
    "boxes": (20, "boxes.json", ("evaluate-interpretation boxes.json boxes.json",)),
}  # fmt: skip


def list_cases(seed: int) -> list[Case]:
    """List all cases; the mutated inputs depend on the seed."""
    makers = (_attack_pictures, _attack_names, _attack_inputs, _attack_surroundings, _attack_options,
              _attack_terminals, _attack_processes)  # fmt: skip
    generator = random.Random(seed)
    cases = [case for make in makers for case in make()]
    return [*cases, *_mutate_pictures(generator), *_mutate_files(generator), *_disturb(generator)]


def _attack_pictures() -> Iterator[Case]:
    def prepare(kit: Kit, folder: Path, write: Way, command: str) -> Sequence[str]:
        pictures = kit.copy_good_pictures(folder / "pictures")
        write(pictures / "hostile.jpg", read_image(pictures / GOOD[0]))
        return kit.make_command(command, folder)

    for way, write in {**BROKEN, **ODD, **BOMBS}.items():
        named = () if way in {"missing", "a folder"} else ("hostile.jpg",)
        for command in PICTURE_COMMANDS:
            case = Case("pictures", f"{way}, {command}", partial(prepare, write=write, command=command))
            yield replace(case, answered=GOOD, named=named) if command == "predict" else case
        if way in BOMBS:
            yield replace(case, name=f"{way}, 2.5 GB", limits="ulimit -v 2500000;")


def _attack_names() -> Iterator[Case]:
    def prepare(kit: Kit, folder: Path, name: str, command: str) -> Sequence[str]:
        pictures = kit.copy_good_pictures(folder / "pictures")
        shutil.copy(pictures / GOOD[0], pictures / name)
        return kit.make_command(command, folder)

    def read_back(kit: Kit, folder: Path, name: str) -> Sequence[str]:
        prepare(kit, folder, name, "predict")
        kit.run("predict", str(folder / "pictures"), "--model", "MODEL", "--output", str(folder / "run.txt"))
        return ["check", "run.txt"]

    def label(kit: Kit, folder: Path, name: str) -> Sequence[str]:
        (folder / "species").mkdir()
        for number, species in enumerate(("Quercus ilex", name.removesuffix(".jpg"))):
            pictures = kit.copy_good_pictures(folder / "species" / species)
            (pictures / GOOD[0]).rename(pictures / f"{number}.jpg")
        return kit.fill(
            *["train", "species", "--assume-type", "scan", "--recipe", "RECIPE", "--output", "output", "--jobs", "1"]
        )

    for name in _NAMES:
        for command in PICTURE_COMMANDS:
            case = Case("names", f"{name!r:.40} ({len(name)}), {command}", partial(prepare, name=name, command=command))
            yield replace(case, answered=GOOD, named=(name,)) if command == "predict" else case
        yield Case(
            "names", f"{name!r:.40} ({len(name)}), read back", partial(read_back, name=name), statuses=frozenset({0})
        )
        yield Case("names", f"{name!r:.40} ({len(name)}), species", partial(label, name=name))


def _attack_inputs() -> Iterator[Case]:
    def prepare(kit: Kit, folder: Path, kind: str, use: str) -> Sequence[str]:
        place = Path(kind) if kind.startswith("/") else folder / "hostile"
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "folder":
            place.mkdir()
        elif kind == "loop":
            place.symlink_to("hostile")
        elif kind == "sparse":
            with place.open("wb") as stream:
                stream.truncate(1 << 40)
        return kit.fill(*[str(place) if word == "FILE" else word for word in _USES[use].split(" ")])

    for use in _USES:
        for kind in _FILE_KINDS:
            # Who writes into a pipe waits for its reader, as with any program.
            if (use, kind) not in {("output", "pipe"), ("output", "/proc/self/mem")}:
                yield Case("inputs", f"{kind} as {use}", partial(prepare, kind=kind, use=use))


def _attack_surroundings() -> Iterator[Case]:
    """Streams that are closed or full, and limits of the process."""
    for command in COMMANDS:

        def prepare(kit: Kit, folder: Path, command: str = command) -> Sequence[str]:
            return kit.make_command(command, folder)

        for end in _ENDS:
            # A new model or run that is complete may stay, even if its name can't be printed.
            yield Case("streams", f"{end}, {command}", prepare, redirections=end)
        for limit in _LIMITS:
            yield Case("limits", f"{limit} {command}", prepare, limits=limit, has_older_output=True)


def _attack_options() -> Iterator[Case]:
    for command, options in _OPTIONS.items():
        for option in options.split(" "):
            for value in _VALUES:

                def prepare(kit: Kit, folder: Path, command: str = command, more: str = f"--{option}={value}") -> Any:
                    return [*kit.make_command(command, folder), more]

                yield Case("options", f"{command} --{option} {value!r:.20}", prepare)


def _attack_terminals() -> Iterator[Case]:
    def prepare(kit: Kit, folder: Path, name: str, command: str) -> Sequence[str]:
        pictures = kit.copy_good_pictures(folder / "pictures")
        shutil.copy(pictures / GOOD[0], pictures / name)
        (pictures / f"broken{name}").write_text("Acer")
        outputs = {"--output", "output", "output.csv"} if command != "segment" else ()
        return [word for word in kit.make_command(command, folder) if word not in outputs]

    for name in ("a\x1b[31m.jpg", "\x1b]0;title\x07.jpg", "a\x9b31m.jpg", "a\rb.jpg"):
        for command in PICTURE_COMMANDS:
            yield Case(
                "terminals", f"{name!r}, {command}", partial(prepare, name=name, command=command), on_terminal=True
            )


def _attack_processes() -> Iterator[Case]:
    for name, start_server in disturbances.SERVERS.items():

        def prepare(kit: Kit, folder: Path, start_server: Any = start_server) -> Sequence[str]:
            return [*kit.make_command("predict", folder), "--cluster", start_server()]

        yield Case("clusters", name, prepare, statuses=frozenset({1}))


def _mutate_pictures(generator: random.Random) -> Iterator[Case]:
    target = targets.load("picture")
    for number, seed in enumerate(target.seeds()):
        inputs = {f"{index}.jpg": mutations.mutate_input(seed, [seed], target.words, generator) for index in range(40)}

        def prepare(kit: Kit, folder: Path, inputs: dict[str, bytes] = inputs) -> Sequence[str]:
            pictures = kit.copy_good_pictures(folder / "pictures")
            for name, data in inputs.items():
                (pictures / name).write_bytes(data)
            return kit.make_command("predict", folder)

        yield Case("mutated picture", f"kind {number}", prepare, answered=GOOD, named=tuple(inputs))


def _mutate_files(generator: random.Random) -> Iterator[Case]:
    def prepare(kit: Kit, folder: Path, file: str, data: bytes, command: str) -> Sequence[str]:
        if file.startswith("drawn"):
            shutil.copytree(kit.folder / "drawn", folder / "drawn")
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(data)
        return kit.fill(*command.split(" "))

    members = make_members()
    for name, (count, file, commands) in _MUTATED.items():
        target = targets.load(name)
        seeds = [RECIPE.encode(), *target.seeds()[:1]] if name == "recipe" else target.seeds()
        inputs = mutations.generate_inputs(seeds, target.words, generator.randrange(1 << 30))
        for number, data in enumerate(islice(inputs, count)):
            if name == "model" and data and data[0] < len(members):
                data = pack_members({**members, list(members)[data[0]]: data[1:]})
            command = commands[number % len(commands)]
            make = partial(prepare, file=file, data=data, command=command)
            yield Case(f"mutated {name}", f"{number}, {command.split(' ')[0]}", make)


def _disturb(generator: random.Random) -> Iterator[Case]:
    def prepare(kit: Kit, folder: Path, command: str, more: Sequence[str]) -> Sequence[str]:
        words = kit.make_command(command, folder)
        for number in range(300):
            os.link(folder / "pictures" / GOOD[0], folder / "pictures" / f"{number}.jpg")
        return [*words, *more]

    for name, disturb, statuses in disturbances.list_disturbances(generator):
        for command, more in (("train", ()), ("predict, 2 jobs", ()), ("predict", ("--cluster", "local:2"))):
            make = partial(prepare, command=command, more=more)
            case = Case("signals and kills", f"{name}, {' '.join((command, *more))}", make, statuses=statuses)
            yield replace(case, disturb=disturb, has_older_output=True)
