"""Laws of a unit type, over all of them: a new type is tested by the line that registers it."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from laws.unit_laws import LAWS
from oracle import unit_moments
from scipy import integrate

import harmonium as hm
from harmonium.units import UNITS, truncated_normal

pytestmark = pytest.mark.usefixtures("float64")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.__name__)
def test_law(unit, law):
    law(unit)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.__name__)
def test_equals_the_closed_form_in_arbitrary_precision(unit, scale):
    layer = unit.random(hm.key(1), 6)
    inputs = scale * jax.random.normal(hm.key(2), (1, *layer.shape))
    cgf, mean, variance = layer.cgf(inputs)[0], layer.mean(inputs)[0], layer.variance(inputs)[0]
    tolerance = 1e-12 if layer.states() is not None else 1e-9
    for i in range(layer.n):
        theta = np.asarray(layer.bias[i], np.longdouble) + np.asarray(inputs[0, i], np.longdouble)
        expected = unit_moments(layer, i, theta)
        assert abs(float(cgf[i]) - expected[0]) <= tolerance * max(1, abs(expected[0]))
        for found, wanted in ((mean[i], expected[1]), (variance[i], expected[2])):
            np.testing.assert_allclose(
                np.atleast_1d(found), np.atleast_1d(np.array(wanted, float)), rtol=20 * tolerance, atol=1e-300
            )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.__name__)
def test_no_cliff_over_the_whole_float_range(unit, dtype):
    """cgf, mean, variance and a draw are finite, and cgf and mean monotone, for inputs of every magnitude.

    The cgf of an unbounded unit grows like I²/2γ and overflows rightly beyond the root of the largest float.
    """
    layer = unit.random(hm.key(3), 1)
    layer = jax.tree.map(lambda p: p.astype(dtype) if jnp.issubdtype(p.dtype, jnp.inexact) else p, layer)
    top = np.finfo(dtype).maxexp
    largest = (top - 2) if layer.tails() is None else top // 2 - 3
    magnitudes = 2.0 ** np.arange(-np.finfo(dtype).nmant * 2, largest, 0.25)
    sweep = np.concatenate([-magnitudes[::-1], [0.0], magnitudes]).astype(dtype)
    inputs = (
        jnp.zeros((len(sweep), *layer.shape), dtype)
        .at[:, 0]
        .set(
            jnp.asarray(sweep) if not layer.one_hot else jnp.asarray(sweep)[:, None] * jnp.eye(3, dtype=dtype)[0][None]
        )
    )
    cgf, mean, variance = layer.cgf(inputs), layer.mean(inputs), layer.variance(inputs)
    draw, mode = layer.sample(hm.key(4), inputs), layer.mode(inputs)
    for name, array in {"cgf": cgf, "mean": mean, "variance": variance, "draw": draw, "mode": mode}.items():
        assert np.isfinite(array).all(), name
        assert array.dtype == dtype, name
    assert (variance >= 0).all()
    assert layer.contains(draw).all()
    assert layer.contains(mode).all()
    first = mean[:, 0] if not layer.one_hot else mean[:, 0, 0]
    rounding = 64 * np.finfo(dtype).eps * np.maximum(np.abs(first[1:]), np.abs(first[:-1]))
    assert (np.diff(first) >= -rounding).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_truncated_normal_is_exact_far_into_both_tails(dtype):
    eps = np.finfo(dtype).eps
    points = np.concatenate([np.linspace(-45, 12, 400), [-2.9999, -3.0, -3.0001, -1e3, -1e8, -1e18, 1e2, 1e8, 1e18]])
    for t in points.astype(dtype):
        with mp.workdps(120):
            s = mp.mpf(float(t))
            if t < -1e4:  # the asymptotic series, exact to 1/t⁴ here
                log_ratio, mean, variance = -mp.log(-s) - 1 / s**2, -1 / s + 2 / s**3, 1 / s**2 - 6 / s**4
            else:
                ratio = mp.sqrt(mp.pi / 2) * mp.exp(s * s / 2) * mp.erfc(-s / mp.sqrt(2))
                log_ratio, mean = mp.log(ratio), s + 1 / ratio
                variance = 1 - mean / ratio
        x = jnp.asarray(t)
        assert abs(float(truncated_normal.log_ratio(x)) - log_ratio) <= 12 * eps * max(1, abs(log_ratio)), t
        assert abs(float(truncated_normal.mean(x)) - mean) <= 100 * eps * mean, t
        assert abs(float(truncated_normal.variance(x)) - variance) <= 1500 * eps * variance, t


def test_the_oracle_agrees_with_adaptive_quadrature():
    """The closed forms that the laws are checked against are themselves integrals."""
    for unit in (hm.Gaussian, hm.Rectified, hm.DualRectified):
        layer = unit.random(hm.key(5), 1)
        for theta in (-3.0, 0.4, 2.5):
            gamma = [float(g[0]) for g in layer.tails()]
            kink = float(getattr(layer, "kink", jnp.zeros(1))[0])

            def weight(x, gamma=gamma, kink=kink, theta=theta):
                return np.exp(-0.5 * (gamma[1] if x > 0 else gamma[0]) * x * x + theta * x + kink * abs(x))

            right = integrate.quad(weight, 0, 40, epsabs=1e-13, epsrel=1e-12, points=[1, 5])[0]
            left = 0 if unit is hm.Rectified else integrate.quad(weight, -40, 0, epsrel=1e-12, points=[-1, -5])[0]
            assert abs(float(unit_moments(layer, 0, theta)[0]) - np.log(left + right)) < 1e-10
