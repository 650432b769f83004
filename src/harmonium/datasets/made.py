"""Two data sets that no file is needed for."""

import numpy as np
from jaxtyping import UInt8

from harmonium.errors import ArgumentError


def bars_and_stripes(side: int) -> UInt8[np.ndarray, "rows columns"]:
    """Each picture of full rows, or of full columns, once: 2·2^side - 2 pictures of side × side (MacKay 2003, §43).

    >>> bars_and_stripes(2).tolist()
    [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    """
    if side not in range(1, 17):
        raise ArgumentError("side", repr(side), "a whole number from 1 to 16")
    side = int(side)
    lines = (np.arange(2**side)[:, None] >> np.arange(side) & 1).astype(np.uint8)
    return np.concatenate([np.repeat(lines, side, axis=1), np.tile(lines[1:-1], side)])


def digits() -> UInt8[np.ndarray, "rows columns"]:
    """The 1,797 pictures of digits that scikit-learn brings, 8 × 8, 1 where the ink is at least 8 of 16."""
    from sklearn.datasets import load_digits

    values, _ = load_digits(return_X_y=True)
    return np.asarray(values >= 8, np.uint8)
