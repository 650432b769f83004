"""Random words: what is exact about them, and that words of one row do not know each other.

χ² tests over 2¹⁸ rows, with false alarms at 1e-9 each: a dependence of two words that moves their joint distribution
over 16 × 16 cells by a total variation of 0.02 is caught with certainty (noncentrality at least 4·2¹⁸·0.02² = 419).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import harmonium as hm

ROWS = 2**18


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), ()])
def test_a_word_depends_on_its_row_and_its_place_only(shape):
    """More rows and longer ones begin with the same words; rows and keys differ."""
    words = jax.random.bits(hm.key(3), shape)
    assert words.shape == shape
    wider = jax.random.bits(hm.key(3), (*(shape or (1,))[:-1], 9))
    np.testing.assert_array_equal(np.ravel(words), np.ravel(wider[..., : (shape or (1,))[-1]]))
    longer = jax.random.bits(hm.key(3), (50, 4))
    np.testing.assert_array_equal(jax.random.bits(hm.key(3), (3, 4)), longer[:3])
    assert len(np.unique(longer)) == 200
    assert not np.any(np.asarray(longer) == np.asarray(jax.random.bits(hm.key(4), (50, 4))))


def test_the_same_in_compiled_and_mapped_code():
    keys = jax.random.split(hm.key(1), 5)
    alone = jnp.stack([jax.random.uniform(key, (3, 7)) for key in keys])
    mapped = jax.jit(jax.vmap(lambda key: jax.random.uniform(key, (3, 7))))(keys)
    np.testing.assert_array_equal(alone, mapped)


@pytest.mark.parametrize(("dtype", "bits"), [("uint8", 8), ("uint16", 16), ("uint32", 32)])
def test_every_bit_is_fair(dtype, bits):
    words = np.asarray(jax.random.bits(hm.key(5), (ROWS // 8, 8), dtype)).ravel().astype(np.uint64)
    ones = np.array([((words >> np.uint64(i)) & np.uint64(1)).sum() for i in range(bits)])
    z = (ones - len(words) / 2) / np.sqrt(len(words) / 4)
    assert np.abs(z).max() < stats.norm.isf(1e-9 / bits / 2)


def test_doubles_have_53_bits(float64):
    uniform = np.asarray(jax.random.uniform(hm.key(6), (1000, 100)))
    assert len(np.unique((uniform * 2**52) % 2**20)) > 90_000  # the low bits take part
    assert stats.kstest(uniform.ravel(), "uniform").pvalue > 1e-9


@pytest.mark.parametrize("lag", [1, 2, 3, 7, 16, 64, 255])
@pytest.mark.parametrize("shift", [0, 8, 28])
def test_words_of_a_row_are_independent(lag, shift):
    """The four bits above ``shift`` from the top, of words ``lag`` places apart."""
    words = np.asarray(jax.random.bits(hm.key(7 + lag), (ROWS, 256)))[:, [0, lag]] if lag > 64 else None
    if words is None:
        words = np.asarray(jax.random.bits(hm.key(7 + lag), (ROWS, lag + 1)))[:, [0, lag]]
    nibbles = (words >> np.uint32(28 - shift)) & np.uint32(15)
    counts = np.bincount(nibbles[:, 0] * 16 + nibbles[:, 1], minlength=256)
    chi2 = ((counts - ROWS / 256) ** 2 / (ROWS / 256)).sum()
    assert stats.chi2.sf(chi2, 255) > 1e-9


def test_sums_over_a_row_have_the_variance_of_independent_draws():
    """Σ over 784 uniforms: any correlation between places, even of 1e-4 for all pairs, would widen it."""
    sums = np.asarray(jax.random.uniform(hm.key(8), (20_000, 784)).sum(axis=1), float)
    ratio = sums.var(ddof=1) / (784 / 12)
    assert abs(ratio - 1) < stats.norm.isf(1e-9) * np.sqrt(2 / 20_000)
