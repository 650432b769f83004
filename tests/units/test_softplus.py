"""The two functions against 40-digit arithmetic, over the whole range of floats."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from harmonium.units.softplus import log_2cosh, softplus

mpmath.mp.dps = 40
POINTS = np.concatenate([np.linspace(-90, 90, 1201), [0.0, 1e-30, -1e-30, 1e-5, -1e-5, 1e10, -1e10, 3e38, -3e38]])


def _softplus(x):
    return max(x, 0) + mpmath.log1p(mpmath.exp(-abs(x)))


def _log_2cosh(x):
    return abs(x) + mpmath.log1p(mpmath.exp(-2 * abs(x)))


@pytest.mark.parametrize(
    ("function", "exact"), [(softplus, _softplus), (log_2cosh, _log_2cosh)], ids=["softplus", "log_2cosh"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_to_four_units_in_the_last_place(function, exact, dtype):
    """Below the least normal number the result may be flushed to zero; above it the error is relative."""
    with jax.enable_x64(dtype == "float64"):
        x = POINTS.astype(dtype)
        found = np.asarray(function(jnp.asarray(x)), float)
        wanted = np.array([float(exact(mpmath.mpf(float(v)))) for v in x])
        limits = np.finfo(dtype)
        assert np.all(np.abs(found - wanted) <= 4 * limits.eps * wanted + limits.smallest_normal)


@pytest.mark.parametrize(
    ("function", "slope"), [(softplus, jax.nn.sigmoid), (log_2cosh, jnp.tanh)], ids=["softplus", "log_2cosh"]
)
def test_slopes_are_the_means_of_the_units(function, slope):
    x = jnp.asarray(POINTS, "float32")
    np.testing.assert_array_equal(jax.vmap(jax.grad(function))(x), slope(x))
