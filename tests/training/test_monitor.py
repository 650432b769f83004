"""Monitors say what they claim to, of machines where it is known, and change nothing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm
from harmonium.errors import ArgumentError
from harmonium.learning import Exact, Likelihood, Persistent
from harmonium.learning.tempered import Tempered
from harmonium.likelihood import exact
from harmonium.training import Run, monitor, optimiser
from harmonium.training.schedules import Schedule

CHANCE = np.random.default_rng(0)
ROWS = jnp.asarray(CHANCE.integers(0, 2, (40, 5)), jnp.float32)
HELD = jnp.asarray(CHANCE.integers(0, 2, (30, 5)), jnp.float32)


class AsTheyAre(eqx.Module):
    def __call__(self, rows):
        return (rows,)


def _sight(machine, negative, held=None, volume=0.0):
    rates = Schedule(jnp.asarray(0.1), jnp.asarray(10), "constant")
    run = Run(Likelihood(negative, centred=False), optimiser("sgd", rates), AsTheyAre(), emphasis=None)
    state = run.start(hm.key(1), machine, (ROWS.mean(0),))
    held = None if held is None else (held,)
    return monitor.Sight(run, state, (ROWS,), held, (ROWS.mean(0),), jnp.asarray(volume))


def _machine(scale=1.0, n_hidden=4):
    return hm.rbm(hm.Bernoulli(5), hm.Bernoulli(n_hidden), key=hm.key(3), scale=scale)


def test_log_likelihood_is_that_of_an_enumeration():
    sight = _sight(_machine(), Exact(), HELD, volume=2.0)
    found = monitor.look(sight, ("log_likelihood",))
    error = found["log_partition_error"]
    assert 0 < error < 0.05
    for name, rows in (("log_likelihood", ROWS), ("validation_log_likelihood", HELD)):
        known = float(exact.log_probability(sight.model, (rows, None)).mean()) - 2.0
        assert abs(found[name] - known) < 5 * error  # normal: false alarms below 1e-6
    assert next(iter(found)) == "validation_log_likelihood"


def test_the_gap_of_free_energies_is_that_of_log_likelihoods():
    sight = _sight(_machine(), Exact(), HELD)
    learned, held = (float(exact.log_probability(sight.model, (rows, None)).mean()) for rows in (ROWS, HELD))
    assert monitor.look(sight, ("free_energy_gap",))["free_energy_gap"] == pytest.approx(learned - held, abs=1e-4)
    assert monitor.look(_sight(_machine(), Exact()), ("free_energy_gap",)) == {}


def test_the_norm_of_the_gradient_is_that_of_the_log_likelihood():
    machine = _machine()

    def mean(machine):
        return exact.log_probability(machine, (ROWS, None)).mean()

    slope = eqx.filter_grad(mean)(machine)
    known = np.sqrt(sum(float((leaf**2).sum()) for leaf in jax.tree.leaves(slope)))
    assert monitor.look(_sight(machine, Exact()), ("gradient_norm",))["gradient_norm"] == pytest.approx(known, rel=1e-3)


def test_idle_units_are_counted():
    """Two are on whatever the row, one is off, one never leaves a half; two tell rows apart."""
    weights = jnp.zeros((5, 6)).at[:, 4:].set(3.0)
    machine = hm.rbm(hm.Bernoulli(5), hm.Bernoulli([9.0, 9.0, -9.0, 0.0, -7.0, -7.0]), weights)
    found = monitor.look(_sight(machine, Exact()), ("hidden_activity",))
    assert found == {"dead_units": 2, "saturated_units": 2}
    assert all(isinstance(count, int) for count in found.values())
    free = hm.rbm(hm.Bernoulli(5), hm.Gaussian(3), jnp.zeros((5, 3)).at[:, 0].set(1.0))
    assert monitor.look(_sight(free, Persistent(4)), ("hidden_activity",)) == {"dead_units": 2, "saturated_units": 0}


def test_chains_without_couplings_remember_nothing_and_two_deep_wells_everything():
    """5,000 values each: the standard error of a correlation of nothing is 0.014."""
    names = ("chain_memory",)
    assert abs(monitor.look(_sight(_machine(0.0), Persistent(1000)), names)["chain_memory"]) < 0.07
    wells = hm.rbm(hm.Bernoulli(jnp.full(5, -15.0)), hm.Bernoulli(jnp.full(4, -15.0 * 5 / 4)), jnp.full((5, 4), 7.5))
    sight = _sight(wells, Persistent(200))
    ends = jnp.repeat(jnp.array([[0.0], [1.0]]), 100, axis=0)
    chains = (jnp.repeat(ends, 5, axis=1), jnp.repeat(ends, 4, axis=1))
    sight = eqx.tree_at(lambda s: s.state.objective[0], sight, chains)
    assert monitor.look(sight, names)["chain_memory"] > 0.95
    alike = eqx.tree_at(lambda s: s.state.objective[0], sight, tuple(jnp.zeros_like(x) for x in chains))
    assert monitor.look(alike, names)["chain_memory"] > 0.95  # all in one place
    assert monitor.look(_sight(_machine(), Exact()), names) == {}


def test_swaps_of_tempered_chains():
    """Neighbours without couplings are one machine at all temperatures and always swap; others do so less."""
    names = ("swap_rate", "chain_memory")
    known = monitor.look(_sight(_machine(0.0), Tempered(50, n_temperatures=4)), names)
    assert known == {"swap_rate": pytest.approx(1.0)}
    assert 0 < monitor.look(_sight(_machine(3.0), Tempered(50, n_temperatures=4)), names)["swap_rate"] < 0.95


def test_reconstruction_error():
    machine = _machine()
    hidden = jax.nn.sigmoid(machine.layers[1].bias[None] + ROWS @ machine.couplings[0].weights)
    back = jax.nn.sigmoid(machine.layers[0].bias[None] + hidden @ machine.couplings[0].weights.T)
    known = float(((ROWS - back) ** 2).sum(1).mean())
    found = monitor.look(_sight(machine, Exact()), ("reconstruction_error",))
    assert found["reconstruction_error"] == pytest.approx(known, rel=1e-4)


def test_who_looks_changes_nothing():
    X = np.asarray(ROWS)
    fits = [hm.RBM(3, n_updates=30, random_state=0, monitors=m, monitor_every=7).fit(X) for m in ("none", "all")]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    assert fits[0].history_ == {"step": [7, 14, 21, 28, 30], "epoch": pytest.approx([7, 14, 21, 28, 30])}
    assert {"log_likelihood", "gradient_norm", "chain_memory", "dead_units"} < set(fits[1].history_)


def test_monitors_are_chosen_by_name():
    X = np.asarray(ROWS)
    rbm = hm.RBM(3, n_updates=4, random_state=0, monitors=["gradient_norm"], validation_fraction=0.3).fit(X)
    assert set(rbm.history_) == {
        "step", "epoch", "gradient_norm", "log_likelihood", "validation_log_likelihood", "log_partition_error",
    }  # fmt: skip
    with pytest.raises(ArgumentError, match=r"monitors.*found \['energy'\].*'gradient_norm'"):
        hm.RBM(3, monitors=["energy"]).fit(X)
