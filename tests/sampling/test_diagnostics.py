"""Diagnostics of chains whose mixing is known."""

import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, PATTERN, two_modes

import harmonium as hm
from harmonium.sampling import diagnostics


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_an_autoregressive_chain_remembers_as_long_as_it_does(memory):
    """x' = ρx + noise has the autocorrelation time (1+ρ)/(1-ρ): within 15 %, some ten standard errors."""
    rng = np.random.default_rng(0)
    x = [rng.normal(size=20) / np.sqrt(1 - memory**2)]
    for _ in range(9_999):
        x.append(memory * x[-1] + rng.normal(size=20))
    found = diagnostics.mixing(np.stack(x, axis=1))
    assert found.time == pytest.approx((1 + memory) / (1 - memory), rel=0.15)
    assert found.ess == pytest.approx(200_000 / found.time)
    assert found.r_hat < 1.01


def test_chains_that_disagree_are_seen():
    x = np.random.default_rng(0).normal(size=(4, 500))
    x[0] += 2
    assert diagnostics.mixing(x).r_hat > 1.2


def test_what_never_changes_says_nothing():
    assert all(np.isnan(diagnostics.mixing(np.ones((3, 10)))))
    with pytest.raises(hm.ArgumentError, match=r"draws: found shape \(3,\)"):
        diagnostics.mixing(np.ones(3))


def test_chains_of_two_modes_disagree_along_the_direction_between_them():
    """Gibbs chains stay where they started, chains of replica exchange do not."""
    machine = two_modes()
    stuck = diagnostics.diagnose(machine, hm.sample(machine, hm.key(0), 10, 100))
    assert list(stuck) == ["free energy", "direction 1"]  # the couplings have one direction
    assert stuck["direction 1"].r_hat > 2
    found = hm.exchanged(machine, hm.key(0), hm.temperatures(machine, 6), 10, 200, warm_up=120)
    free = diagnostics.diagnose(machine, found.draws)
    assert free["direction 1"].r_hat < 1.2
    assert free["direction 1"].ess > 10 * stuck["direction 1"].ess


@pytest.mark.parametrize("graph", [GRAPHS[name] for name in ("torus", "table", "deep")])
def test_what_is_observed(graph):
    machine = graph()
    draws = hm.sample(machine, hm.key(0), 3, 5)
    found = diagnostics.observed(machine, draws, 2)
    summed = machine.summable()
    rows = tuple(None if i in summed else x[1, 2][None] for i, x in enumerate(draws))
    assert found["free energy" if summed else "energy"][1, 2] == pytest.approx(float(machine.free_energy(rows)[0]))
    assert all(values.shape == (3, 5) for values in found.values())


def test_the_first_direction_is_that_of_the_couplings():
    draws = hm.sample(two_modes(), hm.key(0), 3, 5)
    found = diagnostics.observed(two_modes(), draws)["direction 1"]
    np.testing.assert_allclose(jnp.abs(found), jnp.abs(draws[0] @ PATTERN) / np.sqrt(10), rtol=1e-5)
