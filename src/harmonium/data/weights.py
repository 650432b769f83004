"""The weights of rows."""

import numbers
from typing import Any

import numpy as np
from jaxtyping import Float

from harmonium.data.numeric import real
from harmonium.errors import ArgumentError


def check_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Float[np.ndarray, " rows"]:
    """One finite weight ≥ 0 for each row, in float64, not all of them zero.

    None is a weight of one each, and a number stands for itself everywhere.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_rows, float(sample_weight))
    else:
        try:
            weights = np.asarray(sample_weight)
        except ValueError as error:
            raise ArgumentError(name, f"what is no array ({error})", f"{n_rows} numbers, one for each row") from error
        if weights.shape != (n_rows,):
            wanted = f"one weight for each row, shape ({n_rows},)"
            raise ArgumentError(name, f"an array of shape {weights.shape}", wanted)
        weights = np.ascontiguousarray(real(weights, name, lambda i: f"row {i}"), np.float64)
    for bad, phrase in (
        (np.isnan(weights), f"Input {name} contains NaN."),
        (np.isinf(weights), f"Input {name} contains infinity or a value too large for dtype('float64')."),
        (weights < 0, f"Negative values in data passed to `{name}`"),
    ):
        if bad.any():
            row = int(bad.argmax())
            raise ArgumentError(name, f"{weights[row]} for row {row} ({phrase})", "finite weights of at least zero")
    if not weights.any():
        phrase = "Sample weights must contain at least one non-zero number."
        raise ArgumentError(name, f"zero for every row ({phrase})", "a positive weight for at least one row")
    return weights
