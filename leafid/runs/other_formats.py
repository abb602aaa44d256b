"""Recognises files that are no run or ground truth of the plant task, and names the command for them."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

# Number of lines looked at, without blank ones and comments.
_LINES = 50

_IRMA_CODE = re.compile(r"\S{4}-\S{3}-\S{3}-\S{3}")
_RUN_LINE = re.compile(r"\S+ .*\S \d+ -?[0-9.,eE+-]+")
_ANNOTATION_LINE = re.compile(r"[1-5] \S+( .*)?")
_GROUND_TRUTH_LINE = re.compile(r"[A-Z]\S* .*\S\.(jpe?g|png)", re.IGNORECASE)


def recognise_format(file: Path) -> str | None:
    """Say what a file looks like and what it is for, or None for a run of the plant task and what isn't recognised."""
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        stripped = (line.strip() for line in stream)
        lines = list(islice((line for line in stripped if line and not line.startswith("#")), _LINES))
    if not lines:
        return None
    if lines[0][0] in "{[":
        return "JSON; 'leafid evaluate-interpretation' scores boxes"
    if lines[0].startswith("<") and lines[0].lower().startswith(("<?xml", "<image", "<!doctype")):
        return "XML; a ground truth is the folder of such files"
    # A location of the annotation task can look like a rank and a score.
    if 2 * sum(bool(_RUN_LINE.fullmatch(line)) for line in lines) >= len(lines):
        return None
    if all(any(map(_IRMA_CODE.fullmatch, line.split()[1:])) for line in lines):
        return "IRMA codes; 'leafid evaluate-irma' scores these"
    if all(map(_ANNOTATION_LINE.fullmatch, lines)):
        return "a file of the ImageCLEF 2016 annotation task; 'leafid evaluate-annotation' scores these"
    if all(map(_GROUND_TRUTH_LINE.fullmatch, lines)):
        return "a ground truth; 'leafid evaluate' takes the ground truth first, then the runs"
    return None
