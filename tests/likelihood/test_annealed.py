"""Annealed importance sampling: weights without bias on every machine, whose mean is Z; the bookkeeping around them.

The weights of many short runs are compared with the exact Z, not one long run's estimate: then an error shows in every
weight. False alarms: 1e-9 over all machines together, a Bonferroni bound over Student's t.
"""

import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, PAIRS, continuous, hidden_within, pair
from scipy import stats

import harmonium as hm
from harmonium.likelihood import annealed
from harmonium.likelihood.importance import Weights
from harmonium.path import base_machine
from harmonium.sampling import gibbs

pytestmark = pytest.mark.usefixtures("float64")

CHAINS, TEMPERATURES = 120_000, 10
LIMIT = stats.t.isf(1e-9 / (2 * (len(PAIRS) + 2 * len(GRAPHS))), CHAINS - 1)
QUICK = [(unit, unit) for unit in (hm.Bernoulli, hm.Categorical, hm.Gaussian, hm.Rectified)]
EVERY_PAIR = [
    pytest.param(units, marks=[] if units in QUICK else [pytest.mark.prove], id="-".join(u.__name__ for u in units))
    for units in PAIRS
]


def _assert_unbiased(machine, base=None):
    """The mean of w/Z is 1. An error of 3 % in Z is caught with probability above 0.99."""
    key = jax.random.key(0)  # JAX's own compiles in half the time
    found = annealed.log_partition(machine, key, n_chains=CHAINS, n_temperatures=TEMPERATURES, base=base)
    ratio = np.exp(np.asarray(found.log_weights) - float(hm.exact.log_partition(machine)))
    error = ratio.std(ddof=1) / np.sqrt(CHAINS)
    assert error < 0.03 / (LIMIT + 2.4)
    assert abs(ratio.mean() - 1) < LIMIT * error + 1e-12


@pytest.mark.parametrize("units", EVERY_PAIR)
def test_weights_of_a_pair_are_unbiased(units):
    both = continuous(units[0]) and continuous(units[1])
    _assert_unbiased(pair(*units, sizes=(2, 1) if both else (2, 2), scale=0.4))


@pytest.mark.parametrize("graph", [*GRAPHS.values(), hidden_within], ids=[*GRAPHS, "hidden_within"])
def test_weights_of_a_graph_are_unbiased(graph):
    """From a base with means of its own: of the visible layers, as if they came from data."""
    machine = graph()
    visible = machine.layers[: machine.n_visible]
    means = [0.7 * unit.mean(jnp.zeros_like(unit.bias)) + 0.3 * unit.neutral().mean(0 * unit.bias) for unit in visible]
    _assert_unbiased(machine, base_machine(machine, means))


def test_without_couplings_every_weight_is_z():
    """The hidden layer is summed out, and the visible one is its own base."""
    machine = hm.rbm(hm.Gaussian.random(hm.key(1), 3), hm.Rectified.random(hm.key(2), 2))
    found = annealed.log_partition(machine, hm.key(0), n_chains=5, n_temperatures=7)
    np.testing.assert_allclose(found.log_weights, hm.exact.log_partition(machine), rtol=1e-12)


def test_what_follows_from_the_weights():
    """Against the textbook, on weights whose size no exponential can hold."""
    weights = np.random.default_rng(0).gamma(2.0, size=50)
    found = Weights(jnp.asarray(np.log(weights) + 1e5))
    np.testing.assert_allclose(found.estimate, np.log(weights.mean()) + 1e5, rtol=1e-14)
    np.testing.assert_allclose(found.standard_error, stats.sem(weights) / weights.mean(), rtol=1e-8)
    np.testing.assert_allclose(found.ess, weights.sum() ** 2 / (weights**2).sum(), rtol=1e-8)


