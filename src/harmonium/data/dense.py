"""Rows of a dense array, of any real dtype and layout, in memory or on disk."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from harmonium.data.faults import Fault, Names, not_finite, place, require_table
from harmonium.data.numeric import real
from harmonium.data.summary import BLOCK, Running, Summary
from harmonium.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Dense:
    """A two-dimensional array, neither copied nor changed; rows are turned into ``dtype`` as they are taken."""

    values: np.ndarray
    dtype: np.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_columns = self.values.shape
        return n_rows, n_columns

    @property
    def _step(self) -> int:
        return max(1, BLOCK // self.shape[1])

    def take(self, index: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "rows columns"]:
        """The rows at some places, as an array of their own."""
        rows = np.empty((len(index), self.shape[1]), self.dtype)
        with np.errstate(all="ignore"):
            for start in range(0, len(index), self._step):
                rows[start : start + self._step] = self.values[index[start : start + self._step]]
        return rows

    def _blocks(self) -> Iterator[tuple[int, Float[np.ndarray, "rows columns"]]]:
        """All rows in order, a few at a time, with the place of the first."""
        for start in range(0, self.shape[0], self._step):
            with np.errstate(all="ignore"):
                block = self.values[start : start + self._step].astype(self.dtype, order="C", copy=False)
            yield start, block

    def summary(self, weights: Float[np.ndarray, " rows"] | None, fault: Fault) -> Summary:
        """One pass over the rows: raises ``fault`` at the first value that is not finite, else sums up."""
        running = Running(self.shape[1])
        for start, block in self._blocks():
            finite = np.isfinite(block)
            if not finite.all():
                row, column = divmod(int(finite.argmin()), self.shape[1])
                raise fault(start + row, column, self.values[start + row, column])
            running.add(block, None if weights is None else weights[start : start + len(block)])
        return running.result()


def from_array(X: object, name: str, names: Names, dtype: np.dtype) -> Dense:
    """A dense table from an array, from what turns itself into one, or from lists of numbers."""
    try:
        values = np.asarray(X)
    except (ValueError, TypeError, RuntimeError) as error:
        found = f"what NumPy cannot make an array of ({error})"
        raise ArgumentError(name, found, "rows of real numbers, all of one length") from error
    if values.ndim == 0 and values.dtype.kind not in "biufc":
        found = f"{type(X).__name__} object (Expected 2D array, got scalar array instead)"
        raise ArgumentError(name, found, "an array, a data frame or a sparse matrix")
    require_table(values.shape, name)
    n_columns = values.shape[1]
    if names is not None and len(names) != n_columns:
        names = None  # the error about the number of columns is to come
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row, column = divmod(int(np.ma.getmaskarray(X).argmax()), n_columns)
        raise not_finite(name, names, dtype, row, column, None)
    return Dense(real(values, name, lambda i: place(i // n_columns, i % n_columns, names)), dtype)
