"""Energies, free energies, log Z, conditionals and gradients of every machine, against brute force."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from catalogue import DISCRETE_GRAPHS, GRAPHS, continuous, coupled, pair, pairs

import harmonium as hm
from harmonium.sampling import gibbs

pytestmark = pytest.mark.usefixtures("float64")

every_pair = pairs()
every_pair_and_scale = pairs(0.01, 1.0, 100.0)
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
every_scale = pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])


def _pair(units, scale):
    """Small enough to sum over; of two continuous layers the second has one unit, for the oracle's quadrature."""
    both = continuous(units[0]) and continuous(units[1])
    return pair(*units, sizes=(2, 1) if both else (2, 2), scale=scale)


def _tolerance(machine):
    return 1e-12 if all(unit.states() is not None for unit in machine.layers) else 1e-9


def _draws(machine, n=4, seed=5):
    """A few configurations in the domain."""
    return gibbs.init(hm.key(seed), machine, n)


def _close(found, wanted, tolerance):
    found, wanted = np.asarray(found, np.longdouble), np.asarray(wanted, np.longdouble)
    np.testing.assert_array_less(np.abs(found - wanted), tolerance * np.maximum(1, np.abs(wanted)) + 1e-300)


@every_pair_and_scale
def test_energy_of_a_pair(units, case):
    machine = _pair(units, case)
    state = _draws(machine)
    expected = [oracle.energy(machine, [x[i] for x in state]) for i in range(4)]
    _close(machine.energy(state), expected, _tolerance(machine))


@every_scale
@every_graph
def test_energy_of_a_graph(graph, scale):
    machine = coupled(graph(), scale)
    state = _draws(machine)
    expected = [oracle.energy(machine, [x[i] for x in state]) for i in range(4)]
    _close(machine.energy(state), expected, 1e-12)


@every_pair_and_scale
def test_log_partition_of_a_pair(units, case):
    machine = _pair(units, case)
    _close(hm.exact.log_partition(machine), float(oracle.log_partition(machine)), _tolerance(machine))


@pytest.mark.parametrize("name", DISCRETE_GRAPHS)
def test_log_partition_and_moments_of_a_graph(name):
    """Also ⟨-∂E/∂θ⟩ by the definition: sums of x and of xyᵀ over every configuration."""
    machine = GRAPHS[name]()
    states, energies = oracle.joint(machine)
    log_z = oracle.log_sum_exp(-energies)
    _close(hm.exact.log_partition(machine), log_z, 1e-12)
    weights = np.exp(-energies - log_z).astype(float)
    moments = hm.exact.statistics(machine)
    for layer in range(len(machine.layers)):
        mean = sum(w * state[layer] for w, state in zip(weights, states, strict=True))
        _close(moments.layers[layer].bias, mean, 1e-12)
    for coupling, moment, (a, b) in zip(machine.couplings, moments.couplings, machine.joins, strict=True):
        product = sum(w * np.multiply.outer(s[a], s[b]) for w, s in zip(weights, states, strict=True))
        if isinstance(coupling, hm.Edges):
            product = product[tuple(np.asarray(coupling.edges).T)]
        elif a == b:
            allowed = np.asarray(coupling.mask) if product.ndim == 2 else np.asarray(coupling.mask)[:, None, :, None]
            product = product * allowed / 2
        elif coupling.mask is not None:
            product = product * np.asarray(coupling.mask)
        _close(moment.weights, product, 1e-12)


@every_scale
@every_graph
def test_log_partition_of_a_graph(graph, scale):
    machine = coupled(graph(), scale)
    discrete = all(oracle.discrete(unit) for unit in machine.layers)
    expected = (oracle.log_partition if discrete else oracle.log_partition_with_gaussians)(machine)
    _close(hm.exact.log_partition(machine), float(expected), _tolerance(machine))


