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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from types import CodeType, FrameType

PACKAGE = "leafid"
_INTERVAL = 0.001
_WIDTH, _ROW, _SIDE, _TOP = 1200, 17, 6, 34
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
    parts = Path(file).with_suffix("").parts
    if PACKAGE not in parts:
        return ""
    return ".".join(parts[len(parts) - 1 - parts[::-1].index(PACKAGE) :])


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
    """List the functions of leafid by the share of samples in which they, and no other of leafid's, were at work."""
    own: Counter[str] = Counter()
    inside: dict[str, Counter[str]] = {}
    for stack, count in counts.items():
        function = next(name for name in reversed(stack) if _is_function(name))
        own[function] += count
        inside.setdefault(function, Counter())[stack[-1] if stack[-1] != function else "Python"] += count
    total = sum(own.values())
    return [
        [name, f"{count / total:.1%}", ", ".join(f"{what} {n / total:.1%}" for what, n in inside[name].most_common(3))]
        for name, count in own.most_common(n_rows)
    ]


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
        Stacks, the outermost name first, and how often each was seen.
    title : str
    """
    root = _Node()
    for stack, count in sorted(counts.items()):
        node = root
        node.count += count
        for name in stack:
            node = node.children.setdefault(name, _Node())
            node.count += count
    boxes = list(_boxes(root, 0.0, 0, max(root.count, 1)))
    height = _TOP + _ROW * (1 + max((depth for _, depth, _, _ in boxes), default=0)) + _SIDE
    drawn = "\n".join(_box(name, depth, left, width) for name, depth, left, width in boxes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="Verdana, sans-serif" '
        f'font-size="11">\n<title>{escape(title)}</title>\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#fdfdf6"/>\n'
        f'<text x="{_WIDTH / 2}" y="21" text-anchor="middle" font-size="14">{escape(title)}</text>\n{drawn}\n</svg>\n'
    )


def _boxes(node: _Node, left: float, depth: int, total: int) -> Iterable[tuple[str, int, float, float]]:
    for name, child in sorted(node.children.items(), key=lambda entry: -entry[1].count):
        width = child.count / total
        if width >= _LEAST:
            yield name, depth, left, width
            yield from _boxes(child, left, depth + 1, total)
        left += width


def _box(name: str, depth: int, left: float, width: float) -> str:
    span = _WIDTH - 2 * _SIDE
    x, y, w = _SIDE + left * span, _TOP + depth * _ROW, width * span
    # Of one colour what is of one module; hues from yellow to red, as flames have them.
    shade = sum(name.rpartition(".")[0].encode()) if _is_function(name) else 0
    colour = f"hsl({20 + shade * 37 % 34},{60 + shade % 25}%,{66 + shade % 9}%)" if shade else "hsl(205,35%,78%)"
    fits = int((w - 6) / 6.4)
    shown = name if len(name) <= fits else name[: fits - 1] + "…" if fits > 4 else ""
    text = f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(shown)}</text>' if shown else ""
    return (
        f'<g><title>{escape(name)}: {width:.1%}</title><rect x="{x:.1f}" y="{y}" width="{max(w - 0.4, 0.3):.1f}" '
        f'height="{_ROW - 1}" fill="{colour}" rx="1"/>{text}</g>'
    )


def busy(seconds: float, work: Callable[[], object]) -> Callable[[], None]:
    """Repeat a function until some time has passed."""

    def repeated() -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            work()

    return repeated
