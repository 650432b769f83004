"""The rows of a table: read from whatever scikit-learn's users pass, and checked once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import issparse

from harmonium.data.columns import as_frame, from_frame
from harmonium.data.columns import column_names as names_of
from harmonium.data.dense import Dense, from_array
from harmonium.data.faults import Fault, not_finite, require_columns, require_names
from harmonium.data.sparse import Sparse, from_sparse
from harmonium.data.summary import Summary
from harmonium.data.weights import check_weights
from harmonium.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of finite real numbers with at least one row and one column; ``read`` makes one.

    It may share memory with what it was read from, and never changes it.
    """

    table: Dense | Sparse
    column_names: tuple[str, ...] | None
    unweighted: Summary
    fault: Fault

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.shape[0]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self.table.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype in which rows are taken."""
        return self.table.dtype

    @property
    def sparse(self) -> bool:
        """Whether only values other than zero are stored."""
        return isinstance(self.table, Sparse)

    def take(self, index: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "rows columns"]:
        """The rows at some places (in any order, any number of times): dense, C-contiguous, of ``dtype``."""
        return self.table.take(index)

    def summary(self, sample_weight: Any = None) -> Summary:
        """Extremes, means, variances and wholeness of the columns; rows of weight zero do not count."""
        if sample_weight is None:
            return self.unweighted
        return self.table.summary(check_weights(sample_weight, self.n_rows), self.fault)


def read(
    X: Any,
    *,
    name: str = "X",
    dtype: str | type[np.floating] | np.dtype = "float32",
    n_columns: int | None = None,
    column_names: Iterable[str] | None = None,
) -> Rows:
    """Read a table and check it, in one pass, a block of rows at a time.

    ``X`` is an array of real numbers of any dtype (also memory-mapped: it stays on disk), what turns itself into one,
    lists, a SciPy sparse matrix or array, or a pandas, polars or pyarrow frame of numeric and boolean columns. Only
    lists, objects, frames and sparse matrices that are not CSR of ``dtype`` are copied.

    ``n_columns`` and ``column_names`` are what is wanted, if something is: a frame must have these names in this order,
    what has no names takes them. Anything else raises ``ArgumentError``, which calls the argument ``name``.

    >>> rows = read([[0, 1, 1], [0, 1, 0]])
    >>> rows.take(np.array([1, 1])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    >>> rows.summary().mean.tolist()
    [0.0, 1.0, 0.5]
    """
    wanted = None if column_names is None else tuple(column_names)
    kind = _floating(dtype)
    frame = None if issparse(X) else as_frame(X, name)
    names = wanted if frame is None else names_of(frame, name)
    table: Dense | Sparse
    if frame is not None:
        if wanted is not None and names is not None:
            require_names(names, wanted, name)
        table = from_frame(frame, name, names, kind)
    elif issparse(X):
        table = from_sparse(X, name, kind)
    else:
        table = from_array(X, name, names, kind)
    if n_columns is None and wanted is not None:
        n_columns = len(wanted)
    if n_columns is not None:
        require_columns(table.shape[1], n_columns, name)
    names = wanted if names is None else names
    fault = partial(not_finite, name, names, kind)
    return Rows(table, names, table.summary(None, fault), fault)


def _floating(dtype: str | type[np.floating] | np.dtype) -> np.dtype:
    for kind in (np.dtype(np.float32), np.dtype(np.float64)):
        if dtype in (kind.name, kind.type, kind):
            return kind
    raise ArgumentError("dtype", f"{dtype!r}", "'float32' or 'float64'")
