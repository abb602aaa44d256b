"""Fuzzes one target in this process and writes the result; `fuzz.driver` starts it."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any


@dataclass
class Tally:
    """Counts inputs, gathers findings, and keeps an input for each of them."""

    kept: Path
    inputs: int = 0
    accepted: int = 0
    slowest: float = 0.0
    slowest_size: int = 0
    findings: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def add(self, data: bytes, verdict: Any) -> None:
        """Count an input."""
        self.inputs += 1
        self.accepted += verdict.accepted
        if verdict.seconds > self.slowest:
            self.slowest, self.slowest_size = verdict.seconds, len(data)
        for finding in verdict.findings:
            known = self.findings.get(finding.key)
            if known:
                known["times"] += 1
                continue
            name = f"{finding.kind}-{hashlib.sha1(data).hexdigest()[:12]}"
            (self.kept / name).write_bytes(data)
            self.findings[finding.key] = {
                "kind": finding.kind,
                "place": finding.place,
                "what": finding.what,
                "input": name,
                "times": 1,
            }


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz a target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--inputs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--engine", choices=("atheris", "mutations"), required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(words)
    # Otherwise a module that is imported late would be written to its cache, and this
    # would count as a finding.
    sys.dont_write_bytecode = True
    arguments.output.mkdir(parents=True, exist_ok=True)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        dir=memory if memory.is_dir() else None, prefix="leafid-fuzz-"
    ) as folder:
        _fuzz(arguments, Path(folder).resolve())
    return 0


def _fuzz(arguments: argparse.Namespace, folder: Path) -> None:
    if arguments.engine == "atheris":
        import atheris

        with atheris.instrument_imports(include=["leafid", "tomllib", "json"]):
            target = _load_target(arguments.target)
    else:
        target = _load_target(arguments.target)
    from fuzz.judging import Watch, judge

    seeds = target.seeds()
    place = folder / "input"
    place.mkdir()
    # The first call imports modules: that must not count as time and memory of an
    # input.
    for data in seeds:
        judge(target, data, place, _NoWatch(place))  # type: ignore[arg-type]  # quacks like a Watch
    tally, watch, start = Tally(arguments.output), Watch(place), time.monotonic()

    def judge_input(data: bytes) -> None:
        tally.add(data, judge(target, data, place, watch))

    def write_result() -> None:
        _write(arguments, tally, time.monotonic() - start)

    if arguments.engine == "mutations":
        from fuzz.mutations import generate_inputs

        for data in islice(
            generate_inputs(seeds, target.words, arguments.seed), arguments.inputs
        ):
            judge_input(data)
        write_result()
        return
    _run_atheris(arguments, folder, target, judge_input, tally, write_result)


def _run_atheris(
    arguments: argparse.Namespace,
    folder: Path,
    target: Any,
    judge_input: Any,
    tally: Tally,
    write_result: Any,
) -> None:
    import shutil

    import atheris

    from fuzz.mutations import MAX_INPUT_LENGTH, mutate_input

    corpus = folder / "corpus"
    corpus.mkdir()
    seeds = target.seeds()
    for number, data in enumerate(seeds):
        (corpus / f"{number:03}").write_bytes(data)
    # Each line is a piece of the format, as libFuzzer's dictionaries are written.
    dictionary = folder / "words"
    dictionary.write_text(
        "".join(
            '"' + "".join(f"\\x{byte:02x}" for byte in w) + '"\n'
            for w in target.words
            if w
        )
    )

    def judge_and_count(data: bytes) -> None:
        judge_input(data)
        if tally.inputs >= arguments.inputs:
            write_result()
            shutil.rmtree(folder, ignore_errors=True)
            # libFuzzer would continue, and doesn't return.
            sys.stdout.flush()
            os._exit(0)

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        generator = random.Random(seed)
        if generator.random() < 0.5:
            return atheris.Mutate(data, longest)
        return mutate_input(data, seeds, target.words, generator)[:longest]

    options = {
        "runs": 10 * arguments.inputs,
        "seed": arguments.seed + 1,  # 0 would be taken from the clock
        "max_len": max(MAX_INPUT_LENGTH, *map(len, seeds)),
        "len_control": 0,
        # Of wall-clock, the machine may be busy; `judge` reports slow ones by CPU.
        "timeout": 300,
        "rss_limit_mb": 3000,
        "dict": dictionary,
        "artifact_prefix": f"{arguments.output}/",
        "print_final_stats": 0,
        "verbosity": 0,
    }
    words = [
        sys.argv[0],
        *(f"-{key}={value}" for key, value in options.items()),
        str(corpus),
    ]
    atheris.Setup(words, judge_and_count, custom_mutator=mutate)
    atheris.Fuzz()


def _load_target(name: str) -> Any:
    from fuzz.targets import load

    return load(name)


@dataclass
class _NoWatch:
    allowed: Path
    touched: list[str] = field(default_factory=list)
    active: bool = False


def _write(arguments: argparse.Namespace, tally: Tally, seconds: float) -> None:
    result = {
        "target": arguments.target,
        "engine": arguments.engine,
        "seed": arguments.seed,
        "inputs": tally.inputs,
        "accepted": tally.accepted,
        "seconds": round(seconds, 1),
        "slowest": round(tally.slowest, 4),
        "slowest_size": tally.slowest_size,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "findings": list(tally.findings.values()),
    }
    (arguments.output / "result.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