@every_scale
@every_graph
def test_conditionals_and_free_energies_of_a_graph(graph, scale):
    """p(x_i | all others) of every unit, and F with each layer in turn summed over, from the energy alone."""
    machine = coupled(graph(), scale)
    state = _draws(machine)
    for layer, unit in enumerate(machine.layers):
        inputs = machine.inputs(state, layer)
        mean, variance = np.asarray(unit.mean(inputs)), np.asarray(unit.variance(inputs))
        free = None
        if machine.within(layer) is None:
            free = machine.free_energy(tuple(None if other == layer else x for other, x in enumerate(state)))
        for row in range(len(mean)):
            single = [np.asarray(x[row], np.longdouble) for x in state]
            log_z = -oracle.energy(machine, _replaced(single, layer, None, 0 * single[layer]))
            for i in range(unit.n):
                wanted = _conditional(machine, single, layer, i)
                slack = _tolerance(machine)
                np.testing.assert_allclose(mean[row, i], wanted[0], slack, 1e-300)
                np.testing.assert_allclose(variance[row, i], wanted[1], 2 * slack, 1e-300)
                alone = _conditional(machine, _replaced(single, layer, None, 0 * single[layer]), layer, i)
                log_z = log_z + alone[2]
            if free is not None:
                _close(free[row], -log_z, _tolerance(machine))


def _replaced(state, layer, unit, value):
    changed = list(state)
    if unit is None:
        changed[layer] = value
    else:
        changed[layer] = changed[layer].copy()
        changed[layer][unit] = value
    return changed


def _conditional(machine, state, layer, i):
    """Mean and variance of one unit given all others, and log Σ exp(-E) over it less -E where it is 0."""
    unit = machine.layers[layer]

    def energy(value):
        return oracle.energy(machine, _replaced(state, layer, i, value))

    at_zero = energy(0 * state[layer][i])
    if oracle.discrete(unit):
        values = np.asarray(oracle.values(unit), np.longdouble)
        logs = np.array([at_zero - energy(value) for value in values], np.longdouble)
        log_z = oracle.log_sum_exp(logs)
        chance = np.exp(logs - log_z)
        mean = np.tensordot(chance, values, axes=1)
        return mean.astype(float), np.tensordot(chance, (values - mean) ** 2, axes=1).astype(float), log_z
    slope, curvature = (energy(-1) - energy(1)) / 2, energy(1) + energy(-1) - 2 * at_zero
    log_z = slope**2 / (2 * curvature) + np.log(2 * np.longdouble(np.pi) / curvature) / 2
    return float(slope / curvature), float(1 / curvature), log_z


@every_pair_and_scale
def test_conditionals_and_free_energy_of_a_pair(units, case):
    """p(h|v) and p(v|h) by their moments, and F(v) = -log Σ_h exp(-E(v, h)), on either side."""
    machine = _pair(units, case)
    state = _draws(machine)
    for summed in (0, 1):
        given = 1 - summed
        unit = machine.layers[summed]
        tolerance = 1e-12 if unit.states() is not None else 1e-9
        known = tuple(x if layer == given else None for layer, x in enumerate(state))
        inputs = machine.inputs_from_others(known, summed)
        mean, variance, free = unit.mean(inputs), unit.variance(inputs), machine.free_energy(known)
        for row in range(len(state[given])):
            single = [x[row] for x in state]
            thetas = oracle.field(machine, single, summed, given)
            moments = [oracle.unit_moments(unit, i, theta) for i, theta in enumerate(thetas)]
            for i, (_, m, v) in enumerate(moments):
                wanted_mean, wanted_variance = (np.atleast_1d(np.array(x, float)) for x in (m, v))
                np.testing.assert_allclose(np.atleast_1d(mean[row, i]), wanted_mean, tolerance, 1e-300)
                np.testing.assert_allclose(np.atleast_1d(variance[row, i]), wanted_variance, 2 * tolerance, 1e-300)
            expected = oracle.layer_energy(machine.layers[given], np.asarray(single[given], np.longdouble))
            expected = expected - float(sum(log_z for log_z, _, _ in moments))
            _close(free[row], expected, tolerance)


@every_pair
def test_free_energy_sums_the_energy(units):
    """exp(-F(v)) = Σ_h exp(-E(v, h)) with the energy itself, where h can be listed."""
    machine = _pair(units, 1.0)
    if machine.layers[1].states() is None:
        pytest.skip("a continuous hidden layer: shown by the moments of the cgf above")
    v = _draws(machine)[0]
    states = [jnp.asarray(h) for h in oracle.configurations(machine.layers[1])]
    energies = jnp.stack([machine.energy((v, jnp.broadcast_to(h, (len(v), *h.shape)))) for h in states])
    _close(machine.free_energy((v, None)), -np.logaddexp.reduce(-np.asarray(energies), axis=0), 1e-12)


