"""Data frames give the rows of the array that holds the same numbers, and errors that name the column."""

from decimal import Decimal

import numpy as np
import pytest
from data.reading import check

from harmonium.data import ArgumentTypeError, read
from harmonium.errors import ArgumentError

COLUMNS = {
    "age": np.array([31, 42, 53], np.int64),
    "member": np.array([True, False, True]),
    "height": np.array([1.5, 2.5, 0.5]),
    "visits": np.array([200, 0, 7], np.uint8),
}
EXPECTED = np.stack(list(COLUMNS.values()), axis=1, dtype=np.float64)


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def pandas_nullable(columns):
    return pandas_frame(columns).convert_dtypes()


def pandas_arrow(columns):
    pytest.importorskip("pyarrow")
    return pandas_frame(columns).convert_dtypes(dtype_backend="pyarrow")


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


def arrow_in_pieces(columns):
    table = arrow_table(columns)
    return pytest.importorskip("pyarrow").concat_tables([table.slice(0, 1), table.slice(1)])


def already_narwhals(columns):
    return pytest.importorskip("narwhals").from_native(polars_frame(columns))


FRAMES = [
    pandas_frame,
    pandas_nullable,
    pandas_arrow,
    polars_frame,
    arrow_table,
    arrow_in_pieces,
    already_narwhals,
]
every_library = pytest.mark.parametrize("frame", FRAMES)


@every_library
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_frame_is_its_numbers(frame, dtype):
    rows = check(frame(COLUMNS), EXPECTED, dtype)
    assert rows.column_names == tuple(COLUMNS)
    assert not rows.sparse


@every_library
@pytest.mark.parametrize(
    ("kinds", "stored"),
    [
        (("?", "?"), "?"),
        (("u1", "?"), "u1"),
        (("i1", "u1"), "i2"),
        (("u1", "f4"), "f4"),
        (("i8", "?"), "f4"),
        (("f8", "f8"), "f4"),
    ],
)
def test_a_frame_is_stored_no_wider_than_its_columns_need(frame, kinds, stored):
    values = np.array([[0, 1], [1, 1], [1, 0]])
    rows = check(frame({str(i): values[:, i].astype(kind) for i, kind in enumerate(kinds)}), values)
    assert rows.table.values.dtype == np.dtype(stored)


@every_library
def test_numbers_are_not_cut_to_the_width_of_the_first_row(frame):
    check(frame({"a": np.array([1, 300, 70000]), "b": np.array([0, 1, 2], np.uint8)}), [[1, 0], [300, 1], [70000, 2]])


@every_library
@pytest.mark.parametrize(
    "values",
    [[1, None, 3], [1.5, None, 2.5], [True, None, False]],
    ids=["int", "float", "bool"],
)
def test_what_is_missing_is_named(frame, values):
    row = values.index(None)
    with pytest.raises(ArgumentError, match=rf"X: found NaN at row {row}, column 'b' \(Input X contains NaN\.\)"):
        read(frame({"a": [1, 2, 3], "b": values}))


@every_library
def test_the_first_fault_in_the_order_of_rows_is_named(frame):
    with pytest.raises(ArgumentError, match="NaN at row 1, column 'b'"):
        read(frame({"a": [1.0, 2.0, None], "b": [1.0, float("nan"), 3.0]}))
    with pytest.raises(
        ArgumentError, match=r"inf at row 2, column 'b' .*infinity or a value too large for dtype\('float32'\)"
    ):
        read(frame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, -1e39]}))


@every_library
def test_text_is_an_error_that_names_column_and_type(frame):
    with pytest.raises(
        ArgumentError, match=r"X: found column 'city' of type .*[sS]tr.*; wanted .*one-hot.*leave it out"
    ):
        read(frame({"a": [1, 2], "city": ["Bern", "Rome"]}))


@every_library
def test_dates_are_an_error_that_names_column_and_type(frame):
    dates = np.array(["2020-01-01", "2021-01-01"], "M8[ms]")
    with pytest.raises(ArgumentError, match=r"X: found column 'day' of type .*(date|time).*; wanted"):
        read(frame({"a": [1, 2], "day": dates}))


