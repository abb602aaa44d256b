"""Results as tables: for the terminal, and for the docs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.measure import Cost
from benchmarks.results import Results, compare_memory, compare_time
from leafid.errors import LeafidError
from leafid.pictures import AcquisitionType

Row = Sequence[str]
HEADINGS = ("case", "ms", "× decode", "before", "change", "", "peak MB", "")
_TYPES = tuple(map(str, AcquisitionType))
#: What the recipes are meant to cost at the most, from the file to the answer, as multiples of decoding.
TARGETS = {"default": {"scan": 25.0, "scan-like": 25.0, "photo": 35.0}, "fast": dict.fromkeys(_TYPES, 6.0)}


def compare_rows(now: Mapping[str, Cost], before: Mapping[str, Cost]) -> list[list[str]]:
    """Lay results beside a baseline, a row for each case, under `HEADINGS`."""
    rows = []
    for name, cost in now.items():
        old = before.get(name)
        change = f"{cost.ratio / old.ratio - 1:+.0%}" if old else ""
        rows.append(
            [
                name,
                number(cost.ms),
                f"{number(cost.ratio)} ± {number((cost.high - cost.low) / 2)}",
                number(old.ratio) if old else "",
                change,
                compare_time(cost, old),
                number(cost.peak_mb) if cost.peak_mb is not None else "",
                {"same": "", "new": ""}.get(compare_memory(cost, old), compare_memory(cost, old)),
            ]
        )
    return rows


def format_table(headings: Row, rows: Iterable[Row]) -> str:
    """Write a Markdown table; the first column to the left, the others to the right."""
    ruler = "|---|" + "---:|" * (len(headings) - 1)
    return "\n".join([_line(headings), ruler, *map(_line, rows)]) + "\n"


def number(value: float) -> str:
    """Write a number with three digits."""
    return f"{value:.0f}" if abs(value) >= 99.5 else f"{value:.3g}" if abs(value) >= 1 else f"{value:.2f}"


def format_regions(results: Results, group: str) -> dict[str, str]:
    """Make the tables of docs/performance.md.

    Parameters
    ----------
    results : Results
    group : {"real", "sample"}
        The pictures to show.

    Returns
    -------
    dict of str to str
        By the region's name, Markdown; only those of which there are results.
    """
    pictures = {type_: text for type_ in _TYPES if (text := results.pictures.get(f"{group}/{type_}"))}
    made = {
        "machine": _facts(results, group, pictures),
        "targets": _targets(results, group),
        "families": _by_type(results, group, "family/"),
        "stages": _by_type(results, group, "", only=("decode", "read", "segment", "crop/leaf", "crop/upright")),
        "local": _by_type(results, group, "local/"),
        "commands": _whole(results, "command/"),
        "evaluation": _whole(results, "evaluate/"),
        **{f"parts of {name}": _by_type(results, group, f"{name}/") for name in ("default", "fast", "baseline-bow")},
    }
    return {name: text for name, text in made.items() if text}


def rewrite_regions(page: str, tables: Mapping[str, str]) -> str:
    """Replace the marked regions of a page.

    A region starts with a line ``<!-- benchmark: NAME -->`` and ends with ``<!-- end -->``; those of which there is no
    table stay as they are.

    Raises
    ------
    LeafidError
        When the page has no region for a table.
    """
    for name, text in tables.items():
        pattern = rf"(<!-- benchmark: {re.escape(name)} -->\n).*?(<!-- end -->)"
        # A backslash of the text is a backslash, and no group of the pattern.
        shown = text.replace("\\", "\\\\")
        page, n_found = re.subn(pattern, rf"\1\n{shown}\n\2", page, flags=re.DOTALL)
        if n_found != 1:
            raise LeafidError(f"expected one region <!-- benchmark: {name} --> … <!-- end -->, found {n_found}")
    return page


def _line(cells: Row) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _facts(results: Results, group: str, pictures: Mapping[str, str]) -> str:
    facts = results.machines.get(group, {})
    if not facts or not pictures:
        return ""
    where = (
        f"Measured on {facts['date']} on one core of {facts['processor']} ({facts['cores']} cores, {facts['system']}), "
        f"Python {facts['python']}, NumPy {facts['numpy']}, OpenCV {facts['opencv']}, leafid {facts['leafid']}."
    )
    decoded = [
        f"{type_} {text}, decoded in {number(results.costs[f'{group}/{type_}/decode'].ms)} ms"
        if f"{group}/{type_}/decode" in results.costs
        else f"{type_} {text}"
        for type_, text in pictures.items()
    ]
    what = "real pictures (ImageCLEF 2011)" if group == "real" else "drawn pictures (`data/sample`)"
    return f"{where}\nPictures: {what}: {'; '.join(decoded)}.\n"


def _targets(results: Results, group: str) -> str:
    rows = []
    for recipe in ("default", "fast", "baseline-bow"):
        for type_ in _TYPES:
            cost = results.costs.get(f"{group}/{type_}/{recipe}/whole")
            if cost:
                target = TARGETS.get(recipe, {}).get(type_)
                goal = "" if target is None else f"{target:.0f}"
                rows.append([recipe, type_, number(cost.ms), number(cost.ratio), goal, _memory(cost)])
    return format_table(("recipe", "type", "ms", "× decode", "goal, at most", "peak MB"), rows) if rows else ""


def _by_type(results: Results, group: str, prefix: str, only: Sequence[str] = ()) -> str:
    """A row for each case of a prefix, for each type the time, the ratio to decoding, and the memory."""
    present = [type_ for type_ in _TYPES if any(name.startswith(f"{group}/{type_}/") for name in results.costs)]
    starts = [f"{group}/{type_}/{prefix}" for type_ in present]
    cases = dict.fromkeys(name[len(start) :] for start in starts for name in results.costs if name.startswith(start))
    rows = []
    for case in cases:
        if only and case not in only:
            continue
        costs = [results.costs.get(start + case) for start in starts]
        rows.append([case, *(f"{number(cost.ms)} ({number(cost.ratio)}×)" if cost else "" for cost in costs)])
        rows[-1].append(max((_memory(cost) for cost in costs if cost), key=lambda text: float(text or 0)))
    return format_table(("", *(f"{type_}, ms" for type_ in present), "peak MB"), rows) if rows else ""


def _whole(results: Results, prefix: str) -> str:
    rows = [
        [name[len(prefix) :], f"{cost.ms / 1000:.2f}", f"{cost.wall_ms / 1000:.2f}", _memory(cost)]
        for name, cost in results.costs.items()
        if name.startswith(prefix)
    ]
    return format_table(("", "s of CPU", "s on the wall", "peak MB"), rows) if rows else ""


def _memory(cost: Cost) -> str:
    return "" if cost.peak_mb is None else number(cost.peak_mb)
