"""Batches: each row once an epoch, the same however the steps are cut, weights that stay true."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium.data import Batches, read
from harmonium.data.batches import permutation
from harmonium.errors import ArgumentError

FORMS = [np.asarray, sp.csr_array]


def numbered(n):
    """Row i is (i + 1, i mod 3): rows tell which they are."""
    return np.stack([np.arange(1, n + 1), np.arange(n) % 3], axis=1, dtype=np.float32)


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**130), st.integers(0, 2**40))
def test_an_order_is_a_permutation(n, seed, epoch):
    order = permutation(seed, epoch, n)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 2**64), st.booleans())
def test_an_epoch_holds_each_row_once(n, batch_size, seed, weighted):
    """Also with the last batch short, with batches of more than all rows, and for CSR bit for bit."""
    weights = np.arange(n) % 4 + 0.5 if weighted else None
    relative = np.ones(n) if weights is None else weights / weights.mean()
    X = numbered(n)
    for form in FORMS:
        batches = Batches(read(form(X)), batch_size, seed, weights)
        size, steps = min(batch_size, n), batches.steps_per_epoch
        assert (batches.batch_size, steps) == (size, -(-n // size))
        x, w = batches.chunk(0, 2 * steps)
        assert x.shape == (2 * steps, size, 2)
        assert w.shape == (2 * steps, size)
        assert x.dtype == w.dtype == np.float32
        for epoch in range(2):
            rows = x[epoch * steps : (epoch + 1) * steps].reshape(-1, 2)
            share = w[epoch * steps : (epoch + 1) * steps].ravel()
            order = batches.order(epoch)
            np.testing.assert_array_equal(rows[:n], X[order])
            np.testing.assert_array_equal(share[:n], relative[order].astype("f4"))
            np.testing.assert_array_equal(rows[n:], np.repeat(X[:1], steps * size - n, axis=0))
            assert not share[n:].any()


@settings(deadline=None)
@given(st.integers(1, 15), st.integers(1, 6), st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 20))
def test_chunks_are_the_same_however_they_are_cut(n, batch_size, cuts, start):
    for form in FORMS:
        rows = read(form(numbered(n)))
        whole = Batches(rows, batch_size, 7, np.arange(1, n + 1)).chunk(start, sum(cuts))
        batches, t, parts = Batches(rows, batch_size, 7, np.arange(1, n + 1)), start, []
        for n_steps in cuts:
            parts.append(batches.chunk(t, n_steps))
            t += n_steps
        for one, many in zip(whole, zip(*parts, strict=True), strict=True):
            np.testing.assert_array_equal(one, np.concatenate(many))


def test_ten_steps_are_three_and_seven():
    batches = Batches(read(numbered(11)), 4, 0)
    whole = batches.chunk(0, 10)
    for again in (Batches(batches.rows, 4, 0), batches):
        first, rest = again.chunk(0, 3), again.chunk(3, 7)
        for i in range(2):
            np.testing.assert_array_equal(whole[i], np.concatenate([first[i], rest[i]]))


def test_orders_differ_from_epoch_to_epoch_and_from_seed_to_seed():
    orders = {tuple(permutation(seed, epoch, 50)) for seed in (0, 1, 2**64, 2**64 + 1) for epoch in range(25)}
    assert len(orders) == 100


def test_an_order_does_not_depend_on_what_was_asked_before():
    batches = Batches(read(numbered(30)), 7, 5)
    for epoch in (3, 0, 3, 1, 1):
        np.testing.assert_array_equal(batches.order(epoch), permutation(5, epoch, 30))


def test_orders_are_these_on_every_machine():
    """Checkpoints hold a seed and a step: these numbers must never change."""
    assert permutation(0, 0, 8).tolist() == [1, 4, 5, 6, 2, 0, 3, 7]
    assert permutation(2024, 3, 8).tolist() == [0, 7, 4, 5, 3, 2, 6, 1]


def test_every_row_is_as_likely_at_every_place():
    """χ² over 6,000 orders of 5 rows, 20 degrees of freedom: above 62 once in 3·10⁵ (the seed is fixed)."""
    count = np.zeros((5, 5))
    for epoch in range(6_000):
        count[np.arange(5), permutation(0, epoch, 5)] += 1
    assert ((count - 1200) ** 2 / 1200).sum() * 4 / 5 < 62


def test_which_row_follows_which_is_free():
    """All 120 orders of 5 rows, 6,000 times: χ² with 119 degrees of freedom is above 200 once in 2·10⁵."""
    orders, count = np.unique([permutation(1, epoch, 5) for epoch in range(6_000)], axis=0, return_counts=True)
    assert len(orders) == 120
    assert ((count - 50) ** 2 / 50).sum() < 200


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_full_batches_weigh_their_number_of_rows(scale):
    weights = np.random.default_rng(0).random(64) * scale
    w = Batches(read(numbered(64)), 8, 0, weights).chunk(0, 8)[1]
    assert w.sum() == pytest.approx(64, rel=1e-6)
    np.testing.assert_allclose(np.sort(w.ravel()), np.sort(weights / scale) / np.mean(weights / scale), rtol=1e-6)


def test_rows_of_weight_zero_take_part_with_weight_zero():
    weights = np.array([0, 2, 0, 2, 0])
    x, w = Batches(read(numbered(5)), 2, 0, weights).chunk(0, 3)
    assert sorted(x[w > 0][:, 0]) == [2, 4]
    assert np.unique(w).tolist() == [0, 2.5]
    assert set(x[..., 0].ravel()) == {1, 2, 3, 4, 5}


def test_weights_follow_the_dtype_and_are_not_changed():
    weights = np.array([1.0, 3.0])
    x, w = Batches(read(numbered(2), dtype="float64"), 2, 0, weights).chunk(0, 1)
    assert x.dtype == w.dtype == np.float64
    assert weights.tolist() == [1, 3]


def test_far_along():
    """A step of an epoch far away is as quick to find as the first."""
    batches = Batches(read(numbered(10)), 4, 0)
    x, _ = batches.chunk(3 * 10**15 + 1, 1)
    np.testing.assert_array_equal(x[0], numbered(10)[permutation(0, 10**15, 10)[4:8]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size: found 0; wanted at least 1"),
        ({"seed": -1}, "seed: found -1; wanted at least 0"),
        ({"sample_weight": [1, 2]}, "sample_weight: found an array of shape"),
    ],
)
def test_arguments_that_cannot_be_used(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        Batches(**{"rows": read(numbered(3)), "batch_size": 2, "seed": 0} | arguments)


def test_steps_that_cannot_be_asked_for():
    batches = Batches(read(numbered(3)), 2, 0)
    with pytest.raises(ArgumentError, match="t: found -1; wanted at least 0"):
        batches.chunk(-1, 1)
    with pytest.raises(ArgumentError, match="n_steps: found 0; wanted at least 1"):
        batches.chunk(0, 0)