@every_graph
def test_inputs_are_minus_the_gradient_of_the_coupling_energy(graph):
    machine = graph()
    state = _draws(machine)
    bare = eqx.tree_at(lambda m: [u.bias for u in m.layers], machine, [0 * u.bias for u in machine.layers])

    def coupling_energy(state):
        own = sum(unit.energy(x) for unit, x in zip(bare.layers, state, strict=True))
        return jnp.sum(bare.energy(state) - own)

    for layer, gradient in enumerate(jax.grad(coupling_energy)(state)):
        np.testing.assert_allclose(machine.inputs(state, layer), -gradient, rtol=1e-12, atol=1e-13)


@pairs("float32", "float64", slow=("float32",))
def test_exact_gradient_of_a_pair(units, case):
    """⟨-∂E/∂θ⟩ in the data minus in the model equals autodiff of the log-likelihood through the enumeration."""
    _check_gradient(_pair(units, 0.5), case)


@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.prove), "float64"])
@every_graph
def test_exact_gradient_of_a_graph(graph, dtype):
    _check_gradient(graph(), dtype)


def _check_gradient(machine, dtype):
    machine = jax.tree.map(lambda p: p.astype(dtype) if eqx.is_inexact_array(p) else p, machine)
    data = tuple(x if layer < machine.n_visible else None for layer, x in enumerate(_draws(machine)))
    touching = any(data[a] is None and data[b] is None for a, b in machine.joins)

    def log_likelihood(machine):
        return jnp.mean(hm.exact.log_probability(machine, data))

    by_autodiff = eqx.filter_grad(log_likelihood)(machine)
    if touching:
        in_data = eqx.filter_grad(lambda m: -jnp.mean(hm.exact.free_energy(m, data)))(machine)
    else:
        in_data = machine.statistics(data)
    by_moments = jax.tree.map(jnp.subtract, in_data, hm.exact.statistics(machine))
    tolerance = 1e-10 if dtype == "float64" else 1e-4
    for a, b in zip(jax.tree.leaves(by_moments), jax.tree.leaves(by_autodiff), strict=True):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_free_energy_with_coupled_hidden_units_by_enumeration():
    machine = GRAPHS["general"]()
    v = _draws(machine)[0]
    hidden = oracle.configurations(machine.layers[1])
    expected = [-oracle.log_sum_exp([-oracle.energy(machine, (row, h)) for h in hidden]) for row in v]
    _close(hm.exact.free_energy(machine, (v, None)), expected, 1e-12)
    with pytest.raises(hm.ArgumentError, match="hidden-hidden left out"):
        machine.free_energy((v, None))


def test_probabilities_sum_to_one():
    machine = GRAPHS["general"]()
    visible = jnp.asarray(list(itertools.product([0.0, 1.0], repeat=3)))
    probability = np.exp(hm.exact.log_probability(machine, (visible, None)))
    assert abs(probability.sum() - 1) < 1e-12


def test_enumeration_in_chunks_covers_every_configuration(monkeypatch):
    monkeypatch.setattr(hm.exact, "CHUNK", 5)  # read while tracing; no other test has a ring of this size
    expected = np.log((2 * np.cosh(0.3)) ** 6 + (2 * np.sinh(0.3)) ** 6)
    _close(hm.exact.log_partition(hm.ising(6, coupling=0.3)), expected, 1e-13)


def test_too_many_configurations_is_an_error_that_counts_them():
    with pytest.raises(hm.ArgumentError, match=r"1.1e\+12 configurations of 'hidden' of 40 units"):
        hm.exact.log_partition(hm.rbm(hm.Bernoulli(40), hm.Bernoulli(40)))


def test_exact_answers_inside_jit_and_the_reason_where_not():
    machine = GRAPHS["general"]()
    inside = eqx.filter_jit(hm.exact.log_partition)(machine)
    _close(inside, hm.exact.log_partition(machine), 1e-13)
    with pytest.raises(hm.ArgumentError, match="quadrature lays its nodes"):
        eqx.filter_jit(hm.exact.log_partition)(pair(hm.Rectified, hm.Rectified, (1, 1)))
