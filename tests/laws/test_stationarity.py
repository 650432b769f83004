"""Every sampler leaves its distribution invariant, on every pair of units and every graph.

`make test`: a drift of 0.02 in total variation is caught with probability 0.99. `make prove`: 0.003.
The false-alarm rate over all tests here together is below 1e-6 (a Bonferroni bound over 3 sweep counts each).
"""

import jax.numpy as jnp
import pytest
from catalogue import GRAPHS, PAIRS, pair, pairs
from stationarity import check, check_exact_draws, draws_needed

import harmonium as hm
from harmonium.units import UNITS

FAMILY = 1e-6 / (2 * 3 * 2 * (len(PAIRS) + 2 * len(GRAPHS)))  # of 504 comparisons here, counted as 756
CHEAP, FULL = 0.02, 0.003
strengths = pytest.mark.parametrize("drift", [CHEAP, pytest.param(FULL, marks=pytest.mark.prove)])


@pairs(CHEAP)
def test_gibbs_on_a_pair(units, case):
    check(pair(*units, sizes=(2, 2), scale=0.7), drift=case, false_alarm=FAMILY)


@pytest.mark.prove
@pytest.mark.parametrize("units", PAIRS, ids=lambda units: "-".join(u.__name__ for u in units))
def test_gibbs_on_a_pair_at_full_power(units):
    check(pair(*units, sizes=(2, 2), scale=0.7), drift=FULL, false_alarm=FAMILY)


@strengths
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_gibbs_on_a_graph(graph, drift):
    check(graph(), drift=drift, false_alarm=FAMILY, most_cells=96)


@strengths
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_clamped_gibbs_on_a_graph(graph, drift):
    machine = graph()
    check(machine, drift=drift, false_alarm=FAMILY, most_cells=96, clamp_like=_ends(machine))


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_clamped_chains_started_anywhere_arrive_at_the_conditional(graph):
    machine = graph()
    clamp = _ends(machine)
    check(machine, drift=CHEAP, false_alarm=FAMILY, most_cells=96, clamp_like=clamp, anywhere=True, sweeps=(64,))


def _ends(machine):
    """Half the rows hold the first unit of every layer, the other half the last: a different mask for each row."""

    def clamp(n):
        rows = jnp.arange(n)[:, None] % 2 == 0
        masks = []
        for unit in machine.layers:
            place = jnp.arange(unit.n)[None]
            masks.append(jnp.where(rows, place == 0, place == unit.n - 1))
        return tuple(masks)

    return clamp


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_chains_started_anywhere_arrive_on_a_graph(graph):
    check(graph(), drift=CHEAP, false_alarm=FAMILY, most_cells=96, anywhere=True, sweeps=(64,))


@pytest.mark.parametrize("units", [(unit, hm.Bernoulli) for unit in UNITS], ids=lambda units: units[0].__name__)
def test_chains_started_anywhere_arrive_on_a_pair(units):
    """16 sweeps of these weakly coupled pairs leave less than 0.001 of the start."""
    machine = pair(*units, sizes=(2, 2), scale=0.4)
    check(machine, drift=CHEAP, false_alarm=FAMILY, anywhere=True, sweeps=(16,))


@pairs()
def test_exact_draws_are_exact_on_a_pair(units):
    check_exact_draws(pair(*units, sizes=(2, 2), scale=0.7), batches=2, false_alarm=FAMILY)


@pytest.mark.prove
@pytest.mark.parametrize("units", PAIRS, ids=lambda units: "-".join(u.__name__ for u in units))
def test_exact_draws_are_exact_on_a_pair_at_full_power(units):
    check_exact_draws(pair(*units, sizes=(2, 2), scale=0.7), batches=103, false_alarm=FAMILY)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_exact_draws_are_exact_on_a_graph(graph):
    check_exact_draws(graph(), batches=2, false_alarm=FAMILY)


def test_power_is_as_stated():
    """About 2.7 million draws catch a drift of 0.003 over 32 cells, as planned."""
    assert 2.4e6 < draws_needed(32, FULL, 1e-6) < 3.0e6


def test_a_drifting_sampler_is_caught():
    """The test can fail: chains at a slightly wrong temperature are not at home."""
    from harmonium.sampling import gibbs

    def warm(key, machine, state, clamp):
        return gibbs.step(key, machine, state, clamp, beta=0.9)

    with pytest.raises(AssertionError, match="drift after"):
        check(pair(hm.Bernoulli, hm.Bernoulli, (2, 2)), drift=CHEAP, false_alarm=FAMILY, kernel=warm)