@every_library
def test_names_must_be_those_of_before(frame):
    X = frame(COLUMNS)
    assert read(X, column_names=list(COLUMNS)).column_names == tuple(COLUMNS)
    start = "The feature names should match those that were passed during fit.\n"
    for names, message in (
        (list(COLUMNS)[::-1], "Feature names must be in the same order as they were in fit.\n"),
        (["age", "member", "height", "x"], "Feature names unseen at fit time:\n- visits\n"),
        ([*COLUMNS, "x", "y"], "Feature names seen at fit time, yet now missing:\n- x\n- y\n"),
        (["a1", "a2", "a3", "a4", "a5", "a6"], "now missing:\n- a1\n- a2\n- a3\n- a4\n- a5\n- ...\n"),
    ):
        with pytest.raises(ArgumentError) as caught:
            read(X, column_names=names)
        assert start in str(caught.value)
        assert message in str(caught.value)


@every_library
def test_a_frame_of_another_number_of_columns(frame):
    with pytest.raises(ArgumentError, match="X has 4 features, but Harmonium is expecting 3 features as input"):
        read(frame(COLUMNS), n_columns=3)


def test_numbers_in_columns_of_objects_and_decimals():
    mixed = [1, 2.5, True]
    check(pandas_frame({"a": np.array(mixed, object)}), np.array(mixed, float)[:, None])
    for frame in (polars_frame, arrow_table):
        check(frame({"a": [Decimal("1.5"), Decimal("2.25")]}), [[1.5], [2.25]])
    polars = pytest.importorskip("polars")
    check(polars.DataFrame({"a": polars.Series([1, 2**100], dtype=polars.Int128)}), [[1], [2**100]])
    with pytest.raises(ArgumentError, match="'high' at row 1, column 'a'"):
        read(pandas_frame({"a": np.array([1, "high"], object), "b": [1, 2]}))
    with pytest.raises(ArgumentError, match="NaN at row 1, column 'a'"):
        read(pandas_frame({"a": np.array([1, None], object)}))


def test_columns_without_text_for_names():
    pandas = pytest.importorskip("pandas")
    assert check(pandas.DataFrame(EXPECTED), EXPECTED).column_names is None
    pairs = pandas.MultiIndex.from_product([["a", "b"], [1, 2]])
    assert check(pandas.DataFrame(EXPECTED, columns=pairs), EXPECTED).column_names is None
    assert read(pandas.DataFrame(EXPECTED), column_names=list("abcd")).column_names == tuple("abcd")
    with pytest.raises(ArgumentTypeError, match=r"types int, str \(Feature names are only supported if all"):
        read(pandas.DataFrame(EXPECTED, columns=["a", 1, 2, 3]))
    with pytest.raises(ArgumentError, match=r"(?s)columns of one name .*'a' 2 times"):
        read(pandas.DataFrame(EXPECTED, columns=["a", "a", "b", "c"]))


def test_columns_of_kinds_only_pandas_has():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ArgumentError, match=r"column 'c' of type category"):
        read(pandas.DataFrame({"c": pandas.Categorical([1, 2])}))
    with pytest.raises(ArgumentError, match=r"column 'z' of type complex128 \(Complex data not supported\)"):
        read(pandas.DataFrame({"z": [1j, 2]}))
    with pytest.raises(ArgumentTypeError, match="at row 0, column 'p'"):
        read(pandas.DataFrame({"p": pandas.period_range("2020", periods=2, freq="M")}))


def test_a_sparse_frame_stays_sparse():
    pandas = pytest.importorskip("pandas")
    codes = pandas.get_dummies(pandas.Series([3, 1, 2, 1]), sparse=True)
    codes.columns = list("abc")
    rows = check(codes, [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]])
    assert rows.sparse
    assert rows.column_names == ("a", "b", "c")
    codes["d"] = [5, 6, 7, 8]
    assert not check(codes, [[0, 0, 1, 5], [1, 0, 0, 6], [0, 1, 0, 7], [1, 0, 0, 8]]).sparse
    ones = pandas.DataFrame({"a": pandas.arrays.SparseArray([1, 0, 1], fill_value=1)})
    assert not check(ones, [[1], [0], [1]]).sparse


def test_a_lazy_frame_is_an_error_that_says_what_to_do():
    with pytest.raises(ArgumentTypeError, match=r"found a lazy frame \(LazyFrame\); wanted .*collect"):
        read(polars_frame(COLUMNS).lazy())


def test_a_series_is_no_table():
    for frame in (pandas_frame, polars_frame):
        with pytest.raises(ArgumentError, match="Expected 2D array, got 1D array instead"):
            read(frame(COLUMNS)["age"])
    with pytest.raises(ArgumentError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)"):
        read(polars_frame(COLUMNS).head(0))
    with pytest.raises(ArgumentError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."):
        read(pandas_frame(COLUMNS)[[]])
