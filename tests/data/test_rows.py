"""Every form a table can come in gives the same rows, and stays as it was."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from data.reading import NotAnArray, check

from harmonium.data import read
from harmonium.data.summary import BLOCK

REAL = ["?", "i1", "u1", "<i2", ">i4", "<i8", ">u8", "f2", "<f4", ">f4", "<f8", ">f8", "g"]
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.fixture
def table():
    """Whole numbers 0 to 3 that every dtype but bool holds, half of them zero."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, (37, 5)) * rng.integers(0, 2, (37, 5))


def unchanged(X, before):
    assert X.dtype == before.dtype
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("given", REAL)
def test_dense_arrays_of_every_real_dtype(table, given, dtype):
    X = table.astype(given)
    before = X.copy()
    X.setflags(write=False)
    rows = check(X, before, dtype)
    assert not rows.sparse
    assert rows.column_names is None
    unchanged(X, before)


@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2], lambda X: X[::-1, ::-1], np.matrix, np.ma.array],
    ids=["Fortran", "strided", "reversed", "matrix", "masked"],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_dense_arrays_of_every_layout(table, layout):
    X = layout(table.astype("float32"))
    check(X, np.asarray(X))


def test_tables_of_more_than_one_block():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, BLOCK // 100))
    check(X, X)
    check(sp.csr_array(X), X)
    wide = rng.standard_normal((3, BLOCK + 1))
    check(wide, wide)
    check(sp.csr_array(wide), wide)


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2.5], [True, -3]],
        ((1, 2), (3, 4)),
        [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        NotAnArray([[1.0, 2.0]]),
        np.array([[1, 2.5], [True, Fraction(1, 2)], [Decimal("0.25"), np.float32(3)], [np.bool_(True), 2**70]], object),
    ],
    ids=["lists", "tuples", "arrays in a list", "__array__", "objects"],
)
def test_what_becomes_an_array(X):
    check(X, np.array(X.values if isinstance(X, NotAnArray) else X).astype(float))


def test_objects_are_read_past_the_first_piece():
    values = np.arange(3 * 2**16).reshape(-1, 3)
    check(values.astype(object), values)


@pytest.mark.parametrize("given", ["?", "u1", "i8", "f4", "f8", "g"])
@pytest.mark.parametrize("container", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_tables_of_every_format(table, form, container, given):
    X = getattr(sp, f"{form}_{container}")(table.astype(given))
    before = X.toarray()
    rows = check(X, before)
    assert rows.sparse
    unchanged(X.toarray(), before)


def untidy():
    """A CSR array with unsorted indices, duplicates, an explicit zero, an empty row, and duplicates that cancel."""
    data = np.array([1.0, 2.0, 4.0, 0.0, 5.0, -5.0], np.float32)
    columns, starts = np.array([3, 0, 3, 1, 2, 2]), np.array([0, 3, 3, 6])
    return sp.csr_array((data, columns, starts), shape=(3, 4)), [[2, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "make", [lambda X: X, sp.csr_matrix, lambda X: sp.csc_array(X.T).T], ids=["array", "matrix", "T"]
)
def test_sparse_tables_that_are_untidy(make):
    X, expected = untidy()
    X = make(X)
    parts = [part.copy() for part in (X.data, X.indices, X.indptr)]
    X.has_canonical_format = True  # a claim that is not to be trusted
    check(X, expected)
    for part, before in zip((X.data, X.indices, X.indptr), parts, strict=True):
        unchanged(part, before)


def test_a_coo_table_with_duplicates_and_wide_indices():
    index = (np.array([1, 0, 1], np.int64), np.array([2, 0, 2], np.int64))
    check(sp.coo_array(([1.5, 2.0, 2.0], index), shape=(2, 3)), [[2, 0, 0], [0, 0, 3.5]])


def test_a_table_cannot_be_replaced(table):
    rows = read(table)
    with pytest.raises(AttributeError):
        rows.column_names = ("a",)


def test_names_given_to_what_has_none(table):
    assert read(table, column_names=np.array(list("abcde"), object)).column_names == tuple("abcde")
    assert read(sp.csr_array(table), column_names=list("abcde")).column_names == tuple("abcde")
    assert read(table, n_columns=5).n_columns == 5
