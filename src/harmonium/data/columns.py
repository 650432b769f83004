"""Data frames: numeric and boolean columns, from any library that narwhals knows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from harmonium.data.dense import Dense
from harmonium.data.faults import Names, place, require_table
from harmonium.data.numeric import ArgumentTypeError, is_real, real
from harmonium.data.sparse import Sparse, from_sparse
from harmonium.errors import ArgumentError


def as_frame(X: Any, name: str) -> nw.DataFrame[Any] | None:
    """What X is as a data frame, if it is one."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ArgumentError(name, f"columns of one name ({error})", "a name of its own for each column") from error
    if isinstance(frame, nw.LazyFrame):
        raise ArgumentTypeError(name, f"a lazy frame ({type(X).__name__})", "one in memory, such as X.collect()")
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(frame: nw.DataFrame[Any], name: str) -> Names:
    """The names of the columns if they are strings, None if none is."""
    names: list[object] = list(frame.columns)
    strings = tuple(column for column in names if isinstance(column, str))
    if 0 < len(strings) < len(names):
        kinds = sorted({type(column).__name__ for column in names})
        phrase = "Feature names are only supported if all input features have string names"
        wanted = "strings for all or for none, such as X.columns = X.columns.astype(str)"
        raise ArgumentTypeError(name, f"column names of types {', '.join(kinds)} ({phrase})", wanted)
    return strings or None


def from_frame(frame: nw.DataFrame[Any], name: str, names: Names, dtype: np.dtype) -> Dense | Sparse:
    """A table from a data frame, column after column; sparse if all columns of a pandas frame are.

    The array made is of ``dtype``, or of a narrower one that holds every column: a table of booleans stays small.
    """
    require_table(frame.shape, name)
    native = frame.to_native()
    fills = [getattr(kind, "fill_value", None) for kind in getattr(native, "dtypes", ())]
    if hasattr(native, "sparse") and all(fill == 0 for fill in fills):
        return from_sparse(native.sparse.to_coo(), name, dtype)
    columns = list(frame.iter_columns())
    for column in columns:
        _require_numeric(column, name)
    values = np.empty(frame.shape, _narrowest(columns, dtype))
    with np.errstate(all="ignore"):
        for j, column in enumerate(columns):
            values[:, j] = _numbers(column, name, partial(place, column=j, names=names))
    return Dense(values, dtype)


def _require_numeric(column: nw.Series[Any], name: str) -> None:
    """Raise ``ArgumentError`` if the type of a column cannot be of numbers; of objects, only the values can tell."""
    kind = column.dtype
    found = f"column {column.name!r} of type {getattr(column.to_native(), 'dtype', kind)}"
    if kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown):
        plain = _values(column.head(1)).dtype
        if plain.kind == "O" or is_real(plain):
            return
        found += " (Complex data not supported)" if plain.kind == "c" else ""
    wanted = "numeric or boolean columns: turn it into numbers (one-hot codes, say), or leave it out"
    raise ArgumentError(name, found, wanted)


def _narrowest(columns: list[nw.Series[Any]], dtype: np.dtype) -> np.dtype:
    """The narrowest dtype that holds every column, ``dtype`` at the widest."""
    if any(column.null_count() for column in columns):
        return dtype
    kinds = {_values(column.head(1)).dtype for column in columns}
    if not all(is_real(kind) for kind in kinds):
        return dtype
    common = np.result_type(*kinds)
    return common if common.itemsize < dtype.itemsize else dtype


def _values(column: nw.Series[Any]) -> np.ndarray:
    """A column as NumPy has it; without copying where the frame's library can."""
    wide = column.dtype.is_decimal() or column.dtype in (nw.Int128, nw.UInt128)
    return (column.cast(nw.Float64) if wide else column).to_numpy()


def _numbers(column: nw.Series[Any], name: str, where: Callable[[int], str]) -> np.ndarray:
    """A column as real numbers, NaN where it has none."""
    values = _values(column)
    if values.dtype.kind == "O" and column.null_count():
        values = values.copy()
        values[column.is_null().to_numpy()] = None
    return real(values, name, where)
