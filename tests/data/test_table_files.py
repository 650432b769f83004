"""Tables in files: each format as it is, and one line that names the place of what is wrong."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from harmonium.data import read
from harmonium.data.files import read_file
from harmonium.errors import ArgumentError

ROWS = np.array([[0.0, 1.5], [2.0, -3.0], [0.0, 0.25]])


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_npy_stays_on_disk():
    np.save("rows.npy", ROWS)
    values, names = read_file("rows.npy")
    assert isinstance(values, np.memmap)
    np.testing.assert_array_equal(values, ROWS)
    assert names is None


def test_npz_of_one_array_of_several_and_sparse():
    np.savez("one.npz", ROWS)
    np.testing.assert_array_equal(read_file("one.npz").values, ROWS)
    np.savez_compressed("two.npz", train=ROWS, test=ROWS[:1])
    np.testing.assert_array_equal(read_file("two.npz:test").values, ROWS[:1])
    with pytest.raises(ArgumentError, match=r"two\.npz: found the arrays train, test; wanted .* two\.npz:train"):
        read_file("two.npz")
    with pytest.raises(ArgumentError, match=r"found the arrays train, test"):
        read_file("two.npz:valid")
    for kind in (sparse.csr_array, sparse.csc_matrix):
        sparse.save_npz("sparse.npz", kind(ROWS))
        values = read_file("sparse.npz").values
        assert sparse.issparse(values)
        np.testing.assert_array_equal(values.toarray(), ROWS)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0,1.5\n2,-3\n0,.25\n", None),
        ("0,1.5\n2,-3\n0,.25", None),
        ("a,b\n0,1.5\n2,-3\n0,2.5e-1\n", ("a", "b")),
        ('a,"b, c"\n0,"1.5"\n2,-3\n0,.25\n', ("a", "b, c")),
        ("a;b\r\n0;1.5\r\n2;-3\r\n0;.25\r\n", ("a", "b")),
        ("a\tb\n0\t1.5\n\n2\t-3\n0\t.25\n", ("a", "b")),
        ("\ufeffa,b\n0, 1.5\n2, -3\n0, .25\n", ("a", "b")),
        ("1st,nan\n0,1.5\n2,-3\n0,.25\n", ("1st", "nan")),
    ],
)
def test_csv(text, names):
    Path("rows.csv").write_bytes(text.encode())
    table = read_file("rows.csv")
    np.testing.assert_array_equal(table.values, ROWS)
    assert table.names == names


def test_csv_of_one_column_or_one_row():
    Path("rows.csv").write_text("1\n2\n")
    assert read_file("rows.csv").values.shape == (2, 1)
    Path("rows.csv").write_text("1,2\n")
    assert read_file("rows.csv").values.shape == (1, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n0,1\n2,x\n", "found 'x' at row 1 (line 3), column 'b'; wanted a number"),
        ("0,1\n2,x\n", "found 'x' at row 1 (line 2), column 1; wanted a number"),
        ("a,b\n0,1\n\n2,\n", "found an empty cell at row 1 (line 4), column 'b'"),
        ("a,b\n0,1\n2\n", "found 1 cells in row 1 (line 3); wanted 2, as in line 1"),
        ("a,b\n0,1\n2,3,4\n", "found 3 cells in row 1 (line 3); wanted 2"),
        ("a,b\n0,1,2\n2,3,4\n", "found 2 names over 3 columns"),
        ("a;b\n0;1,5\n", "found '1,5' at row 0 (line 2), column 'b'"),
        ("a,b\n0,1_0\n", "found '1_0' at row 0"),
        (",b\n0,1\n", "found no name in line 1, column 0"),
        ("a,a\n0,1\n", "found the name 'a' twice"),
        ("", "found an empty first line"),
        ("a,b\n", "found a header, and no rows"),
    ],
)
def test_bad_csv_names_the_place(text, said):
    Path("rows.csv").write_text(text)
    with pytest.raises(ArgumentError) as caught:
        read_file("rows.csv")
    assert str(caught.value).startswith("rows.csv: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["rows.npy", "rows.npz", "rows.csv"])
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe garbage" * 9])
def test_damaged_files(name, content):
    Path(name).write_bytes(content)
    with pytest.raises(ArgumentError, match=rf"^{name}: found"):
        read_file(name)


def test_damaged_in_the_middle():
    np.savez_compressed("rows.npz", rows=np.random.default_rng(0).random((50, 20)))
    content = bytearray(Path("rows.npz").read_bytes())
    content[len(content) // 2] ^= 255
    Path("rows.npz").write_bytes(content)
    with pytest.raises(ArgumentError, match=r"^rows\.npz: found what cannot be read"):
        read_file("rows.npz")
    np.save("rows.npy", ROWS)
    Path("rows.npy").write_bytes(Path("rows.npy").read_bytes()[:-8])
    with pytest.raises(ArgumentError, match=r"^rows\.npy: found what cannot be read"):
        read_file("rows.npy")


def test_objects_are_not_unpickled():
    np.save("rows.npy", np.array([[{}]], object), allow_pickle=True)
    np.savez("rows.npz", np.array([[{}]], object))
    for name in ("rows.npy", "rows.npz"):
        with pytest.raises(ArgumentError, match=rf"^{name}: found what cannot be read .*(allow_pickle|objects)"):
            read_file(name)


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_parquet(library, monkeypatch):
    made = pytest.importorskip(library)
    columns = {"a": ROWS[:, 0], "b": ROWS[:, 1]}
    if library == "polars":
        made.DataFrame(columns).write_parquet("rows.parquet")
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    else:
        from pyarrow import parquet

        parquet.write_table(made.table(columns), "rows.parquet")
    table = read_file("rows.parquet")
    assert table.names == ("a", "b")
    rows = read(table.values, dtype="float64")
    assert rows.column_names == ("a", "b")
    np.testing.assert_array_equal(rows.take(np.arange(3)), ROWS)
    Path("rows.parquet").write_bytes(b"garbage")
    with pytest.raises(ArgumentError, match=r"^rows\.parquet: found what cannot be read"):
        read_file("rows.parquet")


def test_parquet_without_a_library_says_what_to_install(monkeypatch):
    Path("rows.parquet").write_bytes(b"")
    for module in ("pyarrow", "pyarrow.parquet", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ArgumentError, match=r"pip install 'harmonium\[frames\]'"):
        read_file("rows.parquet")


def test_a_colon_in_a_name_is_no_array():
    np.save("a:b.npy", ROWS)
    np.testing.assert_array_equal(read_file("a:b.npy").values, ROWS)
