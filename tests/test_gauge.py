"""Changes of variables leave every distribution as it is, and give the centred gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, pair

import harmonium as hm
from harmonium.gauge import moved
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
    back = eqx.filter_jit(lambda machine, gauge: gauge.leave(gauge.enter(machine)))(machine, gauge)
    for a, b in zip(jax.tree.leaves(machine), jax.tree.leaves(back), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@every_graph
def test_gauged_energy_is_the_plain_energy_up_to_a_constant(graph):
    """E written in (x-c)/s, term by term, against the plain energy."""
    machine = graph()
    gauge = _gauge(machine)
    state = gibbs.init(hm.key(2), machine, 12)
    energy = _energy_inside(gauge, gauge.enter(machine), state)
    np.testing.assert_allclose(_differences(energy), _differences(machine.energy(state)), rtol=1e-11, atol=1e-11)


@eqx.filter_jit
def _energy_inside(gauge, inside, state):
    moved = tuple((x - c[None]) / s[None] for x, c, s in zip(state, gauge.offsets, gauge.scales, strict=True))
    energy = jnp.zeros(12)
    for unit, scale, x in zip(inside.layers, gauge.scales, state, strict=True):
        energy = energy + eqx.tree_at(lambda u: u.bias, unit, unit.bias / scale).energy(x)
    for coupling, (a, b) in zip(inside.couplings, inside.joins, strict=True):
        received = coupling.forward(moved[a].reshape(12, -1))
        energy = energy - jnp.sum(received * moved[b].reshape(12, -1), axis=1) / (2 if a == b else 1)
    return energy


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


@pytest.mark.parametrize(
    ("make", "layer"),
    [
        (lambda: pair(hm.Gaussian, hm.Bernoulli, (3, 2)), 0),
        (lambda: pair(hm.Categorical, hm.Gaussian, (2, 2)), 1),
        (lambda: pair(hm.Gaussian, hm.Gaussian, (2, 2)), 1),
        (GRAPHS["table"], 2),
        (GRAPHS["gaussian_field"], 0),
    ],
    ids=["visible", "hidden of one-hot", "beside a Gaussian layer", "one of several visible", "coupled within"],
)
def test_a_machine_moved_has_the_density_of_the_moved_variable(make, layer):
    """log p with offset + scale·x in place of x is log p(x) - Σ log scale, and the conditionals of the rest stay."""
    machine = make()
    n = machine.layers[layer].n
    offset, scale = 5 * jax.random.normal(hm.key(1), (n,)), jnp.exp(jax.random.normal(hm.key(2), (n,)))
    image = moved(machine, layer, offset, scale)
    state = gibbs.init(hm.key(3), machine, 6)
    there = (*state[:layer], offset[None] + scale[None] * state[layer], *state[layer + 1 :])
    drop = jnp.log(scale).sum()
    constant = hm.exact.log_partition(machine) - hm.exact.log_partition(image) + drop
    np.testing.assert_allclose(image.energy(there), machine.energy(state) + constant, rtol=1e-9, atol=1e-9)
    alone = tuple(x if place == layer else None for place, x in enumerate(state))
    alone_there = tuple(x if place == layer else None for place, x in enumerate(there))
    np.testing.assert_allclose(
        hm.exact.log_probability(image, alone_there),
        hm.exact.log_probability(machine, alone) - drop,
        rtol=1e-9,
        atol=1e-9,
    )
    for other, unit in enumerate(machine.layers):
        if other != layer:
            found = image.layers[other].field(image.inputs(there, other))
            np.testing.assert_allclose(found, unit.field(machine.inputs(state, other)), rtol=1e-10, atol=1e-10)


def test_only_a_gaussian_layer_can_be_moved():
    machine = pair(hm.Bernoulli, hm.Gaussian, (2, 2))
    with pytest.raises(hm.ArgumentError, match="layer: found units of type Bernoulli; wanted a Gaussian layer"):
        moved(machine, 0, jnp.zeros(2), jnp.ones(2))
