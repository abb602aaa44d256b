"""Projects time, memory and price of training on a large collection from measurements on a small one."""

from __future__ import annotations

from dataclasses import dataclass

_STAGES = ("describe", "write", "read", "passes", "sums", "solve")


@dataclass(frozen=True)
class Costs:
    """Measured and assumed costs; docs/scaling.md gives the source of each.

    Attributes
    ----------
    describe : float
        CPU seconds to read and describe a picture.
    columns : tuple of int
        Number of features of each expert; the χ² map triples the length of the vector.
    vector : int
        Bytes that a picture takes in the store.
    store_rate, read_rate : float
        Bytes that one process writes to the store, and reads from it, in a second.
    listing : float
        Bytes of memory for the metadata of a picture.
    passes : float
        CPU seconds per value of a row, over all passes except matrix products; in one process.
    flops : float
        Multiplications and additions of float64 in a second on one core.
    learning_cores : int
        Maximum number of cores that learning can use: it runs on one machine.
    core_hour, gigabyte_month : float
        Assumed prices, in US dollars.
    """

    describe: float = 0.055
    columns: tuple[int, ...] = (7936, 15872, 12288, 7936, 8320, 4104)
    vector: int = 112_000
    store_rate: float = 200e6
    read_rate: float = 230e6
    listing: float = 1_720
    passes: float = 65e-9
    flops: float = 25e9
    learning_cores: int = 64
    core_hour: float = 0.05
    gigabyte_month: float = 0.08


@dataclass(frozen=True)
class Plan:
    """Hours of each stage, GB of memory and disk, and dollars.

    Attributes
    ----------
    describe, write, read, passes, sums, solve : float
        Hours: to describe on all cores; to write to the store, to read from it, and to make ready, centre and score
        rows, in one process; to sum the products of columns, and to solve them, on the cores of one machine.
    memory, disk, model : float
        GB (10⁹ bytes): of the main process, of the store with what is put aside, of the model in half precision.
    dollars : float
        The stages' core hours, and a month of the disk.
    """

    describe: float
    write: float
    read: float
    passes: float
    sums: float
    solve: float
    memory: float
    disk: float
    model: float
    dollars: float

    @property
    def hours(self) -> float:
        """The whole: pictures are described and written at the same time, and all else follows."""
        return max(self.describe, self.write) + self.read + self.passes + self.sums + self.solve

    @property
    def longest(self) -> str:
        """The stage that takes the longest."""
        return max(_STAGES, key=lambda stage: float(getattr(self, stage)))


def project_training(pictures: int, species: int, cores: int, costs: Costs = Costs()) -> Plan:
    """Project one training for one acquisition type.

    Parameters
    ----------
    pictures, species, cores : int
    costs : Costs

    Returns
    -------
    Plan

    Notes
    -----
    For n pictures, s species, c cores and experts with d columns (d₁ the most, D in all):

    - describe: n · describe / c
    - write: n · vector / store_rate; read: n · vector / read_rate
    - passes: n · D · passes
    - sums: Σ n · d² / (flops · c'), where half of a symmetric matrix is summed up, at two operations a number;
      c' = min(c, learning_cores)
    - solve: six times (five folds, and all) Σ (d³ / 3 + 2 · d² · s) / (flops · c')
    - memory: n · listing + 8 · d₁² + 8 · s · d₁ · 2 + 4 · s · D + 8 · h · s · (experts + 2), where h, the held-out
      pictures, is min(n, 20,000, max(2,000, 2²⁵ / s))
    - disk: 2 · n · vector (the store, and what is put aside) + 5 · 8 · (d₁² + s · d₁)
    - model: 2 · s · D
    - dollars: core_hour · (c · max(describe, write) + c' · (read + passes + sums + solve)) + gigabyte_month · disk

    Examples
    --------
    >>> round(project_training(306_146, 1_081, 64).describe * 64)  # core hours: 306,146 · 0.055 s
    5
    """
    learning = min(cores, costs.learning_cores)
    rate = costs.flops * learning * 3600
    widest, total = max(costs.columns), sum(costs.columns)
    held_out = min(pictures, 20_000, max(2_000, 2**25 // species))
    describe = pictures * costs.describe / cores / 3600
    write = pictures * costs.vector / costs.store_rate / 3600
    read = pictures * costs.vector / costs.read_rate / 3600
    passes = pictures * total * costs.passes / 3600
    sums = sum(pictures * d**2 for d in costs.columns) / rate
    solve = 6 * sum(d**3 / 3 + 2 * d**2 * species for d in costs.columns) / rate
    arrays = 8 * widest**2 + 16 * species * widest + 4 * species * total
    disk = (2 * pictures * costs.vector + 40 * (widest**2 + species * widest)) / 1e9
    return Plan(
        describe,
        write,
        read,
        passes,
        sums,
        solve,
        memory=(pictures * costs.listing + arrays + 8 * held_out * species * (len(costs.columns) + 2)) / 1e9,
        disk=disk,
        model=2 * species * total / 1e9,
        dollars=costs.core_hour * (cores * max(describe, write) + learning * (read + passes + sums + solve))
        + costs.gigabyte_month * disk,
    )


#: Pictures and species of Pl@ntNet-300K, and of a collection as large as the whole of Pl@ntNet.
COLLECTIONS = ((306_146, 1_081), (12_000_000, 40_000))
CORES = (2, 64, 1024)


def plan_table() -> str:
    """Write the projection as a Markdown table."""
    heads = ("pictures", "cores", *_STAGES, "**all**", "memory GB", "disk GB", "US$")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---:|" * len(heads)]
    for pictures, species in COLLECTIONS:
        for cores in CORES:
            projection = project_training(pictures, species, cores)
            stages = [getattr(projection, stage) for stage in _STAGES]
            cells = [
                f"{pictures:,}",
                f"{cores:,}",
                *(f"{value:.2g}" if value < 10 else f"{value:.0f}" for value in stages),
            ]
            hours = projection.hours
            cells.append(f"**{hours:.2g}**" if hours < 10 else f"**{hours:.0f}**")
            cells += [
                f"{projection.memory:.0f}",
                f"{projection.disk:,.0f}",
                f"{projection.dollars:,.0f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
