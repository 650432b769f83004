"""Weights of rows: every form, and every error."""

import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from data.reading import NotAnArray

from harmonium.data import check_weights
from harmonium.errors import ArgumentError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [1, 1, 1]),
        (2, [2, 2, 2]),
        (np.float32(0.5), [0.5, 0.5, 0.5]),
        ([1, 0, 2], [1, 0, 2]),
        (np.array([1, 0, 2], ">i2"), [1, 0, 2]),
        (np.array([True, False, True]), [1, 0, 1]),
        (np.arange(6.0)[::-2], [5, 3, 1]),
        (np.array([1, 2.5, Fraction(1, 2)], object), [1, 2.5, 0.5]),
        (NotAnArray([1, 2, 3]), [1, 2, 3]),
    ],
)
def test_every_form(given, expected):
    weights = check_weights(given, 3)
    assert weights.dtype == np.float64
    assert weights.flags.c_contiguous
    assert weights.tolist() == expected


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_series(library):
    series = pytest.importorskip(library).Series([1, 0, 2])
    assert check_weights(series, 3).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], "sample_weight: found an array of shape (2,); wanted one weight for each row, shape (3,)."),
        (np.ones((3, 1)), "found an array of shape (3, 1)"),
        (sp.csr_array(np.ones((3, 1))), "found an array of shape ()"),
        ([1, [2], 3], "found what is no array ("),
        ([1, -2, 3], "found -2.0 for row 1 (Negative values in data passed to `sample_weight`); wanted finite weights"),
        ([1, 2, np.nan], "found nan for row 2 (Input sample_weight contains NaN.)"),
        (
            [np.inf, 2, 3],
            "found inf for row 0 (Input sample_weight contains infinity or a value too large for dtype('f",
        ),
        (
            [0, 0, 0],
            "found zero for every row (Sample weights must contain at least one non-zero number.); wanted a pos",
        ),
        (0, "found zero for every row"),
        (-1.0, "found -1.0 for row 0"),
        (["a", "b", "c"], "found values of type <U1; wanted real numbers"),
        ([1j, 2, 3], "Complex data not supported"),
        (np.array([1, "x", 3], object), "found 'x' at row 1"),
    ],
)
def test_every_error(given, message):
    with pytest.raises(ArgumentError, match=re.escape(message)) as caught:
        check_weights(given, 3)
    assert caught.value.argument == "sample_weight"


def test_the_argument_is_called_by_its_name():
    with pytest.raises(ArgumentError, match=r"^w: found nan .*Input w contains NaN"):
        check_weights([np.nan], 1, name="w")


def test_weights_given_are_not_changed():
    given = np.array([3.0, 1.0])
    check_weights(given, 2)
    assert given.tolist() == [3, 1]
