"""Rows of a sparse table, kept as CSR and made dense a few rows at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from harmonium.data.faults import Fault, require_table
from harmonium.data.numeric import real
from harmonium.data.summary import BLOCK, Summary


class Entries(NamedTuple):
    """Stored values, row after row: their columns, and the weights of their rows."""

    first: int
    values: Float[np.ndarray, " entries"]
    columns: Int[np.ndarray, " entries"]
    weights: Float[np.ndarray, " entries"]


@dataclass(frozen=True, eq=False)
class Sparse:
    """A CSR array of ``dtype``, its indices sorted and without duplicates."""

    matrix: csr_array
    dtype: np.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_columns = self.matrix.shape
        return n_rows, n_columns

    def take(self, index: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "rows columns"]:
        """The rows at some places, as a dense array."""
        rows = np.empty((len(index), self.shape[1]), self.dtype)
        step = max(1, BLOCK // self.shape[1])
        for start in range(0, len(index), step):
            self.matrix[index[start : start + step]].toarray(out=rows[start : start + step])
        return rows

    def _entries(self, weights: Float[np.ndarray, " rows"]) -> Iterator[Entries]:
        """The stored values of whole rows, about as many at a time as a block (or a row) holds."""
        n_rows, n_columns = self.shape
        starts, size = self.matrix.indptr, max(BLOCK, n_columns)
        row = 0
        while row < n_rows:
            after = max(row + 1, int(np.searchsorted(starts, int(starts[row]) + size, side="right")) - 1)
            these = slice(int(starts[row]), int(starts[after]))
            shares = np.repeat(weights[row:after], np.diff(starts[row : after + 1]))
            yield Entries(these.start, self.matrix.data[these], self.matrix.indices[these], shares)
            row = after

    def _require_finite(self, entries: Entries, fault: Fault) -> None:
        finite = np.isfinite(entries.values)
        if not finite.all():
            entry = int(finite.argmin())
            row = int(np.searchsorted(self.matrix.indptr, entries.first + entry, side="right")) - 1
            raise fault(row, int(entries.columns[entry]), entries.values[entry])

    def summary(self, weights: Float[np.ndarray, " rows"] | None, fault: Fault) -> Summary:
        """Raises ``fault`` at the first value that is not finite, else sums up; the work is that of the stored values.

        Moments are relative to the minimum, so that a constant column has a variance of exactly zero; what is not
        stored in a column counts as one value, 0, with the weight of all its rows.
        """
        n_rows, n_columns = self.shape
        weights = np.ones(n_rows) if weights is None else weights
        minimum, maximum = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        all_integer = np.ones(n_columns, bool)
        count = np.zeros(n_columns, np.int64)
        for entries in self._entries(weights):
            self._require_finite(entries, fault)
            values, columns = entries.values[entries.weights > 0], entries.columns[entries.weights > 0]
            np.minimum.at(minimum, columns, values)
            np.maximum.at(maximum, columns, values)
            all_integer[columns[values != np.rint(values)]] = False
            count += np.bincount(columns, minlength=n_columns)
        has_rest = count < np.count_nonzero(weights)
        minimum[has_rest], maximum[has_rest] = np.minimum(minimum, 0)[has_rest], np.maximum(maximum, 0)[has_rest]

        held, sums, squares = np.zeros((3, n_columns))
        for _, values, columns, shares in self._entries(weights):
            held += np.bincount(columns, shares, n_columns)
            sums += np.bincount(columns, shares * (values - minimum[columns]), n_columns)
        total = weights.sum()
        rest = np.where(has_rest, np.maximum(total - held, 0), 0)
        mean = (sums - rest * minimum) / total
        for _, values, columns, shares in self._entries(weights):
            squares += np.bincount(columns, shares * (values - minimum[columns] - mean[columns]) ** 2, n_columns)
        squares += rest * (minimum + mean) ** 2
        return Summary(minimum, maximum, minimum + mean, squares / total, all_integer)


def from_sparse(X: Any, name: str, dtype: np.dtype) -> Sparse:
    """A sparse table from a SciPy matrix or array of any format, which is not changed (its arrays may be shared)."""
    require_table(X.shape, name)
    given = X.tocsr()
    real(given.data, name, str)  # SciPy holds numbers only, but they may be complex
    matrix = csr_array((given.data, given.indices, given.indptr), shape=given.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    with np.errstate(all="ignore"):
        return Sparse(matrix.astype(dtype, copy=False), dtype)
