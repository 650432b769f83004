"""Replica exchange: every replica keeps its own distribution, swaps are frequent and even, and all modes are found."""

import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, PAIRS, PATTERN, hidden_within, pair, two_modes
from scipy import stats
from stationarity import check

import harmonium as hm
from harmonium.path import base_machine, between
from harmonium.sampling import exchange
from harmonium.sampling.tempering import FIRST

DRIFT, FULL = 0.02, 0.003
# False alarms: at most 3 sweep counts for each of 3 replicas, on every pair and graph, at two strengths and ladders.
FAMILY = 1e-6 / (3 * 3 * 2 * 2 * (len(PAIRS) + 2 * len(GRAPHS)))
slow = pytest.mark.prove


def _tempered(machine):
    """Three rungs, so far apart that a swap is neither rare nor sure."""
    ladder = hm.temperatures(machine, betas=[FIRST, 0.4, 1.0])
    return ladder, [*(between(ladder.base, machine, float(beta)) for beta in ladder.places[:2]), machine]


def _learned(machine):
    """Two machines before this one, as if it had been learned: weaker, and of other biases."""
    before = [base_machine(machine), machine.scaled(0.5)]
    ladder = hm.stages(before, 3)
    return ladder, [*before, machine]


def _check(machine, make, drift=DRIFT, **more):
    ladder, machines = make(machine)
    check(machine, drift=drift, false_alarm=FAMILY, sweeps=(1, 4), kernel=ladder, replicas=machines, **more)


QUICK = [(hm.Bernoulli, hm.Bernoulli), (hm.Gaussian, hm.Categorical)]
EVERY_PAIR = [
    pytest.param(units, marks=[] if units in QUICK else [slow], id="-".join(u.__name__ for u in units))
    for units in PAIRS
]
EVERY_GRAPH = [
    pytest.param(graph, marks=[] if name in ("torus", "hidden_within") else [slow], id=name)
    for name, graph in [*GRAPHS.items(), ("hidden_within", hidden_within)]
]


@pytest.mark.parametrize("units", EVERY_PAIR)
def test_tempering_keeps_every_replica_of_a_pair(units):
    _check(pair(*units, sizes=(2, 2), scale=1.5), _tempered)


def test_swaps_judge_by_the_free_energy_of_the_replica_itself():
    """Where couplings are strong, β times that of the machine makes chains drift, here by 0.07."""
    _check(pair(hm.Bernoulli, hm.Bernoulli, sizes=(3, 4), scale=3.0), _tempered)


@pytest.mark.parametrize("graph", EVERY_GRAPH)
def test_tempering_keeps_every_replica_of_a_graph(graph):
    _check(graph(), _tempered, most_cells=96)


@slow
@pytest.mark.parametrize("make", [_tempered, _learned])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_exchange_at_full_power(graph, make):
    _check(graph(), make, FULL, most_cells=96)


@pytest.mark.parametrize(
    "graph", [pytest.param(g, marks=[] if n == "table" else [slow], id=n) for n, g in GRAPHS.items()]
)
def test_stages_keep_every_replica_of_a_graph(graph):
    _check(graph(), _learned, most_cells=96)


