"""Summaries against NumPy's, dense and sparse, weighted and not, near and far from zero."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harmonium.data import read, summary
from harmonium.errors import ArgumentError

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def stored(X):
    """CSR that stores every value, the zeros too."""
    n_rows, n_columns = X.shape
    columns = np.tile(np.arange(n_columns), n_rows)
    return sp.csr_array((X.ravel(), columns, np.arange(n_rows + 1) * n_columns), shape=X.shape)


def check(found, X, weights=None, rtol=1e-12):
    """The summary is that of the rows of positive weight, computed in extended precision."""
    X = np.asarray(X).astype(np.longdouble)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, np.longdouble)
    X, weights = X[weights > 0], weights[weights > 0]
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_array_equal(found.minimum, X.min(axis=0))
    np.testing.assert_array_equal(found.maximum, X.max(axis=0))
    np.testing.assert_array_equal(found.all_integer, (np.floor(X) == X).all(axis=0))
    scale = np.abs(X).max(axis=0)
    assert (np.abs(found.mean - mean) <= rtol * scale).all()
    variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    assert (np.abs(found.variance - variance) <= rtol * variance + (2**-52 * scale) ** 2).all()
    assert (found.variance[X.min(axis=0) == X.max(axis=0)] == 0).all()
    for part in found:
        assert part.shape == X.shape[1:]


@both_forms
@pytest.mark.parametrize("weighted", [False, True])
def test_many_blocks(monkeypatch, form, weighted):
    for module in ("dense", "sparse"):
        monkeypatch.setattr(f"harmonium.data.{module}.BLOCK", 70)
    rng = np.random.default_rng(0)
    X = (rng.normal(3, 2, (211, 9)) * rng.integers(0, 2, (211, 9))).astype("f4")
    X[:, 3], X[:, 4], X[:, 5] = 0, rng.integers(-5, 5, 211), rng.integers(-5, 5, 211)
    X[200, 5] += 0.5
    weights = rng.integers(0, 4, 211) * rng.random(211) if weighted else None
    check(read(form(X)).summary(weights), X, weights)


numbers = st.sampled_from([0, 0, 0, 1, -1, 2, 0.5, 1e-3, -250, 1e6])


@settings(deadline=None)
@given(
    arrays("f4", st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=numbers),
    st.lists(st.sampled_from([0, 0, 1, 2, 0.125, 1e3]), min_size=12, max_size=12),
)
def test_any_table(X, weights):
    for form in (np.asarray, np.asfortranarray, sp.csr_array, stored):
        check(read(form(X)).summary(), X)
        if any(weights[: len(X)]):
            check(read(form(X)).summary(weights[: len(X)]), X, weights[: len(X)])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, stored], ids=["dense", "sparse", "stored"])
@pytest.mark.parametrize("first", [0.0, 1e9])
def test_nothing_cancels(form, first):
    """A mean a billion times the standard deviation, also behind a first row from elsewhere."""
    rng = np.random.default_rng(0)
    X = 1e9 + rng.standard_normal((40_000, 8))
    check(read(form(X), dtype="float64").summary(), X, rtol=1e-6)
    X[0] = first
    weights = np.ones(len(X))
    weights[0] = 1e-20
    check(read(form(X), dtype="float64").summary(weights), X, weights, rtol=1e-6)


@both_forms
def test_a_constant_column_has_no_variance(form):
    X = np.full((1000, 2), 0.1)
    X[:, 1] = -1e10 / 3
    found = read(form(X), dtype="float64").summary(np.linspace(0, 1, 1000))
    assert found.variance.tolist() == [0, 0]
    assert found.mean.tolist() == X[0].tolist()


@both_forms
def test_weights_are_repetitions_and_zero_is_absence(form):
    rng = np.random.default_rng(0)
    X, weights = rng.integers(-3, 4, (30, 4)).astype(float), rng.integers(0, 4, 30)
    X[5], weights[5] = 99.5, 0
    weighted = read(form(X)).summary(weights)
    repeated = read(form(np.repeat(X, weights, axis=0))).summary()
    for a, b in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)
    assert weighted.all_integer.all()
    assert weighted.maximum.max() == 3


@both_forms
def test_the_summary_is_of_the_values_in_the_dtype_taken(form):
    X = np.array([[2.0**24 + 1.5], [0.1]])
    found = read(form(X)).summary()
    assert found.maximum[0] == 2.0**24 + 2
    assert found.minimum[0] == np.float32(0.1)
    assert read(form(X[:1])).summary().all_integer[0]


@both_forms
def test_weights_are_checked(form):
    with pytest.raises(ArgumentError, match=r"sample_weight: found an array of shape \(3,\)"):
        read(form(np.ones((2, 2)))).summary([1, 2, 3])


@both_forms
def test_reading_and_summing_up_are_one_pass(monkeypatch, form):
    """``summary()`` of a table that has been read does not look at it again."""
    X = np.ones((4, 2))
    rows = read(form(X))
    monkeypatch.setattr(summary.Running, "add", None)
    monkeypatch.setattr("harmonium.data.sparse.Sparse._entries", None)
    assert rows.summary().mean.tolist() == [1, 1]
