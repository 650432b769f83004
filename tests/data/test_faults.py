"""Every error names the argument, what was found and what was wanted, and holds scikit-learn's phrase for it."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from harmonium.data import ArgumentTypeError, read
from harmonium.errors import ArgumentError


class Unwilling:
    """What refuses to become an array."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("not here")


SHAPES = [
    (
        np.zeros(5),
        "X: found an array of shape (5,) (Expected 2D array, got 1D array instead); wanted rows and columns. ",
    ),
    ([1, 2, 3], "Reshape your data either using array.reshape(-1, 1) if your data has a single feature"),
    (np.array(1.0), "Expected 2D array, got scalar array instead"),
    (np.zeros((2, 2, 2)), "Found array with dim 3, while dim <= 2 is required"),
    (np.zeros((0, 5)), "Found array with 0 sample(s) (shape=(0, 5)) while a minimum of 1 is required."),
    (np.zeros((5, 0)), "0 feature(s) (shape=(5, 0)) while a minimum of 1 is required."),
    (np.zeros((0, 0)), "0 sample(s) (shape=(0, 0)) while a minimum of 1 is required."),
    (sp.csr_array((0, 5)), "Found array with 0 sample(s) (shape=(0, 5)) while a minimum of 1 is required."),
    (sp.coo_matrix((5, 0)), "0 feature(s) (shape=(5, 0)) while a minimum of 1 is required."),
    (sp.coo_array(np.ones(5)), "Expected 2D array, got 1D array instead"),
]
KINDS = [
    (np.ones((2, 2), complex), "X: found complex128 values (Complex data not supported); wanted real numbers"),
    (sp.csr_array(np.ones((2, 2), complex)), "Complex data not supported"),
    ([[1, 2j]], "Complex data not supported"),
    (np.array([[1, 2], [3, 1j]], object), "1j at row 1, column 1 (Complex data not supported)"),
    ([["a", "b"]], "X: found values of type <U1; wanted real numbers: turn text"),
    (np.array([[1, 2], ["x", 4]], object), "X: found 'x' at row 1, column 0; wanted real numbers: turn text"),
    (np.array([[b"x"]], object), "found b'x' at row 0, column 0"),
    (np.array([["1.5"]], object), "found '1.5' at row 0, column 0"),
    (np.array([["2020-01-01"]], "M8[D]"), "found values of type datetime64[D]"),
    (np.array([[1]], "m8[s]"), "found values of type timedelta64[s]"),
    ([[1, 2], [3]], "X: found what NumPy cannot make an array of"),
    (Unwilling(), "(not here); wanted rows of real numbers, all of one length"),
    (
        "table.csv",
        "X: found str object (Expected 2D array, got scalar array instead); wanted an array, a data frame or",
    ),
    (None, "X: found NoneType object"),
    ({"a": [1]}, "X: found dict object"),
]
FINITE = [
    (
        np.array([[0, 1], [2, np.nan]]),
        "X: found NaN at row 1, column 1 (Input X contains NaN.); wanted finite numbers: ",
    ),
    (np.array([[0, np.nan], [np.inf, 0]], ">f4"), "found NaN at row 0, column 1"),
    (
        np.asfortranarray([[0, 1], [np.inf, np.nan]]),
        "found inf at row 1, column 0 (Input X contains infinity or a value",
    ),
    (np.array([[-np.inf]], "f2"), "found -inf at row 0, column 0 (Input X contains infinity or a value too large for"),
    (
        np.array([[1e39]]),
        "found 1e+39 at row 0, column 0 (Input X contains infinity or a value too large for dtype('float32')",
    ),
    (np.array([[1, None]], object), "found NaN at row 0, column 1 (Input X contains NaN.)"),
    (np.array([[1, 10**400]], object), "found inf at row 0, column 1 (Input X contains infinity"),
    (np.array([[1, -(10**400)]], object), "found -inf at row 0, column 1 (Input X contains infinity"),
    (
        np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 0], [1, 0]]),
        "found NaN at row 1, column 0 (Input X contains NaN.)",
    ),
    (sp.csr_array([[0, 0], [0, 0], [0, np.nan]]), "found NaN at row 2, column 1 (Input X contains NaN.)"),
    (sp.coo_array([[0, -1e39], [0, np.nan]]), "found -inf at row 0, column 1 (Input X contains infinity"),
    (sp.csr_array(([3e38, 3e38], [0, 0], [0, 2]), shape=(1, 1), dtype="f4"), "found inf at row 0, column 0"),
]


@pytest.mark.parametrize(("X", "message"), SHAPES + KINDS + FINITE)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_the_message(X, message):
    with pytest.raises(ArgumentError, match=re.escape(message)) as caught:
        read(X)
    assert caught.value.argument == "X"
    assert re.fullmatch(r"(?s)X: found .+; wanted .+\.", str(caught.value))


def test_objects_that_are_no_numbers_are_a_type_error():
    X = np.zeros((3, 2), object)
    X[1, 1] = {"foo": "bar"}
    message = r"\{'foo': 'bar'\} at row 1, column 1 \(argument must be a string or a real number, not 'dict'\)"
    with pytest.raises(TypeError, match=message) as caught:
        read(X)
    assert isinstance(caught.value, ArgumentTypeError | ArgumentError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_place_of_a_fault_far_down(wrap):
    X = np.ones((5000, 200))
    X[4321, 123] = X[4400, 0] = np.nan
    with pytest.raises(ArgumentError, match="NaN at row 4321, column 123 "):
        read(wrap(X))
    with pytest.raises(ArgumentError, match="NaN at row 4321, column 'c123' "):
        read(wrap(X), column_names=[f"c{i}" for i in range(200)])


def test_the_place_of_a_strange_object_far_down():
    X = np.ones((2**15, 3), object)
    X[30000, 2] = "x"
    with pytest.raises(ArgumentError, match="'x' at row 30000, column 2;"):
        read(X)


def test_float64_holds_what_float32_does_not():
    largest = float(np.finfo("f8").max)
    assert read([[largest]], dtype="float64").take(np.array([0]))[0, 0] == largest
    with pytest.raises(ArgumentError, match=r"too large for dtype\('float64'\)"):
        read([[np.inf]], dtype=np.float64)
    assert read([[float(np.finfo("f4").max)]], dtype=np.dtype("float32")).n_rows == 1


def test_the_argument_is_called_by_its_name():
    with pytest.raises(ArgumentError, match=r"^y: found NaN .*Input y contains NaN\."):
        read([[np.nan]], name="y")
    with pytest.raises(ArgumentError, match=r"^y: found 1 columns \(y has 1 features, but"):
        read([[1.0]], name="y", n_columns=2)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_another_number_of_columns(wrap):
    X = wrap(np.ones((3, 2)))
    message = "X has 2 features, but Harmonium is expecting 4 features as input"
    with pytest.raises(ArgumentError, match=message):
        read(X, n_columns=4)
    with pytest.raises(ArgumentError, match=message):
        read(X, column_names=list("abcd"))
    with pytest.raises(ArgumentError, match=message):
        read(np.full((3, 2), np.nan), column_names=list("abcd"))


@pytest.mark.parametrize("dtype", ["float16", "int", "nonsense", ">f4", np.float16])
def test_dtypes_that_are_not_offered(dtype):
    with pytest.raises(ArgumentError, match=r"dtype: found .*; wanted 'float32' or 'float64'"):
        read([[1.0]], dtype=dtype)
