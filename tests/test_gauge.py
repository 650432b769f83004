"""Changes of variables leave every distribution as it is, and give the centred gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, pair

import harmonium as hm
from harmonium.sampling import gibbs

pytestmark = pytest.mark.usefixtures("float64")
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def _differences(energy):
    """Energies up to a constant."""
    return np.asarray(energy - energy[0])


def _gauge(machine):
    keys = jax.random.split(hm.key(1), 2 * len(machine.layers))
    offsets = [jax.random.normal(k, unit.shape) for k, unit in zip(keys, machine.layers, strict=False)]
    scales = [
        jnp.broadcast_to(jnp.exp(jax.random.normal(k, (unit.n, *[1] * unit.one_hot)) / 2), unit.shape)
        for k, unit in zip(keys[len(machine.layers) :], machine.layers, strict=True)
    ]
    return hm.Gauge.standardised(machine, offsets, scales)


@every_graph
def test_entering_and_leaving_a_gauge_is_the_identity(graph):
    machine = graph()
    gauge = _gauge(machine)
    back = gauge.leave(gauge.enter(machine))
    for a, b in zip(jax.tree.leaves(machine), jax.tree.leaves(back), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@every_graph
def test_gauged_energy_is_the_plain_energy_up_to_a_constant(graph):
    """E written in (x-c)/s, term by term, against the plain energy."""
    machine = graph()
    gauge = _gauge(machine)
    inside = gauge.enter(machine)
    state = gibbs.init(hm.key(2), machine, 12)
    moved = tuple((x - c[None]) / s[None] for x, c, s in zip(state, gauge.offsets, gauge.scales, strict=True))
    energy = jnp.zeros(12)
    for unit, scale, x in zip(inside.layers, gauge.scales, state, strict=True):
        energy = energy + eqx.tree_at(lambda u: u.bias, unit, unit.bias / scale).energy(x)
    for coupling, (a, b) in zip(inside.couplings, inside.joins, strict=True):
        received = coupling.forward(moved[a].reshape(12, -1))
        energy = energy - jnp.sum(received * moved[b].reshape(12, -1), axis=1) / (2 if a == b else 1)
    np.testing.assert_allclose(_differences(energy), _differences(machine.energy(state)), rtol=1e-11, atol=1e-11)


def test_centred_gradient_of_an_rbm_is_the_published_one():
    """dW = ⟨(v-μ)(h-λ)ᵀ⟩_data - ⟨…⟩_model; the biases follow by the shift -dW λ and -dWᵀ μ (Melchior et al. 2016)."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    v = jnp.array([[1.0, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 0]])
    h = machine.layers[1].mean(machine.inputs_from_others((v, None), 1))
    gauge = hm.Gauge.centred(machine, (v.mean(axis=0), h.mean(axis=0)))
    plain = jax.tree.map(jnp.subtract, machine.statistics((v, None)), hm.exact.statistics(machine))
    arrays, rest = eqx.partition(machine, eqx.is_inexact_array)

    def leave(parameters):
        return eqx.filter(gauge.leave(eqx.combine(parameters, rest)), eqx.is_inexact_array)

    (centred,) = jax.vjp(leave, arrays)[1](plain)
    weight = plain.couplings[0].weights
    mu, lam = gauge.offsets
    expected = weight - jnp.outer(plain.layers[0].bias, lam) - jnp.outer(mu, plain.layers[1].bias)
    np.testing.assert_allclose(centred.couplings[0].weights, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["potts", "table"])
def test_zero_sum_gauge_keeps_the_distribution_and_sums_to_zero(name):
    machine = GRAPHS[name]()
    gauged = hm.zero_sum(machine)
    state = gibbs.init(hm.key(3), machine, 20)
    np.testing.assert_allclose(
        _differences(gauged.energy(state)), _differences(machine.energy(state)), rtol=1e-12, atol=1e-12
    )
    for unit in gauged.layers:
        if unit.one_hot:
            np.testing.assert_allclose(unit.bias.sum(axis=-1), 0, atol=1e-12)
    for coupling, (a, b) in zip(gauged.couplings, gauged.joins, strict=True):
        if gauged.layers[a].one_hot:
            np.testing.assert_allclose(coupling.weights.sum(axis=1), 0, atol=1e-12)
        if gauged.layers[b].one_hot:
            np.testing.assert_allclose(coupling.weights.sum(axis=-1), 0, atol=1e-12)


def test_zero_sum_gauge_between_two_categorical_layers():
    machine = pair(hm.Categorical, hm.Categorical, (3, 2))
    gauged = hm.zero_sum(machine)
    state = gibbs.init(hm.key(4), machine, 20)
    np.testing.assert_allclose(
        _differences(gauged.energy(state)), _differences(machine.energy(state)), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(gauged.couplings[0].weights.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(gauged.couplings[0].weights.sum(axis=-1), 0, atol=1e-12)


def test_offsets_of_the_wrong_shape_are_refused():
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    with pytest.raises(hm.ArgumentError, match=r"means: found shapes \[\(3,\), \(4,\)\]"):
        hm.Gauge.centred(machine, (jnp.zeros(3), jnp.zeros(4)))