@pytest.mark.parametrize("make", [_tempered, _learned])
@pytest.mark.parametrize("graph", [GRAPHS["table"], GRAPHS["masked"], hidden_within])
def test_rises_are_differences_of_free_energies(graph, make, float64):
    machine = graph()
    ladder, machines = make(machine)
    state = ladder.init(hm.key(0), machine, 5)
    summed = machine.summable()
    known = [tuple(None if i in summed else x for i, x in enumerate(exchange.divided(state, 3))) for _ in range(3)]
    at = [[m.free_energy(tuple(None if x is None else x[r] for x in known[r])) for r in range(3)] for m in machines]
    here, there = ladder.rises(machine, state)
    for r in range(2):
        np.testing.assert_allclose(here[r], at[r][r] - at[r + 1][r], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(there[r], at[r][r + 1] - at[r + 1][r + 1], rtol=1e-9, atol=1e-9)


def _in_the_smaller_mode(n):
    return jnp.tile(-PATTERN, (n, 1)), -jnp.ones((n, 2))


def _share(draws):
    """Of the draws of each chain, the share that is nearer to the pattern than to its opposite."""
    return np.mean(np.asarray(draws[0] @ PATTERN) > 0, axis=1)


def test_gibbs_never_leaves_a_mode():
    draws = hm.sample(two_modes(), hm.key(0), n_draws=200, initial=_in_the_smaller_mode(100))
    assert _share(draws).max() == 0


@pytest.mark.parametrize("kind", ["temperatures", "stages"])
def test_exchange_finds_both_modes_with_their_weights(kind):
    """Student's t over chains that all start in the smaller mode: false alarms 1e-6, an error of 0.04 is caught."""
    machine = two_modes()
    before = [base_machine(machine), machine.scaled(0.2), machine.scaled(0.4)]
    ladder = hm.temperatures(machine, 6) if kind == "temperatures" else hm.stages(before, 6)
    start = _in_the_smaller_mode(100)
    found = hm.exchanged(machine, hm.key(0), ladder, n_draws=1000, initial=start, warm_up=240)
    every = np.stack(np.meshgrid(*[[-1.0, 1]] * 10), axis=-1).reshape(-1, 10)
    chance = np.exp(hm.exact.log_probability(machine, (jnp.asarray(every, jnp.float32), None)))
    wanted = chance[every @ np.asarray(PATTERN) > 0].sum()
    share = _share(found.draws)
    error = share.std(ddof=1) / 10
    assert error < 0.04 / 7.5
    assert abs(share.mean() - wanted) < stats.t.isf(5e-7, 99) * error
    assert found.swapped.min() > 0.4
    assert found.swapped.max() - found.swapped.min() < 0.15  # of first rungs of equal distance: 0.9


def test_rungs_move_to_where_rejections_are_even():
    """Rejections 0.6 and 0.2 between 0, 0.5 and 1: half of 0.8 is reached at two thirds of the first interval."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (2, 2))
    ladder = hm.temperatures(machine, betas=[0.001, 0.5, 1.0])
    found = ladder.evened(jnp.array([0.4, 0.8])).places
    np.testing.assert_allclose(found, [0.001, 0.001 + 0.499 * 2 / 3, 1.0], atol=2e-3)
    slowly = ladder.evened(jnp.array([0.4, 0.8]), 0.1).places
    np.testing.assert_allclose(slowly - ladder.places, 0.1 * (found - ladder.places), atol=1e-6)


@pytest.mark.parametrize("held", [0, 1], ids=["visible", "hidden"])
def test_exchange_with_clamped_units_draws_from_the_conditional(held):
    """Means of all units given that one layer's first unit is 1, over 4,000 chains: false alarms 1e-6.

    By itself the first hidden unit is mostly 0, and the visible ones then too, which the second holds together.
    """
    hidden = hm.Bernoulli(jnp.array([-8.0, -6.0]))
    machine = hm.rbm(hm.Bernoulli(jnp.full(3, -3.0)), hidden, jnp.array([[1.5, 5.0]] * 3))
    n, first = 4000, [jnp.arange(unit.n) == 0 for unit in machine.layers]
    masks = tuple(jnp.tile(first[i] & (i == held), (n, 1)) for i in range(2))
    initial = tuple(mask.astype(jnp.float32) for mask in masks)
    ladder = hm.temperatures(machine, 3)
    draws = hm.exchanged(machine, hm.key(0), ladder, warm_up=24, initial=initial, clamp=masks).draws
    every = np.stack(np.meshgrid(*[[0.0, 1]] * 5), axis=-1).reshape(-1, 5)
    energy = machine.energy((jnp.asarray(every[:, :3], jnp.float32), jnp.asarray(every[:, 3:], jnp.float32)))
    weight = np.exp(-np.asarray(energy, float)) * (every[:, 3 * held] == 1)
    wanted = weight @ every / weight.sum()
    found = np.concatenate([np.asarray(x[:, 0]) for x in draws], axis=1).mean(axis=0)
    assert found[3 * held] == 1
    error = np.sqrt(np.maximum(wanted * (1 - wanted), 0) / n) + 1e-9
    assert np.max(np.abs(found - wanted) / error) < stats.norm.isf(1e-6 / 10)


def test_another_key_length_and_machine_compile_nothing(monkeypatch):
    traced, gibbs_step = [], exchange.gibbs.step
    monkeypatch.setattr(exchange.gibbs, "step", lambda *args: traced.append(1) or gibbs_step(*args))
    machine = pair(hm.Bernoulli, hm.Spin, (3, 2))
    hm.exchanged(machine, hm.key(0), hm.temperatures(machine, 3), 4, 2, warm_up=24)
    first = len(traced)
    other = machine.scaled(2.0)
    hm.exchanged(other, hm.key(1), hm.temperatures(other, betas=[0.1, 0.7, 1]), 4, 2, warm_up=48, thin=3)
    assert len(traced) == first > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: hm.temperatures(m, 1), "n_replicas: found 1; wanted at least 2"),
        (lambda m: hm.temperatures(m, betas=[0.0, 1.0]), "betas: found values from 0.0 to 1.0"),
        (lambda m: hm.temperatures(m, betas=[0.5, 0.4, 1.0]), "betas"),
        (lambda m: hm.temperatures(m, betas=[1.0]), r"betas: found shape \(1,\)"),
        (lambda m: hm.stages([]), "before: found no machines"),
        (lambda m: hm.stages([m], 1), "n_replicas"),
        (lambda m: hm.stages([m, pair(hm.Bernoulli, hm.Spin, (4, 2))]), "before: found machines of different shapes"),
        (lambda m: hm.exchanged(m, hm.key(0), hm.temperatures(m, 2)), "n_chains: found None"),
    ],
)
def test_ladders_that_cannot_be_climbed(make, message):
    with pytest.raises(hm.ArgumentError, match=message):
        make(pair(hm.Bernoulli, hm.Spin, (3, 2)))
