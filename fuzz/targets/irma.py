"""IRMA code tables and label files."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.tasks.irma import read_code_table, read_labels

_TABLE = b"T 1121 x-ray\nT 1122\nD 120\nD 127\nA 463 hand\nA 700\nB 700\nB 500\n"
_LABELS = (
    b"# truth\n1234 18 * 1121-120-463-700 1121-1**-46*-700\n"
    b"1235 1 2 CCCC-CCC-CCC-CCC 112*-120-700-500\n"
)


def target() -> Target:
    """Read a table where the input begins with T, labels for a good table otherwise."""

    def call(data: bytes, folder: Path) -> None:
        if data[:1] == b"T":
            read_code_table(write_input(folder, "table.txt", data))
            return
        table_file = folder / "good.txt"
        if not table_file.exists():
            table_file.write_bytes(_TABLE)
        table = read_code_table(table_file)
        file = write_input(folder, "labels.txt", data)
        read_labels(file, table, pictures=["1234", "1235"])
        read_labels(file, table)

    return Target(
        "irma",
        "IRMA code tables and labels",
        lambda: [_TABLE, _LABELS, b"T 1121\nT 1121\nX 1\n"],
        call,
        (b"1121-120-463-700", b"*", b"C", b"T ", b"D ", b"#"),
    )