def test_the_standard_error_is_that_of_the_estimate():
    """Estimates of 400 groups of chains spread as each says: within 20 %, false alarms below 1e-6."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (3, 3))
    found = annealed.log_partition(machine, hm.key(0), n_chains=400 * 50, n_temperatures=5)
    groups = found.log_weights.reshape(400, 50)
    estimates, errors = jax.vmap(lambda w: (Weights(w).estimate, Weights(w).standard_error))(groups)
    spread = np.std(estimates, ddof=1)
    said = np.sqrt(np.mean(errors**2))
    assert 0.8 < spread / said < 1.2


def test_the_base_has_the_means_of_the_data_and_no_couplings():
    machine = GRAPHS["table"]()
    means = [np.array([1.0]), np.array([[0.0, 0.25, 0.75]]), np.array([500.0])]
    base = base_machine(machine, means)
    found = [unit.mean(jnp.zeros_like(unit.bias)) for unit in base.layers]
    np.testing.assert_allclose(found[0], [0.975])  # 5 % of a neutral unit: none is frozen
    np.testing.assert_allclose(found[1], 0.95 * means[1] + 0.05 / 3)
    np.testing.assert_allclose(found[2], 500.0)  # a mean on the real line is taken as it is
    np.testing.assert_allclose(found[3], 0.0)
    assert not any(c.matrix().any() for c in base.couplings)
    np.testing.assert_array_equal(base.layers[2].precision, machine.layers[2].precision)
    plain = base_machine(machine)
    np.testing.assert_array_equal(plain.layers[1].bias, machine.layers[1].bias)


def _reference_b():
    i, j = np.meshgrid(np.arange(16.0), np.arange(12.0), indexing="ij")
    return hm.rbm(
        hm.Bernoulli(np.cos(np.arange(16.0))), hm.Bernoulli(-0.5 + 0.1 * np.arange(12.0)), 1.5 * np.sin(i + 2 * j)
    )


def _reference_i():
    if "HARMONIUM_DATA" not in os.environ:
        pytest.skip("HARMONIUM_DATA, the folder of the published data sets, is not set")
    arrays = np.load(Path(os.environ["HARMONIUM_DATA"]) / "rbm_cd25_500" / "rbm_cd25_500.npz")
    W, a, b = (np.asarray(arrays[name], float) for name in ("W", "vbias", "hbias"))
    return hm.rbm(hm.Bernoulli(a), hm.Bernoulli(b[:16]), W[:, :16])


@pytest.mark.parametrize(
    ("make", "log_z"), [(_reference_b, 43.2865970548), (_reference_i, 302.6316693210)], ids=["B", "I"]
)
def test_reference_values(make, log_z):
    """Within the error it states (false alarms 1e-9), and that error is small."""
    found = annealed.log_partition(make(), hm.key(0), n_chains=200, n_temperatures=500)
    assert found.standard_error < 0.1
    assert abs(found.estimate - log_z) < stats.t.isf(5e-10, 199) * found.standard_error


def _assert_unbiased_down(machine):
    """From exact draws of the machine the mean of wZ is 1. An error of 5 % is caught with probability above 0.99."""
    start = hm.exact.sample(hm.key(1), machine, CHAINS)
    path = annealed.path_to(machine)
    steps = jnp.asarray(TEMPERATURES)
    log_weights, _ = annealed.anneal(jax.random.key(0), path, start, steps, jnp.asarray(True))
    ratio = np.exp(np.asarray(log_weights.sum(axis=1)) + float(hm.exact.log_partition(machine)))
    error = ratio.std(ddof=1) / np.sqrt(CHAINS)
    assert error < 0.05 / (LIMIT + 2.4)
    assert abs(ratio.mean() - 1) < LIMIT * error + 1e-12


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_weights_on_the_way_down_from_exact_draws_are_unbiased(graph):
    _assert_unbiased_down(graph())


def test_from_other_draws_they_are_wrong():
    """Why the upper end of an interval is as good as the places that the chains start from."""
    machine = GRAPHS["general"]()
    start = tuple(jnp.zeros((1000, *unit.shape)) for unit in machine.layers)
    run = annealed.anneal(hm.key(0), annealed.path_to(machine), start, jnp.asarray(2), jnp.asarray(True))
    found = Weights(run[0].sum(axis=1))
    assert abs(found.estimate + hm.exact.log_partition(machine)) > 10 * found.standard_error


def test_a_step_of_an_rbm_costs_two_matrix_products():
    """In the compiled loop: visible to hidden once, for increment and sweep together, and hidden to visible once."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (40, 30))
    start = gibbs.init(hm.key(1), machine, 20)
    path = annealed.path_to(machine)
    lowered = annealed.anneal.lower(hm.key(0), path, start, jnp.asarray(10), jnp.asarray(False))
    text = lowered.compile().compiled.as_text()
    products = [line for line in text.splitlines() if " dot(" in line or "custom-call" in line]
    assert sum("[20,30]" in line.split(" dot(")[0] for line in products) == 1
    assert sum("[20,40]" in line.split(" dot(")[0] for line in products) == 1


def test_another_machine_key_length_ladder_and_direction_compile_nothing(monkeypatch):
    traced = []
    between = annealed.between
    monkeypatch.setattr(annealed, "between", lambda *args: traced.append(1) or between(*args))
    machine = pair(hm.Bernoulli, hm.Spin, (3, 2))
    annealed.log_partition(machine, hm.key(0), n_chains=6, n_temperatures=9)
    first = len(traced)
    other = base_machine(machine, [jnp.full(3, 0.3)])
    ladder = np.linspace(0, 1, annealed.STRETCHES + 1) ** 2
    annealed.log_partition(machine.scaled(2.0), hm.key(1), n_chains=6, n_temperatures=20, base=other, ladder=ladder)
    start = gibbs.init(hm.key(1), machine, 6)
    annealed.anneal(hm.key(2), annealed.path_to(machine), start, jnp.asarray(5), jnp.asarray(True))
    assert len(traced) == first > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_chains": 1}, "n_chains: found 1; wanted at least 2"),
        ({"n_temperatures": 0}, "n_temperatures: found 0"),
        ({"ladder": [0.0, 0.5]}, "ladder: found values from 0.0 to 0.5; wanted 0 to 1"),
        ({"ladder": [0.0, 0.7, 0.5, 1.0]}, "ladder"),
        ({"ladder": [0.0, 0.0, 1.0]}, "the 0 once"),
        ({"ladder": [1.0]}, r"ladder: found shape \(1,\)"),
        ({"base": "the machine itself"}, "base: found couplings that are not zero"),
        ({"base": pair(hm.Bernoulli, hm.Spin, (3, 2))}, "base: found layers"),
    ],
)
def test_what_cannot_be_annealed_is_refused(arguments, message):
    machine = pair(hm.Bernoulli, hm.Bernoulli, (3, 2))
    if arguments.get("base") == "the machine itself":
        arguments = {"base": machine}
    with pytest.raises(hm.ArgumentError, match=message):
        annealed.log_partition(machine, hm.key(0), **arguments)
    with pytest.raises(hm.ArgumentError, match="means: found"):
        base_machine(machine, [jnp.full(2, 0.5)])
