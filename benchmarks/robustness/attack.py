"""Run whole commands on hostile inputs, and print what falls.

.. code-block:: sh

  python -m benchmarks.robustness.attack --folder /tmp/attack
  python -m benchmarks.robustness.attack --folder /tmp/attack --only names --only limits
  python -m benchmarks.robustness.attack --folder /tmp/attack --every 7

A command falls if it prints a traceback or calls something a bug, ends with a status other than 0, 1, 2 and 130, takes
more than `MAX_SECONDS`, writes control characters to a terminal, leaves temporary files or processes, changes an older
output although it fails, or says nothing of a picture that it left out. Exit status 1 if any does.
"""

from __future__ import annotations

import argparse
import collections
import os
import pty
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.robustness.attack_cases import list_cases
from benchmarks.robustness.attack_kit import Case, Kit
from benchmarks.robustness.processes import ROOT, find_processes, wait_until_ended
from leafid.errors import MAX_LINE_LENGTH, escape_unprintable

#: Commands take one or two seconds; machines may be busy.
MAX_SECONDS = 180
#: Time in which workers end after their command.
PATIENCE = 30
# Of an interrupted command: the interruption, how to resume, and the steps of a training.
_MAX_LINES = 12
OLDER = "an older output\n"


def attack(case: Case, kit: Kit, folder: Path) -> list[str]:
    """Run a case in a new folder; return what is wrong."""
    folder.mkdir(parents=True)
    (folder / "tmp").mkdir()
    words = [os.fsencode(word) for word in case.prepare(kit, folder)]
    output = folder / "output"
    if case.has_older_output:
        output.write_text(OLDER)
    mark = f"attack-{os.getpid()}-{folder.name}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
                   "TMPDIR": str(folder / "tmp"), "LEAFID_CACHE": str(folder / "cache"),
                   "LEAFID_ROBUSTNESS_RUN": mark}  # fmt: skip
    script = f'{case.limits} exec "$@" {case.redirections}'
    command: list[str | bytes] = ["bash", "-c", script, "bash", sys.executable, "-m", "leafid", *words]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        terminal, stdout = pty.openpty() if case.on_terminal else (None, out.fileno())
        reader = threading.Thread(target=_copy_terminal, args=(terminal, folder / "shown"))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=err, env=environment,
                                   cwd=folder, start_new_session=True)  # fmt: skip
        if terminal is not None:
            os.close(stdout)
            reader.start()
        try:
            status: int | None = case.disturb(process, mark) if case.disturb else process.wait(MAX_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        for pid in find_processes(mark) if status is None else ():
            os.kill(pid, 9)
        process.wait()
        if terminal is not None:
            reader.join()
            os.close(terminal)
    return list(_judge(case, folder, status, mark))


def _copy_terminal(terminal: int, file: Path) -> None:
    with file.open("wb") as stream:
        try:
            while chunk := os.read(terminal, 65536):
                stream.write(chunk)
        except OSError:  # the other end is closed
            pass


def _judge(case: Case, folder: Path, status: int | None, mark: str) -> Iterator[str]:
    out = (folder / "out").read_text("utf-8", "surrogateescape")
    err = (folder / "err").read_text("utf-8", "surrogateescape")
    if status is None:
        yield f"takes more than {MAX_SECONDS} s"
    elif status not in case.statuses:
        yield f"ends with status {status}: {err[-300:]!r}"
    for sign in ("Traceback", "this is a bug", "Error ignored"):
        if sign in out + err:
            yield f"{sign}: {err[err.find(sign) :][:600]!r}"
    for line in err.splitlines():
        if not line.isprintable() or len(line) > MAX_LINE_LENGTH + 40:
            yield f"an unclear line: {line[:200]!r}"
    if status in (1, 2) and not out + err and not case.redirections:
        yield "fails without a word"
    if status == 130 and err.count("\n") > _MAX_LINES:
        yield f"prints {err.count(chr(10))} lines when it is interrupted"
    if case.on_terminal and re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", (folder / "shown").read_bytes()):
        yield "writes control characters to the terminal"
    if not wait_until_ended(mark, PATIENCE):
        yield f"leaves {len(find_processes(mark))} processes"
        for pid in find_processes(mark):
            os.kill(pid, 9)
    killed = status is not None and status < 0
    left = [] if killed else [*folder.glob(".*.part"), *folder.glob("*.part"), *(folder / "tmp").glob("*")]
    if left:
        yield f"leaves {', '.join(file.name for file in left)}"
    output = folder / "output"
    if case.has_older_output and status and output.read_text(errors="replace") != OLDER:
        yield "changes an older output although it fails"
    answers = out + (output.read_text("utf-8", "surrogateescape") if output.is_file() else "")
    if status in (0, 1):
        for name in case.answered:
            if name not in answers:
                yield f"does not answer {name}"
        for name in case.named:
            if name not in answers and escape_unprintable(name)[:100] not in err + answers:
                yield f"says nothing of {name!r}"


def main(words: Sequence[str] | None = None) -> int:
    """Run the attack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="to work in; must not exist")
    parser.add_argument("--only", action="append", metavar="TEXT", help="cases whose group or name contains this")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="only each Nth of them; a prime N meets all kinds"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="commands at once (default: 2)")
    parser.add_argument("--list", action="store_true", help="list the cases and end")
    arguments = parser.parse_args(words)
    wanted = arguments.only or [""]
    cases = [case for case in list_cases(arguments.seed) if any(text in str(case) for text in wanted)]
    cases = cases[:: arguments.every]
    if arguments.list:
        print("\n".join(map(str, cases)))
        return 0
    arguments.folder.mkdir(parents=True)
    kit = Kit(arguments.folder.resolve() / "kit")
    counts: collections.Counter[str] = collections.Counter()
    seconds: collections.defaultdict[str, float] = collections.defaultdict(float)
    fallen: collections.Counter[str] = collections.Counter()

    def run(numbered: tuple[int, Case]) -> tuple[Case, list[str], float]:
        number, case = numbered
        start = time.monotonic()
        folder = arguments.folder.resolve() / f"{number:04}"
        try:
            findings = attack(case, kit, folder)
        except Exception as error:  # a case that this script prepares wrongly
            findings = [f"could not be tried: {error!r}"]
        if not findings:
            shutil.rmtree(folder, ignore_errors=True)
        return case, [f"{folder.name}: {finding}" for finding in findings], time.monotonic() - start

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for case, findings, took in pool.map(run, enumerate(cases)):
            counts[case.group] += 1
            seconds[case.group] += took
            fallen[case.group] += bool(findings)
            for finding in findings:
                print(f"{case}: {finding}", flush=True)
    print("| class | commands | seconds | fallen |\n|---|---:|---:|---:|")
    for group, count in counts.items():
        print(f"| {group} | {count} | {seconds[group]:.0f} | {fallen[group]} |")
    print(f"| all | {counts.total()} | {sum(seconds.values()):.0f} | {fallen.total()} |")
    return 1 if fallen.total() else 0


if __name__ == "__main__":
    sys.exit(main())
