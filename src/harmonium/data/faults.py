"""What can be wrong with a table, in this library's words and in those scikit-learn's users search for."""

from collections.abc import Callable

import numpy as np

from harmonium.errors import ArgumentError

Names = tuple[str, ...] | None
"""The names of the columns, if they have any."""

Fault = Callable[[int, int, object], ArgumentError]
"""The error for a value that is not finite: row, column, value as given."""


def place(row: int, column: int, names: Names) -> str:
    """Where a value stands: ``row 3, column 'age'``."""
    return f"row {row}, column {column if names is None else repr(names[column])}"


def not_finite(name: str, names: Names, dtype: np.dtype, row: int, column: int, value: object) -> ArgumentError:
    """The error for NaN, infinity, and what becomes infinity in ``dtype``."""
    where = place(row, column, names)
    if value is None or value != value:
        return ArgumentError(
            name, f"NaN at {where} (Input {name} contains NaN.)", "finite numbers: fill or drop what is missing"
        )
    return ArgumentError(
        name,
        f"{value} at {where} (Input {name} contains infinity or a value too large for {dtype!r}.)",
        f"finite numbers of at most {np.finfo(dtype).max:.6g} in size",
    )


def require_table(shape: tuple[int, ...], name: str) -> None:
    """Raise ``ArgumentError`` unless the shape is of a table with at least one row and one column."""
    if len(shape) != 2:
        if len(shape) > 2:
            phrase = f"Found array with dim {len(shape)}, while dim <= 2 is required"
        else:
            phrase = f"Expected 2D array, got {'1D' if shape else 'scalar'} array instead"
        raise ArgumentError(
            name,
            f"an array of shape {shape} ({phrase})",
            "rows and columns. Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample",
        )
    for axis, (ours, theirs) in enumerate((("row", "sample"), ("column", "feature"))):
        if shape[axis] == 0:
            phrase = f"Found array with 0 {theirs}(s) (shape={shape}) while a minimum of 1 is required."
            raise ArgumentError(name, f"no {ours}s ({phrase})", f"at least one {ours}")


def require_columns(n_columns: int, wanted: int, name: str) -> None:
    """Raise ``ArgumentError`` unless a table has as many columns as wanted."""
    if n_columns != wanted:
        phrase = f"{name} has {n_columns} features, but Harmonium is expecting {wanted} features as input."
        raise ArgumentError(name, f"{n_columns} columns ({phrase})", f"{wanted} columns")


def require_names(names: tuple[str, ...], wanted: tuple[str, ...], name: str) -> None:
    """Raise ``ArgumentError`` unless the columns have the wanted names, in the wanted order."""
    if names == wanted:
        return
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(names) - set(wanted)), sorted(set(wanted) - set(names))
    for title, those in (("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)):
        if those:
            shown = those if len(those) <= 5 else [*those[:5], "..."]
            lines += [f"Feature names {title}:", *(f"- {column}" for column in shown)]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    found = "other column names than wanted, or another order.\n" + "\n".join(lines) + "\n"
    raise ArgumentError(name, found, "the columns, in the order, that the model was fitted with")
