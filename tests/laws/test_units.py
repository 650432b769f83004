"""Laws of a unit type, over all of them: a new type is tested by the line that registers it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from laws.unit_laws import LAWS, call
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
    cgf, mean, variance = (call(layer, name, inputs)[0] for name in ("cgf", "mean", "variance"))
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
    found = {name: call(layer, name, inputs) for name in ("cgf", "mean", "variance", "mode")}
    found["draw"] = call(layer, "sample", hm.key(4), inputs)
    for name, array in found.items():
        assert np.isfinite(array).all(), name
        assert array.dtype == dtype, name
    mean, variance = np.asarray(found["mean"]), np.asarray(found["variance"])
    assert (variance >= 0).all()
    assert layer.contains(found["draw"]).all()
    assert layer.contains(found["mode"]).all()
    first = mean[:, 0] if not layer.one_hot else mean[:, 0, 0]
    rounding = 64 * np.finfo(dtype).eps * np.maximum(np.abs(first[1:]), np.abs(first[:-1]))
    assert (np.diff(first) >= -rounding).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("unit", [hm.Bernoulli, hm.Spin, hm.Categorical, hm.Binomial], ids=lambda unit: unit.__name__)
def test_softplus_log_cosh_and_logsumexp_are_exact_over_the_whole_float_range(unit, dtype):
    """log(1+e^θ), log 2cosh θ, log(2+e^θ) and 4 log(1+e^θ), to a few roundings relative to their value, for every θ.

    Values below the smallest normal number may be 0, as XLA computes.
    """
    info = np.finfo(dtype)
    magnitudes = np.concatenate([2.0 ** np.arange(info.minexp, info.maxexp - 3, 2.0), np.geomspace(0.01, 800, 300)])
    points = np.concatenate([-magnitudes, [0.0], magnitudes]).astype(dtype)
    if unit is hm.Categorical:
        layer, inputs = unit(jnp.zeros((1, 3), dtype)), points[:, None, None] * np.eye(3, dtype=dtype)[:1]
    else:
        layer = unit(jnp.zeros(1, dtype), 4) if unit is hm.Binomial else unit(jnp.zeros(1, dtype))
        inputs = points[:, None]
    for theta, found in zip(points, np.asarray(call(layer, "cgf", jnp.asarray(inputs)))[:, 0], strict=True):
        size, shift = mp.mpf(float(abs(theta))), mp.mpf(float(max(theta, 0)))
        if unit is hm.Spin:
            wanted = size + mp.log1p(mp.exp(-2 * size))
        elif unit is hm.Categorical:
            wanted = shift + mp.log(mp.exp(mp.mpf(float(theta)) - shift) + 2 * mp.exp(-shift))
        else:
            wanted = (4 if unit is hm.Binomial else 1) * (shift + mp.log1p(mp.exp(-size)))
        assert abs(mp.mpf(float(found)) - wanted) <= 4 * info.eps * wanted + 4 * info.tiny, theta


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.__name__)
def test_with_mean_in_single_precision(unit):
    """To the rounding of the bias: 2⁻²³ of it, times var(x), the slope of the mean."""
    layer = jax.tree.map(lambda p: p.astype("float32") if eqx.is_inexact_array(p) else p, unit.random(hm.key(7), 3))
    zeros = jnp.zeros((1, *layer.shape), "float32")
    for pull in (-30.0, -2.0, 0.0, 2.0, 30.0):
        inputs = zeros.at[..., 0].add(pull) if layer.one_hot else zeros + pull
        wanted = call(layer, "mean", inputs)[0]
        made = layer.with_mean(wanted)
        assert made.bias.dtype == jnp.float32
        np.testing.assert_allclose(call(made, "mean", zeros)[0], wanted, rtol=1e-5, atol=1e-30)


def test_a_gaussian_layer_moved_has_the_density_of_the_moved_variable():
    """log p(offset + scale·x) = log p(x) - Σ log scale."""
    layer = hm.Gaussian.random(hm.key(1), 3)
    offset, scale = jnp.array([3.0, -20.0, 0.0]), jnp.array([0.01, 5.0, 300.0])
    moved = layer.moved(offset, scale)
    x = layer.sample(hm.key(2), jnp.zeros((5, 3)))

    def log_density(unit, x):
        return -unit.energy(x) - unit.cgf(jnp.zeros((5, 3))).sum(axis=1)

    expected = log_density(layer, x) - jnp.log(scale).sum()
    np.testing.assert_allclose(log_density(moved, offset[None] + scale[None] * x), expected, rtol=1e-9, atol=1e-9)
    zeros = jnp.zeros((1, 3))
    np.testing.assert_allclose(
        moved.mean(zeros), offset[None] + scale[None] * layer.mean(zeros), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(moved.variance(zeros), scale[None] ** 2 * layer.variance(zeros), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_truncated_normal_is_exact_far_into_both_tails(dtype):
    eps = np.finfo(dtype).eps
    points = np.concatenate([np.linspace(-45, 12, 400), [-2.9999, -3.0, -3.0001, -1e3, -1e8, -1e18, 1e2, 1e8, 1e18]])
    points = points.astype(dtype)
    functions = (truncated_normal.log_ratio, truncated_normal.mean, truncated_normal.variance)
    calculated = [np.asarray(jax.jit(function)(jnp.asarray(points)), float) for function in functions]
    for t, *found in zip(points, *calculated, strict=True):
        with mp.workdps(120):
            s = mp.mpf(float(t))
            if t < -1e4:  # the asymptotic series, exact to 1/t⁴ here
                log_ratio, mean, variance = -mp.log(-s) - 1 / s**2, -1 / s + 2 / s**3, 1 / s**2 - 6 / s**4
            else:
                ratio = mp.sqrt(mp.pi / 2) * mp.exp(s * s / 2) * mp.erfc(-s / mp.sqrt(2))
                log_ratio, mean = mp.log(ratio), s + 1 / ratio
                variance = 1 - mean / ratio
        assert abs(found[0] - log_ratio) <= 12 * eps * max(1, abs(log_ratio)), t
        assert abs(found[1] - mean) <= 100 * eps * mean, t
        assert abs(found[2] - variance) <= 1500 * eps * variance, t


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
