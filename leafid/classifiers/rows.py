"""Training vectors made ready for linear classifiers, batch by batch: mapped, centred, standardised."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np

from leafid.classifiers.linear import LinearScorer, apply_feature_map

# How many prepared numbers are in memory at once: 64 MiB of them.
_BATCH_NUMBERS = 2**24
# And how many mapped ones stay there when there are no more: 128 MiB.
_HELD_NUMBERS = 2**25


class Vectors(Protocol):
    """A table of numbers (n, d) that is read by rows: an array in memory, or a `leafid.classifiers.spool.Spool`."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """Read the rows at some indices."""


class Rows:
    """Training vectors as the classifiers see them.

    The means, and the standard deviations from them, are found in one pass each; rows are prepared anew whenever they
    are read, so that no more than a batch of them is in memory.

    Parameters
    ----------
    vectors : float (n, d)
        In memory or in a file.
    map : {"none", "chi2"}
    standardise : bool
        Divide every column by its standard deviation; for measures that come in different units.
    types : int (n,), optional
        A number for each row's acquisition type; given when each type's mean is taken off.
    batch_size : int, optional
        Rows in memory at once; by default as many as make 64 MiB.

    Attributes
    ----------
    n_rows, n_columns : int
    is_small : bool
        Whether all mapped rows stay in memory, so that passes over them cost little.
    """

    def __init__(
        self,
        vectors: Vectors,
        map: str,
        *,
        standardise: bool,
        types: np.ndarray | None = None,
        batch_size: int | None = None,
    ) -> None:
        self.map = map
        self.n_rows = vectors.shape[0]
        self._vectors = vectors
        self._types = np.zeros(self.n_rows, np.int64) if types is None else types
        self.n_columns = apply_feature_map(vectors[np.arange(1)], map).shape[1]
        # The map costs more than all else: of a small table it is taken once, and not in every pass.
        self.is_small = batch_size is None and self.n_rows * self.n_columns <= _HELD_NUMBERS
        self._held = self._mapped(np.arange(self.n_rows)) if self.is_small else None
        self._batch_size = batch_size or max(1, _BATCH_NUMBERS // max(self.n_columns, 1))
        self._scale, self._is_scaled = np.ones(self.n_columns, np.float32), False
        self._means = np.zeros((int(self._types.max()) + 1, self.n_columns), np.float32)
        self._means, self._centre = self._learned_means()
        if standardise:
            self._scale, self._is_scaled = self._learned_scale(), True

    def batches(self, chosen: np.ndarray | None = None, times: int = 1) -> Iterator[tuple[slice, np.ndarray]]:
        """Go through the prepared rows at some indices, by default all, a batch at a time.

        Parameters
        ----------
        chosen : int (k,), optional
        times : int, default 1
            Batches are so many times as large as they are otherwise.

        Yields
        ------
        places : slice
            Of `chosen`.
        values : float32 (k, m)
        """
        rows = np.arange(self.n_rows) if chosen is None else chosen
        size = self._batch_size * times
        for start in range(0, len(rows), size):
            places = slice(start, min(start + size, len(rows)))
            yield places, self.prepared(rows[places])

    def prepared(self, chosen: np.ndarray) -> np.ndarray:
        """Give the prepared rows at some indices; float32 (k, m)."""
        values = self._mapped(chosen) if self._held is None else self._held[chosen]
        # Neighbours are often of one type, and a few rows fit into the processor's cache.
        types = self._types[chosen]
        ends = np.flatnonzero(np.diff(types)) + 1
        for start, stop in zip([0, *ends.tolist()], [*ends.tolist(), len(types)], strict=True):
            values[start:stop] -= self._means[types[start : start + 1]]
        if self._is_scaled:
            values *= self._scale
        return values

    @cached_property
    def rows(self) -> np.ndarray:
        """All rows in memory, for classifiers that need them so; float32 (n, m).

        With more columns than rows, these are turned into the space that the rows span: the same lengths and angles in
        as many columns as there are rows, so that every linear classifier learns the same from them in a fraction of
        the time.
        """
        return self._values if self._back is None else self._spanned[0]

    @property
    def is_wide(self) -> bool:
        """Whether there are more columns than rows."""
        return self.n_columns > self.n_rows

    def scorer(self, coefficients: np.ndarray, intercepts: np.ndarray) -> LinearScorer:
        """Take a fit on `rows` to the original vectors."""
        return self.scorer_of_prepared(coefficients if self._back is None else self._back @ coefficients, intercepts)

    def scorer_of_prepared(self, coefficients: np.ndarray, intercepts: np.ndarray) -> LinearScorer:
        """Take a fit on prepared rows to the original vectors, of no type in particular (see `for_type`)."""
        coefficients = coefficients * self._scale[:, None]
        return LinearScorer(self.map, coefficients, intercepts - self._centre @ coefficients)

    def for_type(self, scorer: LinearScorer, number: int) -> LinearScorer:
        """Make of a scorer one for vectors of a type: it takes off that type's mean, where there are such rows.

        Parameters
        ----------
        scorer : LinearScorer
            From `scorer` or `scorer_of_prepared`.
        number : int
            The type's, as in `types`.

        Returns
        -------
        LinearScorer
            The one that was given where no row is of that type.
        """
        if not (self._types == number).any():
            return scorer
        moved = (self._centre - self._means[number]) @ scorer.coefficients
        return LinearScorer(self.map, scorer.coefficients, scorer.intercepts + moved)

    def _mapped(self, chosen: np.ndarray) -> np.ndarray:
        return np.asarray(apply_feature_map(self._vectors[chosen].astype(np.float32), self.map), np.float32)

    def _learned_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Find the mean of every type, float32 (n_types, m), and that of all rows, (m,)."""
        sums = np.zeros(self._means.shape)
        for places, values in self.batches():
            types = self._types[places]
            for number in np.unique(types):
                sums[number] += values[types == number].sum(axis=0, dtype=np.float64)
        counts = np.bincount(self._types, minlength=len(sums))
        means = sums / np.maximum(counts, 1)[:, None]
        return means.astype(np.float32), (sums.sum(axis=0) / max(self.n_rows, 1)).astype(np.float32)

    def _learned_scale(self) -> np.ndarray:
        squares = np.zeros(self.n_columns)
        for _, values in self.batches():
            squares += np.square(values, dtype=np.float64).sum(axis=0)
        spread = np.sqrt(squares / max(self.n_rows, 1))
        # A column that hardly varies says nothing; dividing by its spread would only make noise of it.
        varied = spread > 1e-6
        scale = np.where(varied, 1 / np.maximum(spread, 1e-6), 0)
        return (scale / np.sqrt(max(int(np.count_nonzero(varied)), 1))).astype(np.float32)

    @cached_property
    def _values(self) -> np.ndarray:
        values = np.empty((self.n_rows, self.n_columns), np.float32)
        for places, batch in self.batches():
            values[places] = batch
        return values

    @cached_property
    def _spanned(self) -> tuple[np.ndarray, np.ndarray]:
        return _in_own_span(self._values)

    @property
    def _back(self) -> np.ndarray | None:
        return self._spanned[1] if self.is_wide else None


def _in_own_span(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn rows into the space that they span; also give the matrix that takes coefficients back."""
    eigenvalues, vectors = np.linalg.eigh((values @ values.T).astype(np.float64))
    keep = eigenvalues > eigenvalues[-1] * 1e-7
    # Rows that are all alike span nothing; one empty column is left, for there to be something to fit.
    keep[-1] = True
    lengths = np.sqrt(np.maximum(eigenvalues[keep], np.finfo(np.float32).tiny))
    vectors = vectors[:, keep]
    return (vectors * lengths).astype(np.float32), (values.T @ (vectors / lengths).astype(np.float32))
