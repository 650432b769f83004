"""Sums over rows: the derivatives of plain broadcasting and plain products, backwards, and forwards through that."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm
from harmonium.batchwise import FEW, alone, product, spread

pytestmark = pytest.mark.usefixtures("float64")
few_or_many = pytest.mark.parametrize("n", [1, FEW, FEW + 1])


def _assert_same(ours, plain, *arguments):
    """Values, and derivatives of a function that is curved in all arguments: by vjp, and by jvp of that."""

    def curved(function):
        return lambda *a: jnp.sum(
            jnp.sin(function(*a)) * jnp.cos(jnp.arange(function(*a).size)).reshape(function(*a).shape)
        )

    directions = tuple(jnp.cos(1.0 + x) for x in arguments)

    def twice(function):
        return jax.jvp(lambda *a: jax.grad(curved(function), tuple(range(len(a))))(*a), arguments, directions)

    np.testing.assert_array_equal(ours(*arguments), plain(*arguments))
    found, wanted = jax.jit(lambda: twice(ours))(), jax.jit(lambda: twice(plain))()
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@few_or_many
def test_a_product(n):
    x, matrix = jax.random.normal(hm.key(0), (n, 3)), jax.random.normal(hm.key(1), (3, 2))
    _assert_same(product, lambda x, matrix: x @ matrix, x, matrix)
    _assert_same(lambda x, m: product(x, m.T), lambda x, m: x @ m.T, x, matrix.T)


def test_a_product_of_mapped_rows():
    x, matrix = jax.random.normal(hm.key(0), (4, FEW + 1, 3)), jax.random.normal(hm.key(1), (3, 2))
    over = jax.vmap(product, (0, None))
    _assert_same(over, lambda x, matrix: x @ matrix, x, matrix)


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3)])
def test_a_parameter_for_every_row(shape):
    _assert_same(lambda p: spread(p, shape), lambda p: jnp.broadcast_to(p, shape), jnp.array([0.3, -1.0, 2.0]))
    wider = (*shape, 2)
    _assert_same(lambda p: spread(p, wider), lambda p: jnp.broadcast_to(p, wider), jnp.arange(6.0).reshape(3, 2))


def test_what_is_not_a_number_stays_none():
    """It must reach those who look for it: a gradient of zeros would hide a run that has diverged."""
    x = jnp.full((FEW + 1, 3), jnp.nan)
    slope = jax.grad(lambda m: jnp.sum(product(x, m)))(jnp.ones((3, 2)))
    assert jnp.isnan(slope).all()
    assert jnp.isnan(alone(lambda x: x.T, x[0, 0], x)).all()
    np.testing.assert_array_equal(alone(jnp.add, jnp.asarray(0.0), 1, 2.5), 3.5)
