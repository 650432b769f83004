"""Bars and stripes, and scikit-learn's digits."""

import itertools

import numpy as np
import pytest

from harmonium import ArgumentError
from harmonium.datasets import bars_and_stripes, digits


@pytest.mark.parametrize("side", [1, 2, 3, 4])
def test_bars_and_stripes_are_all_there_once(side):
    pictures = {tuple(map(tuple, rows.reshape(side, side))) for rows in bars_and_stripes(side)}
    expected = set()
    for lines in itertools.product((0, 1), repeat=side):
        expected.add(tuple((line,) * side for line in lines))
        expected.add((lines,) * side)
    assert pictures == expected
    assert len(bars_and_stripes(side)) == len(expected) == 2 * 2**side - 2
    assert bars_and_stripes(side).dtype == np.uint8


@pytest.mark.parametrize("side", [0, -1, 17])
def test_a_side_that_cannot_be(side):
    with pytest.raises(ArgumentError, match=r"side: found .*; wanted a whole number from 1 to 16"):
        bars_and_stripes(side)


def test_digits():
    rows = digits()
    assert rows.shape == (1797, 64)
    assert rows.dtype == np.uint8
    assert set(np.unique(rows)) == {0, 1}
    assert rows[0].reshape(8, 8).tolist()[0] == [0, 0, 0, 1, 1, 0, 0, 0]
