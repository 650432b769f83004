"""What the tests of reading share."""

import numpy as np

from harmonium.data import read


class NotAnArray:
    """What turns itself into an array, and is none."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


def check(X, expected, dtype="float32", **options):
    """What is read from X is expected: all rows, some rows, and no rows."""
    rows = read(X, dtype=dtype, **options)
    expected = np.asarray(expected).astype(dtype)
    n = len(expected)
    assert (rows.n_rows, rows.n_columns) == expected.shape
    for index in (np.arange(n), np.array([n - 1, 0, 0, n // 2]), np.arange(0), np.arange(n, dtype=np.int32)[::-2]):
        taken = rows.take(index)
        assert taken.dtype == dtype
        assert taken.flags.c_contiguous
        assert taken.flags.writeable
        np.testing.assert_array_equal(taken, expected[index])
    return rows
