"""A flame graph of naming pictures with a recipe: which function, called by which, takes how much of the time.

A thread looks at the stack of the working thread many times a second. No debugger's rights are needed, and OpenCV's and
NumPy's calls appear with their names, for they let the watching thread run meanwhile.
"""

from __future__ import annotations

import ast
import linecache
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from types import CodeType, FrameType

import leafid

PACKAGE = "leafid"
_FOLDER = Path(leafid.__file__).parent
_INTERVAL = 0.001
_WIDTH, _ROW, _SIDE, _TOP, _GAP = 1200, 17, 6, 34, 14
# Narrower boxes, in shares of the whole, show nothing.
_LEAST = 0.0008

Stack = tuple[str, ...]


def sample_stacks(work: Callable[[], object], root: str) -> Counter[Stack]:
    """Run a function, and count the stacks seen: the root's name, then from the first frame of leafid inwards."""
    counts: Counter[Stack] = Counter()
    worker, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not done.wait(_INTERVAL):
            frame = sys._current_frames().get(worker)
            stack = _stack(frame) if frame is not None else ()
            if stack:
                counts[root, *stack] += 1

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
        sys.setswitchinterval(before)
    return counts


def _stack(innermost: FrameType | None) -> Stack:
    frames = []
    frame = innermost
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    frames.reverse()
    ours = [index for index, (code, _) in enumerate(frames) if _module(code.co_filename).startswith(PACKAGE)]
    if not ours:
        return ()
    # What a library calls inside of itself is its own affair.
    own = frames[ours[0] : ours[-1] + 1]
    return (*(_name(code) for code, _ in own), *_expression(*own[-1]))


@cache
def _module(file: str) -> str:
    path = Path(file)
    # By the package's own folder: a clone, with its virtual environment below, may be called leafid as well.
    if not path.is_relative_to(_FOLDER):
        return ""
    return ".".join((PACKAGE, *path.relative_to(_FOLDER).with_suffix("").parts))


@cache
def _name(code: CodeType) -> str:
    return f"{_module(code.co_filename).removeprefix(PACKAGE + '.')}.{code.co_qualname}"


@cache
def _expression(code: CodeType, instruction: int) -> Stack:
    """Name what a frame was at: the function that it called, or the operator; nothing where neither can be told."""
    positions = list(code.co_positions())[instruction // 2]
    line, end_line, start, end = positions
    if line is None or end_line is None or start is None or end is None:
        return ()
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        node = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return ()
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        return (called if called.replace(".", "").replace("_", "").isalnum() else "…." + called.rpartition(".")[2],)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript):
        return (type(getattr(node, "op", node)).__name__.lower() + " of arrays",)
    return ()


def share_rows(counts: Mapping[Stack, int], n_rows: int) -> list[list[str]]:
    """List the functions of leafid that take longest themselves, calls of libraries among it.

    Returns
    -------
    list of list of str
        Function, its share of each outermost name's samples in the order of `counts`, and what it was mostly at.
    """
    roots = list(dict.fromkeys(stack[0] for stack in counts))
    totals: Counter[str] = Counter()
    own: dict[str, Counter[str]] = {}
    inside: dict[str, Counter[str]] = {}
    for stack, count in counts.items():
        function = next((name for name in reversed(stack) if _is_function(name)), stack[0])
        totals[stack[0]] += count
        own.setdefault(function, Counter())[stack[0]] += count
        inside.setdefault(function, Counter())[stack[-1] if stack[-1] != function else "Python"] += count
    shares = {name: [counter[root] / totals[root] for root in roots] for name, counter in own.items()}
    longest = sorted(shares, key=lambda name: -sum(shares[name]))[:n_rows]
    return [[f"`{name}`", *(f"{share:.1%}" for share in shares[name]), _most(inside[name])] for name in longest]


def _most(counter: Counter[str]) -> str:
    total = sum(counter.values())
    return ", ".join(f"{what} {count / total:.0%}" for what, count in counter.most_common(3))


def _is_function(name: str) -> bool:
    first = name.partition(".")[0]
    return first in _rooms() and "." in name


@cache
def _rooms() -> frozenset[str]:
    import leafid

    folder = Path(leafid.__file__).parent
    return frozenset(path.stem for path in folder.iterdir())


@dataclass
class _Node:
    count: int = 0
    children: dict[str, _Node] = field(default_factory=dict)


def flame_svg(counts: Mapping[Stack, int], title: str) -> str:
    """Draw stacks as a flame graph, callers above what they call, wider for longer; SVG without scripts.

    Parameters
    ----------
    counts : mapping of tuple of str to int
        Stacks, the outermost name first, and how often each was seen. Each outermost name gets a graph of full width.
    title : str
    """
    roots = {stack[0]: _Node() for stack in counts}
    for stack, count in sorted(counts.items()):
        node = roots[stack[0]]
        node.count += count
        for name in stack[1:]:
            node = node.children.setdefault(name, _Node())
            node.count += count
    drawn, top = [], _TOP
    for root, node in roots.items():
        boxes = [(root, 0, 0.0, 1.0), *_boxes(node, 0.0, 1, max(node.count, 1))]
        drawn += [_box(*box, top) for box in boxes]
        top += _ROW * (1 + max(depth for _, depth, _, _ in boxes)) + _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" font-family="Verdana, sans-serif" '
        f'font-size="11">\n<title>{escape(title)}</title>\n'
        f'<rect width="{_WIDTH}" height="{top}" fill="#fdfdf6"/>\n'
        f'<text x="{_WIDTH / 2}" y="21" text-anchor="middle" font-size="14">{escape(title)}</text>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _boxes(node: _Node, left: float, depth: int, total: int) -> Iterator[tuple[str, int, float, float]]:
    """Yield name, depth, and left edge and width as shares of the whole, of all that is called."""
    for name, child in sorted(node.children.items(), key=lambda entry: -entry[1].count):
        width = child.count / total
        if width >= _LEAST:
            yield name, depth, left, width
            yield from _boxes(child, left, depth + 1, total)
        left += width


def _box(name: str, depth: int, left: float, width: float, top: int) -> str:
    span = _WIDTH - 2 * _SIDE
    x, y, w = _SIDE + left * span, top + depth * _ROW, width * span
    # Of one colour what is of one module, from yellow to red, as flames are; blue what leafid calls.
    shade = sum(name.rpartition(".")[0].encode()) if _is_function(name) else 0
    colour = f"hsl({20 + shade * 37 % 34},{60 + shade % 25}%,{66 + shade % 9}%)" if shade else "hsl(205,35%,78%)"
    label, fits = _short(name), int((w - 6) / 6.4)
    shown = label if len(label) <= fits else label[: fits - 1] + "…" if fits > 3 else ""
    text = f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(shown)}</text>' if shown else ""
    return (
        f'<g><title>{escape(name)}: {width:.1%}</title><rect x="{x:.1f}" y="{y}" width="{max(w - 0.4, 0.3):.1f}" '
        f'height="{_ROW - 1}" fill="{colour}" rx="1"/>{text}</g>'
    )


def _short(name: str) -> str:
    """Drop the module of a function of leafid; the whole name shows where the mouse is."""
    parts = name.split(".")
    first = next((i for i, part in enumerate(parts) if part.strip("_")[:1].isupper()), len(parts) - 1)
    return ".".join(parts[first:]) if _is_function(name) else name


def busy(seconds: float, work: Callable[[], object]) -> Callable[[], None]:
    """Repeat a function until some time has passed."""

    def repeated() -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            work()

    return repeated
