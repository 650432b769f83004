"""What reading and batching need: never the table a second time, never a sparse table made dense."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from harmonium.data import Batches, read

MIB = 2**20


class Peak:
    """The most memory in use at once within the block, beyond what was in use before, in MiB."""

    def __enter__(self):
        tracemalloc.start()
        return self

    def __exit__(self, *_):
        self.mib = tracemalloc.get_traced_memory()[1] / MIB
        tracemalloc.stop()


@pytest.fixture(scope="module")
def table():
    """32 MiB of float32."""
    return np.random.default_rng(0).random((32 * 1024, 256), np.float32)


def work(X, weights=None):
    """Read, sum up, take a chunk of 20 steps of 64 rows, 1.25 MiB."""
    rows = read(X)
    rows.summary(np.ones(rows.n_rows))
    batches = Batches(rows, 64, 0, weights)
    x, _ = batches.chunk(0, 20)
    return rows, x


@pytest.mark.parametrize("given", ["f4", "f8", "i8", "u1", ">f4"])
def test_a_dense_array_is_not_copied(table, given):
    X = (table * 10).astype(given)
    with Peak() as peak:
        rows, _ = work(X)
    assert np.shares_memory(rows.table.values, X)
    assert peak.mib < 12  # 16 blocks of 1 MiB would be the table in float32


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: X[::2, ::-1]], ids=["Fortran", "strided"])
def test_a_dense_array_of_another_layout_is_not_copied(table, layout):
    X = layout(table)
    with Peak() as peak:
        rows, _ = work(X)
    assert np.shares_memory(rows.table.values, X)
    assert peak.mib < 12


def test_a_memory_map_stays_on_disk(table, tmp_path):
    np.save(tmp_path / "table.npy", table)
    X = np.load(tmp_path / "table.npy", mmap_mode="r")
    with Peak() as peak:
        rows, x = work(X)
    assert np.shares_memory(rows.table.values, X)
    assert peak.mib < 12
    order = Batches(rows, 64, 0).order(0)[: 20 * 64]
    np.testing.assert_array_equal(x.reshape(-1, 256), table[order])


def test_a_wide_sparse_table_is_not_made_dense():
    """2,000 × 100,000 with 20,000 values: 763 MiB if it were dense."""
    rng = np.random.default_rng(0)
    index = rng.integers(0, 2_000, 20_000), rng.integers(0, 100_000, 20_000)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        X = form(sp.coo_array((rng.random(20_000), index), shape=(2_000, 100_000)))
        with Peak() as peak:
            rows = read(X)
            rows.summary(np.ones(2_000))
            x, _ = Batches(rows, 10, 0).chunk(0, 2)
        assert rows.sparse
        assert x.nbytes / MIB > 7
        assert peak.mib < x.nbytes / MIB + 12


def test_a_sparse_table_of_the_dtype_is_shared(table):
    X = sp.csr_array(np.where(table < 0.05, table, 0))
    with Peak() as peak:
        rows = read(X)
    assert np.shares_memory(rows.table.matrix.data, X.data)
    assert peak.mib < 24  # the stored values with their columns, weights and differences, a block at a time


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_is_copied_once(table, library):
    frame = pytest.importorskip(library).DataFrame(np.asfortranarray(table))
    with Peak() as peak:
        work(frame)
    assert peak.mib < 32 + 12


def test_a_chunk_is_made_without_a_copy_of_it(table):
    for X in (table, table.astype("f8"), sp.csr_array(table)):
        batches = Batches(read(X), 1000, 0)
        batches.order(0)
        with Peak() as peak:
            x, _ = batches.chunk(0, 20)
        assert peak.mib < x.nbytes / MIB + 5
