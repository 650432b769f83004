"""What holds for every unit type. Each law takes the type, makes a layer of it, and fails by an AssertionError."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

import harmonium as hm

POINTS = np.array([-8.0, -3.0, -1.0, -0.1, 0.0, 0.2, 0.9, 2.5, 7.0])


@eqx.filter_jit
def call(layer, method, *arguments):
    """``layer.method(*arguments)``, compiled; laws that call it on equal shapes compile it once."""
    return getattr(layer, method)(*arguments)


def _layer_and_inputs(unit):
    layer = unit.random(hm.key(7), 3)
    inputs = jax.random.normal(hm.key(8), (len(POINTS), *layer.shape))
    return layer, inputs + jnp.asarray(POINTS).reshape(-1, *[1] * len(layer.shape))


def _grid(layer, inputs_scale=30.0):
    """Points x of one unit and the log weights of a sum over them: all states, or fine Gauss-Legendre panels."""
    states = layer.states()
    if states is not None:
        return np.asarray(states), np.zeros(len(states))
    low, high = (max(end, -60.0) if end < 0 else min(end, 60.0) for end in layer.support)
    points, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(low, high, 2 * int(4 * (high - low) + 20) + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return (middle[:, None] + half[:, None] * points).ravel(), np.log(half[:, None] * weights).ravel()


def _log_weights(layer, inputs):
    """log of exp(-E(x) + Ix) times the quadrature weight, for unit 0 at every grid point: ``(batch, points)``."""
    one = layer.at(jnp.array([0]))
    x, log_weights = _grid(layer)
    energy = one.energy(jnp.asarray(x)[:, None])  # (points,) for a layer of one unit
    received = np.asarray(inputs[:, 0]).reshape(len(inputs), -1) @ np.asarray(x).reshape(len(x), -1).T
    return received - np.asarray(energy)[None] + log_weights[None], np.asarray(x)


def cgf_is_the_log_normaliser(unit):
    """cgf(I) = log Σ_x exp(-E(x) + I·x)."""
    layer, inputs = _layer_and_inputs(unit)
    log_weights, _ = _log_weights(layer, inputs)
    expected = np.logaddexp.reduce(log_weights, axis=1)
    np.testing.assert_allclose(call(layer, "cgf", inputs)[:, 0], expected, rtol=1e-11, atol=1e-11)


def mean_and_variance_are_those_of_the_distribution(unit):
    """⟨x⟩ and var(x) are moments of exp(-E(x) + I·x)."""
    layer, inputs = _layer_and_inputs(unit)
    log_weights, x = _log_weights(layer, inputs)
    weights = np.exp(log_weights - np.logaddexp.reduce(log_weights, axis=1, keepdims=True))
    mean = np.tensordot(weights, x, axes=1)
    spread = (x[None] - mean[:, None]) ** 2
    variance = np.einsum("bx,bx...->b...", weights, spread)
    np.testing.assert_allclose(call(layer, "mean", inputs)[:, 0], mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(call(layer, "variance", inputs)[:, 0], variance, rtol=1e-9, atol=1e-11)


def mean_and_variance_are_the_derivatives_of_the_cgf(unit):
    """⟨x⟩ = ∂cgf/∂I and var(x) = ∂²cgf/∂I², by automatic differentiation."""
    layer, inputs = _layer_and_inputs(unit)
    gradient = jax.jit(jax.grad(lambda i: jnp.sum(layer.cgf(i))))
    np.testing.assert_allclose(call(layer, "mean", inputs), gradient(inputs), rtol=1e-11, atol=1e-12)
    hessian = jax.jit(jax.jacfwd(lambda flat: gradient(flat.reshape(inputs[:1].shape)).ravel()))(inputs[:1].ravel())
    np.testing.assert_allclose(call(layer, "variance", inputs)[:1].ravel(), jnp.diag(hessian), rtol=1e-9, atol=1e-12)


def statistics_follow_from_the_cgf(unit):
    """∂cgf/∂θ = ⟨-∂E/∂θ⟩ for every parameter θ: what makes the gradient of a machine a difference of moments."""
    layer, inputs = _layer_and_inputs(unit)
    one = layer.at(jnp.array([0]))
    log_weights, x = _log_weights(layer, inputs)
    weights = np.exp(log_weights - np.logaddexp.reduce(log_weights, axis=1, keepdims=True))
    from_cgf = eqx.filter_jit(jax.grad(lambda u: u.cgf(inputs[:, :1]).sum()))(one)
    received, x = jnp.asarray(weights.sum(axis=0)), jnp.asarray(x)[:, None]
    from_energy = eqx.filter_jit(jax.grad(lambda u: -jnp.sum(received * u.energy(x))))(one)
    for a, b in zip(jax.tree.leaves(from_cgf), jax.tree.leaves(from_energy), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


def energy_is_linear_in_the_parameters(unit):
    """E at inverse temperature β is βE, up to the reference measure, which is E at β = 0."""
    layer, inputs = _layer_and_inputs(unit)
    x = call(layer, "sample", hm.key(9), inputs)
    reference = layer.scaled(0.0).energy(x)
    for beta in (0.3, 2.0):
        expected = beta * (layer.energy(x) - reference) + reference
        np.testing.assert_allclose(layer.scaled(beta).energy(x), expected, rtol=1e-12, atol=1e-12)


def energy_is_a_sum_over_units(unit):
    """E of a layer is the sum of E over the layers of its single units."""
    layer, inputs = _layer_and_inputs(unit)
    x = call(layer, "sample", hm.key(10), inputs)
    parts = [layer.at(jnp.array([i])).energy(x[:, i : i + 1]) for i in range(layer.n)]
    np.testing.assert_allclose(layer.energy(x), sum(parts), rtol=1e-12, atol=1e-12)


def the_mode_is_the_likeliest_value(unit):
    """No point of the grid has a higher weight than the mode."""
    layer, inputs = _layer_and_inputs(unit)
    one = layer.at(jnp.array([0]))
    x, _ = _grid(layer)
    mode = one.mode(inputs[:, :1])
    energy = np.asarray(one.energy(jnp.asarray(x)[:, None]))
    received = np.asarray(inputs[:, 0]).reshape(len(inputs), -1)
    best = (received @ np.asarray(x).reshape(len(x), -1).T - energy[None]).max(axis=1)
    at_mode = np.sum(received * np.asarray(mode).reshape(len(inputs), -1), axis=1) - np.asarray(one.energy(mode))
    assert (at_mode >= best - 1e-9).all()


def draws_follow_the_distribution(unit):
    """χ² of 200,000 draws over (quantile) cells, at a false-alarm rate of 1e-9 for each of 9 inputs.

    Catches a difference of 0.01 in total variation with probability above 0.99: at 200,000 draws its noncentrality is
    at least 4·0.01²·200,000 = 80, against a critical value of about 60 for 11 degrees of freedom.
    """
    layer, inputs = _layer_and_inputs(unit)
    log_weights, x = _log_weights(layer, inputs)
    for row in range(len(inputs)):
        wide = jnp.broadcast_to(inputs[row][None], (200_000, *layer.shape))
        draws = np.asarray(call(layer, "sample", hm.key(100 + row), wide)[:, 0])
        weights = np.exp(log_weights[row] - np.logaddexp.reduce(log_weights[row]))
        if layer.states() is not None:
            match = [(draws.reshape(len(draws), -1) == np.atleast_1d(value)).all(axis=1).sum() for value in x]
            counts, expected = np.array(match), 200_000 * weights
            assert counts.sum() == 200_000
        else:
            cumulative = np.cumsum(weights)
            edges = x[np.searchsorted(cumulative, np.arange(1, 12) / 12)]
            below = np.interp(edges, (x[1:] + x[:-1]) / 2, cumulative[:-1])
            expected = 200_000 * np.diff(np.concatenate([[0], below, [1]]))
            counts = np.bincount(np.searchsorted(edges, draws), minlength=12)
        rare = expected < 10
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], max(expected[rare].sum(), 1e-9))
        kept = expected > 1
        if not kept[-1]:
            assert counts[-1] <= stats.poisson.isf(1e-9, expected[-1])
        if kept.sum() < 2:
            continue
        chi2 = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
        assert chi2 <= stats.chi2.isf(1e-9, kept.sum() - 1), f"input {row}: chi2 {chi2:.1f} over {kept.sum()} cells"


def draws_lie_in_the_domain(unit):
    """Every draw is contained; NaN is not; a draw of an array is the same whatever is drawn after it."""
    layer, inputs = _layer_and_inputs(unit)
    draws = call(layer, "sample", hm.key(11), inputs)
    assert draws.shape == inputs.shape
    assert layer.contains(draws).all()
    assert not layer.contains(jnp.full_like(draws, jnp.nan)).any()
    np.testing.assert_array_equal(call(layer, "sample", hm.key(11), inputs[:4]), draws[:4])


def different_keys_give_different_draws(unit):
    """Draws depend on the key."""
    layer, inputs = _layer_and_inputs(unit)
    wide = jnp.concatenate([inputs] * 20)
    assert (call(layer, "sample", hm.key(1), wide) != call(layer, "sample", hm.key(2), wide)).any()


def with_mean_has_that_mean(unit):
    """The layer made for a mean has it, be it nearly certain on one side or the other; only the bias differs."""
    layer, inputs = _layer_and_inputs(unit)
    for pull in (-40.0, -4.0, 0.0, 3.0, 40.0):
        wanted = call(layer, "mean", _pulled(inputs, pull))[0]
        made = layer.with_mean(wanted)
        np.testing.assert_allclose(call(made, "mean", jnp.zeros_like(inputs))[0], wanted, rtol=1e-11, atol=0)
        _assert_only_the_bias_differs(made, layer)


def _pulled(inputs, pull):
    return inputs.at[..., 0].add(pull) if inputs.ndim == 3 else inputs + pull


def _assert_only_the_bias_differs(made, layer):
    same = eqx.tree_at(lambda u: u.bias, made, layer.bias)
    assert bool(eqx.tree_equal(same, layer))


def with_mean_is_finite_at_the_ends_of_the_domain(unit):
    """A column that never changes has a mean which no finite bias gives: the bias stays finite, the mean near."""
    layer, inputs = _layer_and_inputs(unit)
    for pull in (-1e5, 1e5):
        wanted = call(layer, "mean", _pulled(inputs, pull))[0]
        made = layer.with_mean(wanted)
        assert jnp.isfinite(made.bias).all()
        np.testing.assert_allclose(call(made, "mean", jnp.zeros_like(inputs))[0], wanted, rtol=1e-9, atol=1e-300)


def neutral_is_zero_and_positive_parameters_one(unit):
    """Same type, shape and number of trials; every parameter 0, or 1 where it must be positive; and it is a layer."""
    layer, inputs = _layer_and_inputs(unit)
    neutral = layer.neutral()
    assert jax.tree.structure(neutral) == jax.tree.structure(layer)
    for name, value in vars(neutral).items():
        if eqx.is_inexact_array(value):
            np.testing.assert_array_equal(value, np.full(value.shape, name in unit.positive))
            assert value.dtype == getattr(layer, name).dtype
        else:
            assert value == getattr(layer, name)
    assert jnp.isfinite(call(neutral, "cgf", inputs)).all()


def the_positive_parameters_are_those_that_must_be(unit):
    """With the sign of one parameter turned, the unit has a finite cgf if and only if it is not named as positive."""
    layer, inputs = _layer_and_inputs(unit)
    for name, value in vars(layer).items():
        if eqx.is_inexact_array(value):
            turned = eqx.tree_at(lambda u, name=name: getattr(u, name), layer, -jnp.abs(value))
            assert bool(jnp.isfinite(call(turned, "cgf", inputs)).all()) == (name not in unit.positive), name


LAWS = [
    cgf_is_the_log_normaliser,
    mean_and_variance_are_those_of_the_distribution,
    mean_and_variance_are_the_derivatives_of_the_cgf,
    statistics_follow_from_the_cgf,
    energy_is_linear_in_the_parameters,
    energy_is_a_sum_over_units,
    the_mode_is_the_likeliest_value,
    draws_follow_the_distribution,
    draws_lie_in_the_domain,
    different_keys_give_different_draws,
    with_mean_has_that_mean,
    with_mean_is_finite_at_the_ends_of_the_domain,
    neutral_is_zero_and_positive_parameters_one,
    the_positive_parameters_are_those_that_must_be,
]
