"""Writes measurements as a table, one row a picture: CSV, or Parquet where pyarrow is installed."""

import csv
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leafid.errors import UsageError
from leafid.files import open_output
from leafid.textfiles import escape_formula

METADATA = ("picture", "type", "species")
# Rows of a Parquet row group: with single rows, the file would be many times as large.
_GROUP_SIZE = 256


class Row(NamedTuple):
    """One picture of the table, with the acquisition type that its leaf was segmented by."""

    picture: str
    type: str
    species: str | None
    #: Float32, shape (D,).
    values: NDArray[np.float32]


def check_table_output(output: str) -> None:
    """Check before any work that a table can be written, or raise a `UsageError`.

    It is a file that ends in ``.csv`` or ``.parquet``, which needs pyarrow, or ``-`` for CSV to stdout.
    """
    ending = Path(output).suffix.lower()
    if output == "-" or ending == ".csv":
        return
    if ending != ".parquet":
        raise UsageError(f"--output {output}: expected a name that ends in .csv or .parquet, or -")
    try:
        for module in ("pyarrow", "pyarrow.parquet"):  # some builds of pyarrow leave Parquet out
            import_module(module)
    except ImportError:
        raise UsageError(
            f"--output {output}: Parquet needs pyarrow, which is not installed; "
            "run 'pip install pyarrow', or name a .csv"
        ) from None


def write_table(output: str, stdout: IO[str], columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table row by row; a file appears only when it is complete."""
    if output == "-":
        _write_csv_rows(stdout, columns, rows)
    elif Path(output).suffix.lower() == ".csv":
        with open_output(output) as stream:
            _write_csv_rows(stream, columns, rows)
    else:
        with open_output(output, "wb") as stream:
            _write_parquet_rows(stream, columns, rows)


def _write_csv_rows(stream: IO[str], columns: Sequence[str], rows: Iterable[Row]) -> None:
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*METADATA, *columns])
    for row in rows:
        # NumPy writes the fewest digits that read back as the same float32.
        table.writerow(
            [escape_formula(row.picture), row.type, escape_formula(row.species or ""), *row.values.astype(str).tolist()]
        )


def _write_parquet_rows(stream: IO[bytes], columns: Sequence[str], rows: Iterable[Row]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [(name, pa.string()) for name in METADATA] + [(name, pa.float32()) for name in columns]
    schema = pa.schema(fields)
    with pq.ParquetWriter(stream, schema) as table:
        iterator = iter(rows)
        while group := list(islice(iterator, _GROUP_SIZE)):
            texts = [[row.picture for row in group], [row.type for row in group], [row.species for row in group]]
            values = np.stack([row.values for row in group], axis=1)
            arrays = [pa.array(text, pa.string()) for text in texts] + [pa.array(column) for column in values]
            table.write_table(pa.table(arrays, schema=schema))
